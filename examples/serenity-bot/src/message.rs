//! Serenity's messages as the library sees them.

use std::sync::Arc;

use dirigent::ports::{
    Attachment, AuthorKind, ChatKind, Embed, EmbedAuthor, EmbedField, Quoted, Shown,
};
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
        quoted: quoted(message).map(Box::new),
        shown: shown(message, author_kind),
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

/// The message that this one answers or forwards, or from which its thread was made, as Discord shows it.
fn quoted(message: &discord::Message) -> Option<Quoted> {
    if let Some(forwarded) = message.message_snapshots.first() {
        let files = forwarded.attachments.iter().map(attachment).collect();
        let stickers = forwarded.sticker_items.iter().map(|sticker| Shown::sticker(&sticker.name));
        let embeds = forwarded.embeds.iter().map(|embed| Shown::embed(&embed_of(embed)));
        return Some(
            Quoted::forwarded(&forwarded.content).with(files, embeds.chain(stickers).collect()),
        );
    }
    let other = message.referenced_message.as_deref()?;
    let (author, name) =
        (UserId::new(other.author.id.get()), Some(other.author.display_name().into()));
    if message.kind == discord::MessageType::InlineReply {
        let kind = if other.author.bot { AuthorKind::Bot } else { AuthorKind::Human };
        Some(Quoted::answered(author, name, &other.content).by(kind))
    } else if message.kind == discord::MessageType::ThreadStarterMessage {
        Some(Quoted::starter(author, name, &other.content))
    } else {
        None
    }
}

/// Stickers, polls, and what embeds of bots say; a person's embeds are pictures of links.
fn shown(message: &discord::Message, author: AuthorKind) -> Vec<Shown> {
    let is_bot = author != AuthorKind::Human;
    let embeds =
        message.embeds.iter().filter(|_| is_bot).map(|embed| Shown::embed(&embed_of(embed)));
    let stickers = message.sticker_items.iter().map(|sticker| Shown::sticker(&sticker.name));
    let poll = message.poll.iter().map(|poll| {
        let answers = poll.answers.iter().filter_map(|answer| answer.poll_media.text.as_deref());
        Shown::poll(poll.question.text.as_deref().unwrap_or_default(), answers)
    });
    embeds.chain(stickers).chain(poll).collect()
}

fn embed_of(embed: &discord::Embed) -> Embed {
    let fields = embed.fields.iter();
    let field = |field: &discord::EmbedField| EmbedField {
        name: field.name.clone(),
        value: field.value.clone(),
        inline: field.inline,
    };
    Embed {
        title: embed.title.clone(),
        description: embed.description.clone(),
        author: embed.author.as_ref().map(|author| EmbedAuthor::new(&*author.name)),
        fields: fields.map(field).collect(),
        ..Embed::new()
    }
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
