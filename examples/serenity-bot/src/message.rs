//! Serenity's messages as the library sees them.

use std::sync::Arc;

use dirigent::ports::{Attachment, AuthorKind, ChatKind};
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
        author_kind,
        kind,
        nonce: match &message.nonce {
            Some(discord::Nonce::String(nonce)) => nonce.parse().ok(),
            Some(discord::Nonce::Number(nonce)) => nonce.to_string().parse().ok(),
            None => None,
        },
        author_name: Some(message.author.display_name().into()),
        reply_to: answered(message).map(|id| MessageId::new(id.get())),
        attachments: message.attachments.iter().map(attachment).collect(),
        embeds: u8::try_from(message.embeds.len()).unwrap_or(u8::MAX),
        ..ChatMessage::new(
            MessageId::new(message.id.get()),
            ChannelId::new(message.channel_id.get()),
            UserId::new(message.author.id.get()),
            message.content.as_str(),
        )
    }
}

/// The message that this one answers.
fn answered(message: &discord::Message) -> Option<discord::MessageId> {
    let is_reply = message.kind == discord::MessageType::InlineReply;
    message.message_reference.as_ref().filter(|_| is_reply)?.message_id
}

/// A file attached to a message.
pub(crate) fn attachment(file: &discord::Attachment) -> Attachment {
    Attachment {
        content_type: file.content_type.as_deref().map(Arc::from),
        description: file.description.as_deref().map(Arc::from),
        ..Attachment::new(file.filename.as_str(), file.url.as_str(), file.size.into())
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
