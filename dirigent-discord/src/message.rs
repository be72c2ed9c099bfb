//! Discord's messages as the library sees them.

use std::sync::Arc;

use dirigent::ports::{Attachment, AuthorKind, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use twilight_model::channel::message::MessageType;
use twilight_model::channel::{self as discord, Message};
use twilight_model::id::Id;

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
    let answered = message.reference.as_ref().and_then(|reference| reference.message_id);
    let nick = message.member.as_ref().and_then(|member| member.nick.as_deref());
    let name = nick.or(message.author.global_name.as_deref()).unwrap_or(&message.author.name);
    let attached = |file: &discord::Attachment| Attachment {
        content_type: file.content_type.as_deref().map(Arc::from),
        description: file.description.as_deref().map(Arc::from),
        ..Attachment::new(file.filename.as_str(), file.url.as_str(), file.size)
    };
    ChatMessage {
        author_name: Some(name.into()),
        author_kind: traits.author_kind(),
        kind: traits.chat_kind(),
        reply_to: traits.answers(answered.map(Id::get)),
        attachments: message.attachments.iter().map(attached).collect(),
        embeds: u8::try_from(message.embeds.len()).unwrap_or(u8::MAX),
        ..ChatMessage::new(
            MessageId::new(message.id.get()),
            ChannelId::new(message.channel_id.get()),
            UserId::new(message.author.id.get()),
            message.content.as_str(),
        )
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
    let answered = message.reference.and_then(|reference| reference.message_id);
    let nick = message.member.and_then(|member| member.nick);
    let attached = |file: wire::Attachment| Attachment {
        content_type: file.content_type.map(Arc::from),
        description: file.description.map(Arc::from),
        ..Attachment::new(file.filename, file.url, file.size)
    };
    Some(ChatMessage {
        author_name: nick.or(author.global_name).or(author.username).map(Arc::from),
        author_kind: traits.author_kind(),
        kind: traits.chat_kind(),
        reply_to: traits.answers(answered.map(|id| id.0)),
        attachments: message.attachments.into_iter().flatten().map(attached).collect(),
        embeds: u8::try_from(message.embeds.unwrap_or_default().len()).unwrap_or(u8::MAX),
        nonce: message.nonce.and_then(wire::Nonce::ours),
        ..ChatMessage::new(
            MessageId::new(message.id.0),
            ChannelId::new(message.channel_id.0),
            author.id.user(),
            message.content?,
        )
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

    /// Which message it answers. Other kinds refer to messages, too: a pin, a thread's first one, a forwarded one.
    fn answers(&self, referred: Option<u64>) -> Option<MessageId> {
        let is_reply = self.kind == u8::from(MessageType::Reply);
        referred.filter(|_| is_reply).map(MessageId::new)
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

    fn message(kind: u8, attachments: &Value) -> Value {
        json!({
            "id": "3", "channel_id": "1", "type": kind, "content": "see there",
            "message_reference": {"type": 0, "message_id": "9", "channel_id": "1"},
            "member": {"nick": "Poe", "roles": [], "joined_at": null, "deaf": false, "mute": false, "flags": 0},
            "timestamp": "2025-06-15T15:06:40.000000+00:00", "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "embeds": [],
            "pinned": false, "attachments": attachments,
            "author": {"id": "2", "username": "p", "global_name": "P", "discriminator": "0", "avatar": null},
        })
    }

    /// The message as both ways of reading tell of it: they agree.
    fn read_both_ways(message: &Value) -> ChatMessage {
        let event: Message = serde_json::from_value(message.clone()).unwrap();
        let read: wire::Message = serde_json::from_value(message.clone()).unwrap();
        let read = read_message(read).unwrap();
        assert_eq!(chat_message(&event), read);
        read
    }

    #[test]
    fn attached_files_are_told_with_what_is_known_of_them() {
        let file = json!({
            "id": "4", "filename": "a.png", "size": 5, "url": "u", "proxy_url": "p",
            "content_type": "image/png", "description": "a table",
        });
        let read = read_both_ways(&message(0, &json!([file])));
        let told = Attachment {
            content_type: Some("image/png".into()),
            description: Some("a table".into()),
            ..Attachment::new("a.png", "u", 5)
        };
        assert_eq!(read.attachments, [told]);
        assert_eq!(read_both_ways(&message(0, &json!([]))).attachments, []);
    }

    #[test]
    fn embeds_are_counted() {
        let mut shown = message(0, &json!([]));
        assert_eq!(read_both_ways(&shown).embeds, 0);
        shown["embeds"] = json!([{ "type": "rich", "title": "t" }, { "type": "link" }]);
        assert_eq!(read_both_ways(&shown).embeds, 2);
    }

    #[test]
    fn the_name_is_the_nick_then_the_display_name_then_the_user_name() {
        let mut named = message(0, &json!([]));
        for (expected, gone) in [("Poe", "member"), ("P", "global_name"), ("p", "")] {
            assert_eq!(read_both_ways(&named).author_name.as_deref(), Some(expected));
            named.as_object_mut().unwrap().remove(gone);
            named["author"].as_object_mut().unwrap().remove(gone);
        }
    }

    #[test]
    fn only_a_reply_answers_the_message_that_it_refers_to() {
        assert_eq!(read_both_ways(&message(19, &json!([]))).reply_to, Some(MessageId::new(9)));
        assert_eq!(read_both_ways(&message(21, &json!([]))).reply_to, None);
        let sent = read_both_ways(&message(0, &json!([]))).sent_at;
        assert_eq!(sent.as_millis(), 1_420_070_400_000);
    }

    #[test]
    fn what_answers_a_command_is_a_notice_of_the_bot_and_no_webhooks_words() {
        let mut answer = message(20, &json!([]));
        answer["webhook_id"] = json!("2");
        answer["author"]["bot"] = json!(true);
        assert_eq!(read_both_ways(&answer).author_kind, AuthorKind::Webhook);
        answer["type"] = json!(0);
        answer["interaction_metadata"] = json!({
            "id": "5", "type": 2, "user": answer["author"], "authorizing_integration_owners": {},
        });
        let read = read_both_ways(&answer);
        assert_eq!((read.author_kind, read.kind), (AuthorKind::Bot, ChatKind::System));
    }
}
