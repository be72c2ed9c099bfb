//! Events of the gateway, as they are written.

use dirigent::ports::{Attachment, AuthorKind, ChatKind, GatewayEvent, Nonce, Timestamp};
use dirigent::{ChannelId, ChatMessage, UserId};
use dirigent_relay::RelayQuestion;
use dirigent_relay::rules::MessageText;
use serde::{Deserialize, Serialize};

/// What was heard of channels for which the asked process acts, in order.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct HeardElsewhere {
    /// Whether anything may have been missed in any channel before it.
    pub(crate) missed: bool,
    pub(crate) events: Vec<WireEvent>,
}

/// Which of the events were not taken.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct NotOurs {
    /// The places of the events of channels for which the asked process does not act either.
    pub(crate) elsewhere: Vec<usize>,
}

impl RelayQuestion for HeardElsewhere {
    const RULE: &'static str = "gateway-events";
    type Answer = NotOurs;
}

/// One [`GatewayEvent`].
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum WireEvent {
    MessageCreated(WireMessage),
    MessageUpdated(WireMessage),
    MessageDeleted {
        channel: ChannelId,
        message: MessageText,
    },
    MemberJoined {
        channel: ChannelId,
        user: UserId,
    },
    MemberLeft {
        channel: ChannelId,
        user: UserId,
    },
    NewestMessage {
        channel: ChannelId,
        message: MessageText,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ChannelId>,
    },
    ThreadSeen {
        thread: ChannelId,
        parent: ChannelId,
    },
    ChannelDeleted {
        channel: ChannelId,
    },
}

/// A [`ChatMessage`]. `Debug` shows no text.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct WireMessage {
    id: MessageText,
    channel: ChannelId,
    author: UserId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    author_name: Option<String>,
    author_kind: WireAuthor,
    kind: WireKind,
    content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply_to: Option<MessageText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    attachments: Vec<WireAttachment>,
    #[serde(default)]
    embeds: u8,
    sent_at: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonce: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireAuthor {
    Human,
    Bot,
    Webhook,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireKind {
    Default,
    Reply,
    System,
}

#[derive(Clone, Serialize, Deserialize)]
struct WireAttachment {
    name: String,
    url: String,
    size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

impl From<&GatewayEvent> for WireEvent {
    fn from(event: &GatewayEvent) -> Self {
        match event {
            GatewayEvent::MessageCreated(message) => Self::MessageCreated(message.into()),
            GatewayEvent::MessageUpdated(message) => Self::MessageUpdated(message.into()),
            GatewayEvent::MessageDeleted { channel, message } => {
                Self::MessageDeleted { channel: *channel, message: MessageText(*message) }
            }
            GatewayEvent::MemberJoined { channel, user } => {
                Self::MemberJoined { channel: *channel, user: *user }
            }
            GatewayEvent::MemberLeft { channel, user } => {
                Self::MemberLeft { channel: *channel, user: *user }
            }
            GatewayEvent::NewestMessage { channel, message, parent } => {
                let (channel, message) = (*channel, MessageText(*message));
                Self::NewestMessage { channel, message, parent: *parent }
            }
            GatewayEvent::ThreadSeen { thread, parent } => {
                Self::ThreadSeen { thread: *thread, parent: *parent }
            }
            GatewayEvent::ChannelDeleted(channel) => Self::ChannelDeleted { channel: *channel },
        }
    }
}

impl From<WireEvent> for GatewayEvent {
    fn from(event: WireEvent) -> Self {
        match event {
            WireEvent::MessageCreated(message) => Self::MessageCreated(message.into()),
            WireEvent::MessageUpdated(message) => Self::MessageUpdated(message.into()),
            WireEvent::MessageDeleted { channel, message } => {
                Self::MessageDeleted { channel, message: message.0 }
            }
            WireEvent::MemberJoined { channel, user } => Self::MemberJoined { channel, user },
            WireEvent::MemberLeft { channel, user } => Self::MemberLeft { channel, user },
            WireEvent::NewestMessage { channel, message, parent } => {
                Self::NewestMessage { channel, message: message.0, parent }
            }
            WireEvent::ThreadSeen { thread, parent } => Self::ThreadSeen { thread, parent },
            WireEvent::ChannelDeleted { channel } => Self::ChannelDeleted(channel),
        }
    }
}

impl From<&ChatMessage> for WireMessage {
    fn from(message: &ChatMessage) -> Self {
        Self {
            id: MessageText(message.id),
            channel: message.channel,
            author: message.author,
            author_name: message.author_name.as_deref().map(str::to_owned),
            author_kind: match message.author_kind {
                AuthorKind::Human => WireAuthor::Human,
                AuthorKind::Bot => WireAuthor::Bot,
                // What a newer library may know is no agent and no person either.
                AuthorKind::Webhook | _ => WireAuthor::Webhook,
            },
            kind: match message.kind {
                ChatKind::Default => WireKind::Default,
                ChatKind::Reply => WireKind::Reply,
                // What a newer library may know is no talk either.
                ChatKind::System | _ => WireKind::System,
            },
            content: message.content.to_string(),
            reply_to: message.reply_to.map(MessageText),
            attachments: message.attachments.iter().map(WireAttachment::from).collect(),
            embeds: message.embeds,
            sent_at: message.sent_at.as_millis(),
            nonce: message.nonce.map(|nonce| nonce.as_str().to_owned()),
        }
    }
}

impl From<WireMessage> for ChatMessage {
    fn from(wire: WireMessage) -> Self {
        Self {
            id: wire.id.0,
            channel: wire.channel,
            author: wire.author,
            author_name: wire.author_name.map(Into::into),
            author_kind: match wire.author_kind {
                WireAuthor::Human => AuthorKind::Human,
                WireAuthor::Bot => AuthorKind::Bot,
                WireAuthor::Webhook => AuthorKind::Webhook,
            },
            kind: match wire.kind {
                WireKind::Default => ChatKind::Default,
                WireKind::Reply => ChatKind::Reply,
                WireKind::System => ChatKind::System,
            },
            content: wire.content.into(),
            reply_to: wire.reply_to.map(|id| id.0),
            attachments: wire.attachments.into_iter().map(Attachment::from).collect(),
            embeds: wire.embeds,
            sent_at: Timestamp::from_millis(wire.sent_at),
            // A nonce of another form is not the library's.
            nonce: wire.nonce.and_then(|nonce| nonce.parse::<Nonce>().ok()),
        }
    }
}

impl From<&Attachment> for WireAttachment {
    fn from(file: &Attachment) -> Self {
        Self {
            name: file.name.to_string(),
            url: file.url.to_string(),
            size: file.size,
            content_type: file.content_type.as_deref().map(str::to_owned),
            description: file.description.as_deref().map(str::to_owned),
        }
    }
}

impl From<WireAttachment> for Attachment {
    fn from(wire: WireAttachment) -> Self {
        Self {
            content_type: wire.content_type.map(Into::into),
            description: wire.description.map(Into::into),
            ..Self::new(wire.name, wire.url, wire.size)
        }
    }
}

impl std::fmt::Debug for WireMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WireMessage").field("id", &self.id).finish_non_exhaustive()
    }
}
