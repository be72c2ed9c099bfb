//! Reads the long pastes of people, which the chat turns into files.
//!
//! If a person types more than 2,000 characters, Discord's client makes a file of it: `message.txt`, in a message
//! without words. That file is the text of the person, so the library reads it for agents, and it reads no other file.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent_core::MessageId;
use futures_util::FutureExt;

use super::host_code::within;
use crate::values::message::Attachment;
use crate::values::sync::locked;
use crate::{ChatMessage, Clock, DiscordApi};

/// The name that Discord's client gives the file.
const NAME: &str = "message.txt";
const BYTES_MAX: usize = 32 << 10;
/// The most pastes that are read for one turn or transcript. The newest are read.
const READ_MAX: usize = 8;
/// The most pastes that stay in memory, which is 1 MiB.
const KEPT_MAX: usize = 32;
const CUT: &str = "\n(The rest of this file is left out.)";

/// Reads pastes. Each is read once while it is among the newest of this process.
pub(crate) struct Pastes {
    discord: Arc<dyn DiscordApi>,
    clock: Arc<dyn Clock>,
    /// The time limit of all reads for one turn or transcript.
    limit: Duration,
    /// The pastes by message, the newest last. `None` if the file is no text, or is gone.
    kept: Mutex<VecDeque<(MessageId, Option<Arc<str>>)>>,
}

impl Pastes {
    pub(crate) fn new(
        discord: Arc<dyn DiscordApi>,
        clock: Arc<dyn Clock>,
        limit: Duration,
    ) -> Self {
        Self { discord, clock, limit, kept: Mutex::default() }
    }

    /// Returns whether any of these messages is a paste that was not read.
    pub(crate) fn are_among(messages: &[Arc<ChatMessage>]) -> bool {
        messages.iter().any(|message| paste(message).is_some())
    }

    /// Writes the texts of pastes into these messages, oldest first. Files that cannot be read stay files.
    pub(crate) async fn read_into(&self, messages: &mut [Arc<ChatMessage>]) {
        if Self::are_among(messages) {
            self.read_all(messages).boxed().await;
        }
    }

    async fn read_all(&self, messages: &mut [Arc<ChatMessage>]) {
        let pastes = messages.iter_mut().rev().filter(|message| paste(message).is_some());
        // While the file host hangs, a turn waits for all files as long as for one.
        let ends = self.clock.now() + self.limit;
        for message in pastes.take(READ_MAX) {
            let Some(text) = self.read(message, ends.since(self.clock.now())).await else {
                // The file stays a file in the prompt, so its agent still knows that there is one.
                continue;
            };
            if let [file] = Arc::make_mut(message).attachments.as_mut_slice() {
                file.text = Some(text);
            }
        }
    }

    async fn read(&self, message: &ChatMessage, limit: Duration) -> Option<Arc<str>> {
        // Each is read once, because the same messages reach several agents and transcripts.
        let known = locked(&self.kept)
            .iter()
            .find(|(id, _)| *id == message.id)
            .map(|(_, text)| text.clone());
        if let Some(text) = known {
            return text;
        }
        let file = paste(message)?;
        let reading = self.discord.file(file.clone(), BYTES_MAX);
        let text = match within(&*self.clock, limit, reading).await.and_then(|read| read) {
            Ok(bytes) => text_of(bytes, file.size),
            // It is tried again with the next turn.
            Err(error) if error.kind().is_retryable() => return None,
            Err(error) => {
                tracing::info!(channel = %message.channel, %error, "a long message cannot be read");
                None
            }
        };
        // A file that is no text, or gone, is remembered as such and not asked for again.
        let mut kept = locked(&self.kept);
        if kept.len() >= KEPT_MAX {
            kept.pop_front();
        }
        kept.push_back((message.id, text.clone()));
        text
    }
}

/// Returns the file, if it is everything that a person wrote.
fn paste(message: &ChatMessage) -> Option<&Attachment> {
    // Most messages have no file, so they are done here.
    let [file] = message.attachments.as_slice() else {
        return None;
    };
    let is_all = message.is_by_person() && message.content.trim().is_empty();
    Some(file).filter(|file| is_all && &*file.name == NAME && file.text.is_none())
}

/// Returns the text of the file, if it is text. `size` is that of the whole file.
fn text_of(mut bytes: Vec<u8>, size: u64) -> Option<Arc<str>> {
    bytes.truncate(BYTES_MAX);
    let is_cut = usize::try_from(size).map_or(true, |size| size > bytes.len());
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        // The cut is in the middle of a character.
        Err(error) if is_cut && error.error_len().is_none() => {
            std::str::from_utf8(bytes.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let text = text.trim_start_matches('\u{feff}');
    Some(if is_cut { [text, CUT].concat().into() } else { text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paste_is_cut_at_a_character_and_says_so() {
        let long = "ä".repeat(20_000);
        let text = text_of(long.clone().into_bytes(), 40_000).unwrap();
        assert!(text.ends_with(CUT) && text.len() <= BYTES_MAX + CUT.len());
        assert_eq!(text_of(b"a\xffb".to_vec(), 3), None);
        assert_eq!(text_of(b"a\xc3".to_vec(), 2), None, "it ends within a character by itself");
        assert_eq!(text_of(b"\xef\xbb\xbfhi".to_vec(), 5).as_deref(), Some("hi"));
    }

    #[test]
    fn only_a_persons_message_of_that_file_alone_is_a_paste() {
        use crate::values::message::AuthorKind;
        use crate::{ChannelId, UserId};
        let file = |name: &str| Attachment::new(name, "https://cdn.discordapp.com/a", 3);
        let said = |content: &str, files: Vec<Attachment>| ChatMessage {
            attachments: files,
            ..ChatMessage::new(MessageId::new(1), ChannelId::new(1), UserId::new(1), content)
        };
        let whole = said("", vec![file("message.txt")]);
        assert!(paste(&whole).is_some());
        for other in [
            said("look", vec![file("message.txt")]),
            said("", vec![file("message.txt"), file("b.png")]),
            said("", vec![file("Message.txt")]),
            said("", vec![file("notes.txt")]),
            ChatMessage { author_kind: AuthorKind::Bot, ..whole.clone() },
            ChatMessage { author_kind: AuthorKind::Webhook, ..whole.clone() },
        ] {
            assert!(paste(&other).is_none());
        }
    }
}
