//! Writes the messages of a request as JSON. A prompt has some ten thousand letters, and nearly all of them need no
//! escape. They are copied in long runs, which is fast.

use crate::message::ModelMessage;

/// Writes messages exactly as their `Serialize` does.
pub(crate) fn of_messages(messages: &[ModelMessage<'_>]) -> serde_json::Result<Vec<u8>> {
    let texts: usize = messages.iter().map(|message| message.text().len()).sum();
    let images = messages.iter().flat_map(ModelMessage::images);
    let images: usize = images.map(|image| image.data.len()).sum();
    let mut json = Vec::with_capacity(texts + texts / 16 + images + 64 * messages.len());
    json.push(b'[');
    for message in messages {
        if json.len() > 1 {
            json.push(b',');
        }
        write(message, &mut json)?;
    }
    json.push(b']');
    Ok(json)
}

fn write(message: &ModelMessage<'_>, json: &mut Vec<u8>) -> serde_json::Result<()> {
    let (beginning, text) = match message {
        ModelMessage::System(text) => (r#"{"role":"system","content":""#, text),
        ModelMessage::User { text, images } if images.is_empty() => {
            (r#"{"role":"user","content":""#, text)
        }
        ModelMessage::Assistant { text, calls } if calls.is_empty() => {
            (r#"{"role":"assistant","content":""#, text)
        }
        ModelMessage::User { .. } | ModelMessage::Assistant { .. } | ModelMessage::Tool { .. } => {
            return serde_json::to_writer(json, message);
        }
    };
    json.extend_from_slice(beginning.as_bytes());
    write_text(text.as_bytes(), json);
    json.extend_from_slice(b"\"}");
    Ok(())
}

fn write_text(mut text: &[u8], json: &mut Vec<u8>) {
    loop {
        let (plain, rest) = text.split_at(plain(text));
        json.extend_from_slice(plain);
        let Some((special, rest)) = rest.split_first() else {
            return;
        };
        let short = match special {
            b'"' | b'\\' => *special,
            b'\n' => b'n',
            b'\r' => b'r',
            b'\t' => b't',
            0x08 => b'b',
            0x0c => b'f',
            _ => b'u',
        };
        json.extend_from_slice(&[b'\\', short]);
        if short == b'u' {
            json.extend_from_slice(format!("{special:04x}").as_bytes());
        }
        text = rest;
    }
}

/// Returns how many leading bytes need no escape in JSON.
fn plain(text: &[u8]) -> usize {
    // Whole blocks are checked without a branch for each byte.
    let is_special = |byte: &u8| *byte < b' ' || *byte == b'"' || *byte == b'\\';
    let has_special = |block: &[u8]| block.iter().fold(false, |any, byte| any | is_special(byte));
    let blocks = text.chunks_exact(32).take_while(|block| !has_special(block)).count() * 32;
    let rest = text.get(blocks..).unwrap_or_default();
    blocks + rest.iter().position(is_special).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::calls::ModelToolCall;
    use crate::message::Image;

    proptest! {
        #[test]
        fn messages_are_written_as_serde_writes_them(
            texts in prop::collection::vec("[ -~]{0,70}|\\PC{0,40}|[\\x00-\\x7f]{0,90}", 0..5),
        ) {
            let mut messages = Vec::new();
            for text in &texts {
                let call = ModelToolCall::new(text.as_str(), "roll", Some(json!({ "sides": text })));
                messages.extend([
                    ModelMessage::system(text.as_str()),
                    ModelMessage::user(text.as_str()),
                    ModelMessage::assistant(text.as_str()),
                    ModelMessage::User {
                        text: text.into(),
                        images: vec![Image::new("image/png", "AAAA")].into(),
                    },
                    ModelMessage::Assistant { text: text.into(), calls: vec![call].into() },
                    ModelMessage::Tool { call: text.into(), text: text.into() },
                ]);
            }
            let written = String::from_utf8(of_messages(&messages).unwrap()).unwrap();
            prop_assert_eq!(written, serde_json::to_string(&messages).unwrap());
        }
    }
}
