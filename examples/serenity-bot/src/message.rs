//! Serenity's messages as the library sees them.

use dirigent::{AuthorKind, ChannelId, ChatKind, ChatMessage, MessageId, UserId};
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
    let kind = match message.kind {
        _ if answers_command || message.author.system => ChatKind::System,
        discord::MessageType::Regular => ChatKind::Default,
        discord::MessageType::InlineReply => ChatKind::Reply,
        // Joins, pins, boosts, new threads: no talk.
        _ => ChatKind::System,
    };
    ChatMessage {
        id: MessageId::new(message.id.get()),
        channel: ChannelId::new(message.channel_id.get()),
        author: UserId::new(message.author.id.get()),
        author_kind,
        kind,
        content: message.content.clone(),
        nonce: match &message.nonce {
            Some(discord::Nonce::String(nonce)) => Some(nonce.clone()),
            Some(discord::Nonce::Number(nonce)) => Some(nonce.to_string()),
            None => None,
        },
    }
}
