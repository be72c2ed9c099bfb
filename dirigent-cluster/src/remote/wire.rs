//! Replies, posts and errors of the chat, as they are written.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{
    AllowedMentions, ApiError, BadNonce, Certainty, Embed, EmbedAuthor, EmbedField, EmbedFooter,
    ErrorKind, Extras, Mentions, Post, RoleId, Timestamp,
};
use dirigent::{ChannelId, ChatMessage, Reply, UserId};
use dirigent_relay::RelayError;
use dirigent_relay::rules::MessageText;
use serde::{Deserialize, Serialize};

use crate::event::WireMessage;

/// What an agent answers.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireReply {
    /// Not where it passes.
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extras: Option<WireExtras>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireExtras {
    embeds: Vec<WireEmbed>,
    reply_to: Option<MessageText>,
    mentions: WireMentions,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMentions {
    users: Vec<UserId>,
    roles: Vec<RoleId>,
    everyone: bool,
    replied_user: bool,
}

/// An [`Embed`], field by field.
#[derive(Clone, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct WireEmbed {
    title: Option<String>,
    description: Option<String>,
    url: Option<String>,
    colour: Option<u32>,
    timestamp: Option<u64>,
    footer: Option<(String, Option<String>)>,
    image: Option<String>,
    thumbnail: Option<String>,
    author: Option<(String, Option<String>, Option<String>)>,
    fields: Vec<(String, String, bool)>,
}

impl Default for WireEmbed {
    fn default() -> Self {
        Self::from(&Embed::new())
    }
}

/// A [`Post`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WirePost {
    channel: ChannelId,
    content: String,
    nonce: String,
    mentions: WirePinged,
    reply_to: Option<MessageText>,
    embeds: Vec<WireEmbed>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WirePinged {
    None,
    User(UserId),
    Allowed(WireMentions),
}

/// An [`ApiError`]: its kind, what is certain, and when to ask again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireError {
    kind: WireKind,
    is_done_unknown: bool,
    retry_after_ms: Option<u64>,
    /// What caused it.
    source: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireKind {
    Gone,
    Forbidden,
    Unauthorized,
    RateLimited,
    Invalid,
    Unavailable,
    NoAnswer,
    Store,
    Unsupported,
}

impl From<Reply> for WireReply {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Say(text) => Self { text: Some(text), extras: None },
            Reply::Rich(text, extras) => {
                Self { text: Some(text), extras: Some(WireExtras::from(&*extras)) }
            }
            // What a newer library may know cannot be carried by this one.
            Reply::Pass | _ => Self { text: None, extras: None },
        }
    }
}

impl From<WireReply> for Reply {
    fn from(wire: WireReply) -> Self {
        match (wire.text, wire.extras) {
            (Some(text), Some(extras)) => Self::Rich(text, Box::new(extras.into())),
            (Some(text), None) => Self::Say(text),
            (None, _) => Self::Pass,
        }
    }
}

impl From<&Extras> for WireExtras {
    fn from(extras: &Extras) -> Self {
        Self {
            embeds: extras.embeds.iter().map(WireEmbed::from).collect(),
            reply_to: extras.reply_to.map(MessageText),
            mentions: WireMentions::from(&extras.mentions),
        }
    }
}

impl From<WireExtras> for Extras {
    fn from(wire: WireExtras) -> Self {
        Self {
            embeds: wire.embeds.into_iter().map(Embed::from).collect(),
            reply_to: wire.reply_to.map(|id| id.0),
            mentions: wire.mentions.into(),
        }
    }
}

impl From<&AllowedMentions> for WireMentions {
    fn from(mentions: &AllowedMentions) -> Self {
        Self {
            users: mentions.users.clone(),
            roles: mentions.roles.clone(),
            everyone: mentions.everyone,
            replied_user: mentions.replied_user,
        }
    }
}

impl From<WireMentions> for AllowedMentions {
    fn from(wire: WireMentions) -> Self {
        let WireMentions { users, roles, everyone, replied_user } = wire;
        Self { users, roles, everyone, replied_user }
    }
}

impl From<&Embed> for WireEmbed {
    fn from(embed: &Embed) -> Self {
        let embed = embed.clone();
        Self {
            title: embed.title,
            description: embed.description,
            url: embed.url,
            colour: embed.colour,
            timestamp: embed.timestamp.map(Timestamp::as_millis),
            footer: embed.footer.map(|footer| (footer.text, footer.icon_url)),
            image: embed.image,
            thumbnail: embed.thumbnail,
            author: embed.author.map(|author| (author.name, author.url, author.icon_url)),
            fields: embed
                .fields
                .into_iter()
                .map(|field| (field.name, field.value, field.inline))
                .collect(),
        }
    }
}

impl From<WireEmbed> for Embed {
    fn from(wire: WireEmbed) -> Self {
        Self {
            title: wire.title,
            description: wire.description,
            url: wire.url,
            colour: wire.colour,
            timestamp: wire.timestamp.map(Timestamp::from_millis),
            footer: wire.footer.map(|(text, icon_url)| EmbedFooter { text, icon_url }),
            image: wire.image,
            thumbnail: wire.thumbnail,
            author: wire.author.map(|(name, url, icon_url)| EmbedAuthor { name, url, icon_url }),
            fields: wire
                .fields
                .into_iter()
                .map(|(name, value, inline)| EmbedField { name, value, inline })
                .collect(),
        }
    }
}

impl From<&Post> for WirePost {
    fn from(post: &Post) -> Self {
        Self {
            channel: post.channel,
            content: post.content.to_string(),
            nonce: post.nonce.as_str().to_owned(),
            mentions: match &post.mentions {
                Mentions::User(user) => WirePinged::User(*user),
                Mentions::Allowed(allowed) => WirePinged::Allowed(WireMentions::from(&**allowed)),
                // What a newer library may know pings no account.
                Mentions::None | _ => WirePinged::None,
            },
            reply_to: post.reply_to.map(MessageText),
            embeds: post.embeds.iter().map(WireEmbed::from).collect(),
        }
    }
}

impl WirePost {
    pub(super) fn into_post(self) -> Result<Post, BadNonce> {
        let nonce = self.nonce.parse()?;
        let mentions = match self.mentions {
            WirePinged::None => Mentions::None,
            WirePinged::User(user) => Mentions::User(user),
            WirePinged::Allowed(allowed) => Mentions::Allowed(Arc::new(allowed.into())),
        };
        Ok(Post {
            mentions,
            reply_to: self.reply_to.map(|id| id.0),
            embeds: self.embeds.into_iter().map(Embed::from).collect(),
            ..Post::new(self.channel, self.content, nonce)
        })
    }
}

impl From<&ApiError> for WireError {
    fn from(error: &ApiError) -> Self {
        let kind = match error.kind() {
            ErrorKind::Gone => WireKind::Gone,
            ErrorKind::Forbidden => WireKind::Forbidden,
            ErrorKind::Unauthorized => WireKind::Unauthorized,
            ErrorKind::RateLimited => WireKind::RateLimited,
            ErrorKind::Invalid => WireKind::Invalid,
            ErrorKind::NoAnswer => WireKind::NoAnswer,
            ErrorKind::Store => WireKind::Store,
            ErrorKind::Unsupported => WireKind::Unsupported,
            ErrorKind::Unavailable | _ => WireKind::Unavailable,
        };
        let millis = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Self {
            kind,
            is_done_unknown: error.certainty() == Certainty::Unknown,
            retry_after_ms: error.retry_after().map(millis),
            source: std::error::Error::source(error).map(ToString::to_string),
        }
    }
}

impl From<WireError> for ApiError {
    fn from(wire: WireError) -> Self {
        let kind = match wire.kind {
            WireKind::Gone => ErrorKind::Gone,
            WireKind::Forbidden => ErrorKind::Forbidden,
            WireKind::Unauthorized => ErrorKind::Unauthorized,
            WireKind::RateLimited => ErrorKind::RateLimited,
            WireKind::Invalid => ErrorKind::Invalid,
            WireKind::Unavailable => ErrorKind::Unavailable,
            WireKind::NoAnswer => ErrorKind::NoAnswer,
            WireKind::Store => ErrorKind::Store,
            WireKind::Unsupported => ErrorKind::Unsupported,
        };
        let certainty = if wire.is_done_unknown { Certainty::Unknown } else { Certainty::NotDone };
        let error = Self::new(kind).with_certainty(certainty);
        let error = match wire.retry_after_ms {
            Some(wait) => error.with_retry_after(Duration::from_millis(wait)),
            None => error,
        };
        if let Some(source) = wire.source { error.with_source(source) } else { error }
    }
}

/// What may be concluded where a question about the chat has no answer.
pub(super) fn unanswered(error: RelayError) -> ApiError {
    let kind = if error.is_certain() { ErrorKind::Unavailable } else { ErrorKind::NoAnswer };
    let certainty = if error.is_certain() { Certainty::NotDone } else { Certainty::Unknown };
    ApiError::new(kind).with_certainty(certainty).with_source(error)
}

/// The newest of these messages, at most this number of bytes of them as they are written.
pub(super) fn newest_of<'m>(
    messages: impl DoubleEndedIterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
) -> Vec<WireMessage> {
    let mut newest = within(messages.rev(), bytes_max);
    newest.reverse();
    newest
}

/// The first of these messages, at most this number of bytes of them.
pub(super) fn within<'m>(
    messages: impl Iterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
) -> Vec<WireMessage> {
    fitting(messages, bytes_max, false)
}

/// The first of these messages, at most this number of bytes of them, but at least one: so that who asks for one part after
/// the other comes to an end.
pub(super) fn within_or_one<'m>(
    messages: impl Iterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
) -> Vec<WireMessage> {
    fitting(messages, bytes_max, true)
}

fn fitting<'m>(
    messages: impl Iterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
    is_one_taken: bool,
) -> Vec<WireMessage> {
    let (mut bytes, mut first) = (0, Vec::new());
    for message in messages {
        let wire = WireMessage::from(&**message);
        bytes += dirigent_relay::parts::write(&wire).len() + 1;
        let is_taken = bytes <= bytes_max || (is_one_taken && first.is_empty());
        if !is_taken {
            break;
        }
        first.push(wire);
    }
    first
}
