//! Serenity's messages as the library sees them.

use dirigent::ports::{AuthorKind, ChatKind};
use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
use serenity::all as discord;

/// A message, pushed or read.
pub fn chat_message(message: &discord::Message) -> ChatMessage {
    // The answer to a command carries its application's id as a webhook's, yet the bot wrote it.
    let answers_command = message.interaction_metadata.is_some();
    let author_kind = if message.webhook_id.is_some() && !answers_command {
        AuthorKind::Webhook
    } else if message.author.bot || message.webhook_id.is_some() {
        AuthorKind::Bot
    } else {
        AuthorKind::Human
    };
    let kind = if answers_command || message.author.system {
        ChatKind::System
    } else {
        chat_kind(message.kind)
    };
    ChatMessage {
        id: MessageId::new(message.id.get()),
        channel: ChannelId::new(message.channel_id.get()),
        author: UserId::new(message.author.id.get()),
        author_kind,
        kind,
        content: message.content.as_str().into(),
        has_attachments: !message.attachments.is_empty(),
        nonce: match &message.nonce {
            Some(discord::Nonce::String(nonce)) => Some(nonce.clone()),
            Some(discord::Nonce::Number(nonce)) => Some(nonce.to_string()),
            None => None,
        },
    }
}

/// Joins, pins, boosts, new threads and the like are no talk.
pub(crate) fn chat_kind(kind: discord::MessageType) -> ChatKind {
    if kind == discord::MessageType::Regular {
        ChatKind::Default
    } else if kind == discord::MessageType::InlineReply {
        ChatKind::Reply
    } else {
        ChatKind::System
    }
}
