//! Discord's messages as the library sees them.

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use twilight_model::channel::Message;
use twilight_model::channel::message::MessageType;

use crate::wire;

/// What a message of twilight says, for the library.
///
/// A message in a thread stands in the thread: its channel is the thread's id. Joins, pins, boosts and
/// the like are [`ChatKind::System`], and so is what answers a command, whichever account wrote it. The nonce is
/// missing, since twilight does not keep it; [`ShardFeed::text`](crate::ShardFeed::text) does.
///
/// ```no_run
/// # fn example(event: &twilight_model::gateway::payload::incoming::MessageCreate) {
/// let message = dirigent_discord::chat_message(event);
/// assert_eq!(message.id.get(), event.id.get());
/// # }
/// ```
pub fn chat_message(message: &Message) -> ChatMessage {
    let traits = Traits {
        is_webhook: message.webhook_id.is_some(),
        is_bot: message.author.bot,
        is_official: message.author.system.unwrap_or(false),
        answers_command: has_interaction(message),
        kind: u8::from(message.kind),
    };
    ChatMessage {
        id: MessageId::new(message.id.get()),
        channel: ChannelId::new(message.channel_id.get()),
        author: UserId::new(message.author.id.get()),
        author_kind: traits.author_kind(),
        kind: traits.chat_kind(),
        content: message.content.as_str().into(),
        has_attachments: !message.attachments.is_empty(),
        nonce: None,
    }
}

/// Older messages carry the older field only.
#[expect(deprecated, reason = "Discord still sends it")]
const fn has_interaction(message: &Message) -> bool {
    message.interaction_metadata.is_some() || message.interaction.is_some()
}

/// A message as it came over the wire; `None` without an author, which a partial update may lack.
pub(crate) fn read_message(message: wire::Message) -> Option<ChatMessage> {
    let author = message.author?;
    let traits = Traits {
        is_webhook: message.webhook_id.is_some(),
        is_bot: author.bot.unwrap_or(false),
        is_official: author.system.unwrap_or(false),
        answers_command: message.interaction_metadata.is_some() || message.interaction.is_some(),
        kind: message.kind?,
    };
    Some(ChatMessage {
        id: MessageId::new(message.id.0),
        channel: ChannelId::new(message.channel_id.0),
        author: author.id.user(),
        author_kind: traits.author_kind(),
        kind: traits.chat_kind(),
        content: message.content?.into(),
        has_attachments: message.attachments.is_some_and(|files| !files.is_empty()),
        nonce: message.nonce.and_then(wire::Nonce::into_text),
    })
}

/// What decides of which kind a message and its author are.
#[expect(clippy::struct_excessive_bools, reason = "they are independent facts of one message")]
struct Traits {
    is_webhook: bool,
    is_bot: bool,
    /// Written by Discord's own account.
    is_official: bool,
    answers_command: bool,
    kind: u8,
}

impl Traits {
    /// The answer to a command carries its application's id as a webhook's, yet the bot wrote it.
    const fn author_kind(&self) -> AuthorKind {
        if self.is_webhook && !self.answers_command {
            AuthorKind::Webhook
        } else if self.is_bot || self.is_webhook {
            AuthorKind::Bot
        } else {
            AuthorKind::Human
        }
    }

    fn chat_kind(&self) -> ChatKind {
        if self.answers_command || self.is_official {
            ChatKind::System
        } else if self.kind == u8::from(MessageType::Regular) {
            ChatKind::Default
        } else if self.kind == u8::from(MessageType::Reply) {
            ChatKind::Reply
        } else {
            ChatKind::System
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn message(attachments: &Value) -> Value {
        json!({
            "id": "3", "channel_id": "1", "type": 0, "content": "see there",
            "timestamp": "2025-06-15T15:06:40.000000+00:00", "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "embeds": [],
            "pinned": false, "attachments": attachments,
            "author": {"id": "2", "username": "p", "discriminator": "0", "avatar": null},
        })
    }

    #[test]
    fn attached_files_are_told_by_both_ways_of_reading() {
        let file = json!({"id": "4", "filename": "a.png", "size": 5, "url": "u", "proxy_url": "p"});
        for (attachments, expected) in [(json!([file]), true), (json!([]), false)] {
            let message = message(&attachments);
            let event: Message = serde_json::from_value(message.clone()).unwrap();
            assert_eq!(chat_message(&event).has_attachments, expected);
            let read: wire::Message = serde_json::from_value(message).unwrap();
            assert_eq!(read_message(read).unwrap().has_attachments, expected);
        }
    }
}
