//! The form of outputs.

use dirigent_scene::{Malformed, parse_output};
use proptest::prelude::*;

use crate::fixture::turn;

fn parts(output: &str) -> Option<(usize, String)> {
    let parsed = parse_output(output).ok()?;
    Some((format!("{:?}", parsed.thinking).len(), parsed.speech.as_str().to_owned()))
}

fn speech(output: &str) -> Option<String> {
    parts(output).map(|(_, speech)| speech)
}

/// R208, R209, C7
#[test]
fn speech_is_what_stands_between_the_tags_byte_for_byte() {
    for said in [
        "Hello.",
        "  a\n\n b\t c",
        "*[long pause]*",
        "<b>no</b> & \u{200b} \"x\"",
        "ü\u{301} 🎭",
        "",
    ] {
        assert_eq!(speech(&turn("Hm.", said)).as_deref(), Some(said.trim()));
    }
    assert_eq!(speech("<thinking></thinking><speech></speech>").as_deref(), Some(""));
    assert_eq!(
        speech("\n \u{3000}<thinking> </thinking>\r\n\t<speech> a </speech>\n").as_deref(),
        Some("a")
    );
}

/// R212, C7
#[test]
fn everything_else_is_malformed() {
    let cases = [
        ("", Malformed::NoThinking),
        ("Hello.", Malformed::NoThinking),
        ("<speech>a</speech>", Malformed::NoThinking),
        ("So: <thinking>a</thinking><speech>b</speech>", Malformed::NoThinking),
        ("<THINKING>a</THINKING><SPEECH>b</SPEECH>", Malformed::NoThinking),
        ("<thinking lang=\"en\">a</thinking><speech>b</speech>", Malformed::NoThinking),
        ("< thinking>a</thinking><speech>b</speech>", Malformed::NoThinking),
        ("\u{feff}<thinking>a</thinking><speech>b</speech>", Malformed::NoThinking),
        ("<thinking>a<speech>b</speech>", Malformed::ThinkingNotClosed),
        ("<thinking>a</thinking>", Malformed::NoSpeech),
        ("<thinking>a</thinking> and <speech>b</speech>", Malformed::NoSpeech),
        ("<thinking>a</thinking><thinking>a</thinking><speech>b</speech>", Malformed::NoSpeech),
        ("<thinking>a</thinking><speech>b", Malformed::SpeechNotClosed),
        ("<thinking>a</thinking><speech>b</speech> c", Malformed::TextAfter),
        ("<thinking>a</thinking><speech>b</speech><speech>c</speech>", Malformed::TextAfter),
        ("<thinking>a<thinking>b</thinking></thinking><speech>c</speech>", Malformed::TagInside),
        ("<thinking>a<speech>b</speech></thinking><speech>c</speech>", Malformed::TagInside),
        ("<thinking>a</thinking><speech>b<thinking>c</thinking></speech>", Malformed::TagInside),
        ("<thinking>a</thinking><speech>b <Thinking>c</Thinking></speech>", Malformed::TagInside),
        ("<thinking>a</thinking><speech>b < / THINKING x=1></speech>", Malformed::TagInside),
        ("<thinking>a</thinking><speech>b <speech</speech>", Malformed::TagInside),
    ];
    for (output, why) in cases {
        assert_eq!(parse_output(output), Err(why), "{output}");
    }
    assert!(speech("<thinking>a</thinking><speech>a <speechless> man</speech>").is_some());
}

/// R216, C7, SC3
#[test]
fn thinking_in_any_tag_is_not_spoken() {
    for said in [
        "Hello. <think>SECRET</think>",
        "Hello. <think>SECRET",
        "SECRET</think> Hello.",
        "<reflection>SECRET</reflection> Hello.",
        "Hello. <inner_monologue>SECRET</inner_monologue>",
        "Hello.\n<scratchpad>\nSECRET",
        "Hello. [THINK]SECRET[/THINK]",
        "Hello. &lt;think&gt;SECRET&lt;/think&gt;",
        "<|channel|>analysis<|message|>SECRET<|end|>",
        "`<think>SECRET</think>` Hello.",
    ] {
        assert_eq!(parse_output(&turn("Hm.", said)), Err(Malformed::ThinkingInside), "{said}");
        // Within the thinking it is thinking, whatever marks it.
        assert_eq!(speech(&turn(said, "Hello.")).as_deref(), Some("Hello."), "{said}");
    }
    for said in ["*[thinks]* I think so. <3", "<b>No.</b>", "[thinking] Well.", "A thought: 1 < 2."]
    {
        assert_eq!(speech(&turn("Hm.", said)).as_deref(), Some(said));
    }
}

/// R208, C7
#[test]
fn an_output_that_is_cut_at_any_byte_does_not_conform() {
    let whole = turn("Ich weiß. 🎭", "Grüß dich.\n\n*[lacht]* <3");
    for end in 0..whole.len() {
        let cut = String::from_utf8_lossy(&whole.as_bytes()[..end]).into_owned();
        assert!(parse_output(&cut).is_err(), "cut at {end}");
    }
    for start in 1..whole.len() {
        let cut = String::from_utf8_lossy(&whole.as_bytes()[start..]).into_owned();
        assert!(parse_output(&cut).is_err(), "cut before {start}");
    }
    for hole in 0..whole.len() {
        let mut bytes = whole.clone().into_bytes();
        bytes.remove(hole);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some(speech) = speech(&text) {
            assert!(
                !speech.contains("weiß") && !speech.contains('>'),
                "without byte {hole}: {speech}"
            );
        }
    }
}

/// Pieces of which hostile outputs are made.
fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    let piece = prop::sample::select(vec![
        "<thinking>",
        "</thinking>",
        "<speech>",
        "</speech>",
        "<Thinking>",
        "</ speech>",
        "<speech ",
        "<",
        ">",
        "/",
        "SECRET",
        "word",
        " ",
        "\n",
        "é",
        "think",
        "speech",
        "</think>",
        "\u{2028}",
    ]);
    prop::collection::vec(piece, 0..16)
}

proptest! {
    /// R209, R216, C7
    #[test]
    fn what_conforms_has_one_block_of_each_and_no_tag_in_its_speech(pieces in pieces()) {
        let output = pieces.concat();
        if let Ok(parsed) = parse_output(&output) {
            let speech = parsed.speech.as_str();
            for tag in ["<thinking>", "</thinking>", "<speech>", "</speech>"] {
                prop_assert_eq!(output.matches(tag).count(), 1);
                prop_assert!(!speech.to_lowercase().contains(tag));
            }
            let between = output.split_once("<speech>").unwrap().1.rsplit_once("</speech>").unwrap().0;
            prop_assert_eq!(between.trim(), speech);
            prop_assert_eq!(speech.trim(), speech);
        }
    }
}
