//! A chat message as it arrives, and the key that makes posting repeatable.

use std::fmt;
use std::str::FromStr;

use dirigent_core::MessageId;

use crate::{ChannelId, UserId};

/// A message of the channel, pushed or read. `Debug` shows no text.
///
/// ```
/// use dirigent::{AuthorKind, ChannelId, ChatKind, ChatMessage, MessageId, UserId};
///
/// let message = ChatMessage {
///     id: MessageId::new(3),
///     channel: ChannelId::new(1),
///     author: UserId::new(2),
///     author_kind: AuthorKind::Human,
///     kind: ChatKind::Default,
///     content: "a secret".to_owned(),
///     has_attachments: false,
///     nonce: None,
/// };
/// assert!(!format!("{message:?}").contains("secret"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that hosts and adapters build")]
pub struct ChatMessage {
    /// Its id.
    pub id: MessageId,
    /// Where it stands.
    pub channel: ChannelId,
    /// Whose account wrote it.
    pub author: UserId,
    /// What kind of account that is.
    pub author_kind: AuthorKind,
    /// What kind of message it is.
    pub kind: ChatKind,
    /// Its text; empty without the message-content intent.
    pub content: String,
    /// Whether files are attached to it: a picture is a reply, too.
    pub has_attachments: bool,
    /// The nonce it was posted with, where the chat tells.
    pub nonce: Option<String>,
}

impl fmt::Debug for ChatMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ChatMessage")
            .field("id", &self.id)
            .field("channel", &self.channel)
            .field("author", &self.author)
            .field("author_kind", &self.author_kind)
            .field("kind", &self.kind)
            .field("content", &format_args!("{} bytes", self.content.len()))
            .finish_non_exhaustive()
    }
}

/// What kind of account wrote a message.
///
/// ```
/// use dirigent::AuthorKind;
/// assert_ne!(AuthorKind::Human, AuthorKind::Webhook);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthorKind {
    /// A person's account.
    Human,
    /// A bot's account; the registry says whether it is an agent.
    Bot,
    /// A webhook: never an agent, whatever name it carries.
    Webhook,
}

/// What kind of message it is.
///
/// ```
/// use dirigent::ChatKind;
/// assert_ne!(ChatKind::Default, ChatKind::System);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChatKind {
    /// Something said.
    Default,
    /// Something said in answer to a message.
    Reply,
    /// A join, a pin, a boost, a new thread, a command's answer, or anything else that is no talk.
    System,
}

/// A key of at most 25 characters that is given with a post, so that the same post repeated makes
/// one message.
///
/// ```
/// use dirigent::Nonce;
///
/// let nonce = Nonce::from_parts(123456789012345678, 1_700_000_000_000, 42);
/// assert_eq!(nonce, Nonce::from_parts(123456789012345678, 1_700_000_000_000, 42));
/// assert_ne!(nonce, Nonce::from_parts(123456789012345678, 1_700_000_000_000, 43));
/// assert_ne!(nonce, Nonce::from_parts(123456789012345678, 1_700_000_000_000, 42 | 1 << 35));
/// assert!(nonce.as_str().len() <= 25);
/// assert_eq!(nonce.as_str().parse(), Ok(nonce));
/// assert!("".parse::<Nonce>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(String);

impl Nonce {
    /// The longest nonce that Discord takes.
    pub const MAX: usize = 25;

    /// Derives a nonce from the channel, the moment the post was decided, and its number within the
    /// channel's life. Equal parts give equal nonces in every process.
    pub fn from_parts(channel: u64, at_millis: u64, number: u64) -> Self {
        // 48 bits of time and 36 bits of number are kept whole; the channel is folded to 40 bits.
        let time = at_millis & 0xffff_ffff_ffff;
        let place = (channel ^ (channel >> 24)) & 0xff_ffff_ffff;
        let count = number & 0xf_ffff_ffff;
        let mut text = String::with_capacity(Self::MAX);
        push_base36(&mut text, place, 8);
        push_base36(&mut text, time, 10);
        push_base36(&mut text, count, 7);
        Self(text)
    }

    /// The nonce's characters: digits and lower-case letters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text is no nonce: 1 to 25 digits and lower-case letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a nonce: expected 1 to 25 digits and lower-case letters")]
#[non_exhaustive]
pub struct BadNonce;

impl FromStr for Nonce {
    type Err = BadNonce;

    /// Takes back what [`Nonce::as_str`] gave, for stores.
    fn from_str(text: &str) -> Result<Self, BadNonce> {
        let is_whole = text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        if is_whole && (1..=Self::MAX).contains(&text.len()) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BadNonce)
        }
    }
}

/// Appends `value` in exactly `width` base-36 digits.
fn push_base36(text: &mut String, value: u64, width: u32) {
    for place in (0..width).rev() {
        let digit = (value / 36_u64.pow(place)) % 36;
        text.push(char::from_digit(u32::try_from(digit).unwrap_or(0), 36).unwrap_or('0'));
    }
}
