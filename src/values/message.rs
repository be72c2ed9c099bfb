//! A chat message as it arrives, and the nonce that makes a post repeatable.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};
use serde::{Deserialize, Serialize};

use super::lines::line;
use super::shown::{Quoted, QuotedAs, Shown};
use crate::{ChannelId, UserId};

/// A message of the channel, pushed or read. Its `Debug` output contains no text.
///
/// [`content`](Self::content) is the text that its author typed. Only this text can contain stop words, mentions and
/// commands. People also see [`quoted`](Self::quoted), [`attachments`](Self::attachments) and [`shown`](Self::shown).
/// Agents get these, too, but they have no other effect.
///
/// ```
/// use dirigent::ports::{AuthorKind, ChatKind};
/// use dirigent::{ChannelId, ChatMessage, MessageId, UserId};
///
/// let message = ChatMessage {
///     author_name: Some("alice".into()),
///     ..ChatMessage::new(MessageId::new(3), ChannelId::new(1), UserId::new(2), "a secret")
/// };
/// assert_eq!((message.author_kind, message.kind), (AuthorKind::Human, ChatKind::Default));
/// assert_eq!(message.to_string(), "alice: a secret");
/// assert!(!format!("{message:?}").contains("secret"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "plain data that hosts and adapters build")]
pub struct ChatMessage {
    /// The id of the message.
    #[serde(with = "crate::written")]
    pub id: MessageId,
    /// The channel of the message.
    pub channel: ChannelId,
    /// The account that wrote it.
    pub author: UserId,
    /// The author's name for people. For an agent it is the name in the registry. `None` if the chat does not tell it.
    /// Do not trust the name, because an account's owner can choose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<Arc<str>>,
    /// The kind of account that wrote it.
    pub author_kind: AuthorKind,
    /// The kind of message.
    pub kind: ChatKind,
    /// The text that its author typed. It is empty without the message-content intent.
    pub content: Arc<str>,
    /// The bots among the accounts that its words mention, as far as the chat tells. A message that mentions one is not
    /// talk between people.
    #[serde(default, skip_serializing_if = "<[UserId]>::is_empty")]
    pub mentioned_bots: Box<[UserId]>,
    /// The message that it answers, if any.
    #[serde(default, with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// Another message that it repeats: the one that it answers or forwards, or from which its thread was made. `None`
    /// if the chat does not show that message, for example because it was deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quoted: Option<Box<Quoted>>,
    /// The attached files. A picture alone is a reply, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The number of embeds. It is 0 without the message-content intent.
    #[serde(default)]
    pub embeds: u8,
    /// Other things that it shows: stickers, polls, and the texts of bots' embeds and components.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// The time when it was sent, in Unix milliseconds.
    #[serde(with = "crate::written")]
    pub sent_at: Timestamp,
    /// The nonce of the post, if the chat tells it and it has the form of a [`Nonce`]. Any other nonce is not from this
    /// library, and is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
}

impl ChatMessage {
    /// Creates a person's message with only this text. Its time comes from its id, read as a snowflake of Discord's. An
    /// adapter for another chat must set [`sent_at`](Self::sent_at).
    pub fn new(
        id: MessageId,
        channel: ChannelId,
        author: UserId,
        content: impl Into<Arc<str>>,
    ) -> Self {
        Self {
            id,
            channel,
            author,
            author_name: None,
            author_kind: AuthorKind::Human,
            kind: ChatKind::Default,
            content: content.into(),
            mentioned_bots: Box::default(),
            reply_to: None,
            quoted: None,
            attachments: Vec::new(),
            embeds: 0,
            shown: Vec::new(),
            sent_at: snowflake_time(id),
            nonce: None,
        }
    }
}

impl ChatMessage {
    /// Returns whether a person wrote it, and it is conversation and not a notice of Discord's.
    pub fn is_by_person(&self) -> bool {
        let is_person = matches!(self.author_kind, AuthorKind::Human | AuthorKind::Bridged);
        is_person && self.kind != ChatKind::System
    }

    /// Returns whether a person wrote it and no content is visible. Discord accepts no empty message, so it hides
    /// everything but the author from a bot that lacks the message-content intent.
    pub(crate) fn hides_all(&self) -> bool {
        let repeats = |quoted: &Quoted| quoted.kind != QuotedAs::Answered && quoted.is_visible();
        self.is_by_person()
            && self.content.trim().is_empty()
            && !self.shows_more()
            && !self.quoted.as_deref().is_some_and(repeats)
    }

    /// Returns whether it belongs into a transcript: conversation, and the message from which a thread was made.
    pub(crate) fn is_told(&self) -> bool {
        let is_starter = |quoted: &Quoted| quoted.kind == QuotedAs::Starter;
        self.kind != ChatKind::System || self.quoted.as_deref().is_some_and(is_starter)
    }

    /// Returns whether it has files, embeds or other things besides its words.
    pub(crate) fn shows_more(&self) -> bool {
        !self.attachments.is_empty() || self.embeds > 0 || !self.shown.is_empty()
    }
}

/// Writes the message as a line of a prompt, like [`Lines`](crate::ports::Lines) without any other known message:
/// `alice: hello [file: cat.png] [embed]`.
impl fmt::Display for ChatMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&line(self))
    }
}

/// A file that is attached to a message. Its `Debug` output contains neither its name nor its address, because the
/// address may open it.
///
/// ```
/// use dirigent::ports::Attachment;
///
/// let picture = Attachment { content_type: Some("image/png".into()), ..Attachment::new("cat.png", "https://example.org/1", 512) };
/// assert!(!format!("{picture:?}").contains("example.org"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "plain data that hosts and adapters build")]
pub struct Attachment {
    /// The name of the file.
    pub name: Arc<str>,
    /// The address of the file. Discord's addresses expire after about a day.
    pub url: Arc<str>,
    /// The size in bytes.
    pub size: u64,
    /// The media type, for example `image/png`, if the chat tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<Arc<str>>,
    /// The author's description of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Arc<str>>,
    /// The text of the file, if it was read. [`Turn`](crate::Turn::missed) says when it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<Arc<str>>,
}

impl Attachment {
    /// Creates a file with only a name, an address and a size.
    pub fn new(name: impl Into<Arc<str>>, url: impl Into<Arc<str>>, size: u64) -> Self {
        let (name, url) = (name.into(), url.into());
        Self { name, url, size, content_type: None, description: None, text: None }
    }
}

impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attachment")
            .field("size", &self.size)
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}

/// The first moment of snowflakes, which is the start of 2015, in Unix milliseconds.
pub(crate) const DISCORD_EPOCH: u64 = 1_420_070_400_000;
/// The bits of a snowflake below its time.
pub(crate) const TIME_SHIFT: u32 = 22;

/// Returns the time of a message whose id is one of Discord's. Use it in
/// [`DiscordApi::sent_at`](crate::DiscordApi::sent_at).
///
/// ```
/// use dirigent::{MessageId, ports::{Timestamp, snowflake_time}};
/// let first_of_2015 = Timestamp::from_millis(1_420_070_400_000);
/// assert_eq!(snowflake_time(MessageId::new(7)), first_of_2015);
/// ```
pub const fn snowflake_time(message: MessageId) -> Timestamp {
    Timestamp::from_millis((message.get() >> TIME_SHIFT) + DISCORD_EPOCH)
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

/// The kinds of accounts that write messages.
///
/// ```
/// use dirigent::ports::AuthorKind;
/// assert_ne!(AuthorKind::Human, AuthorKind::Webhook);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum AuthorKind {
    /// A person's account.
    Human,
    /// A person behind a webhook that the host lists as people, for example a bridge to another chat. In each channel
    /// such messages wake agents and reset ceilings at most 60 times an hour, so that a bridge that loops cannot keep
    /// agents busy. A stop word always works.
    Bridged,
    /// A bot's account. The registry says whether it is an agent.
    Bot,
    /// A webhook. It is never an agent, whatever its name is.
    Webhook,
}

/// The kinds of messages.
///
/// ```
/// use dirigent::ports::ChatKind;
/// assert_ne!(ChatKind::Default, ChatKind::System);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ChatKind {
    /// An ordinary message.
    Default,
    /// An answer to a message.
    Reply,
    /// A join, a pin, a boost, a new thread, a command's answer, or anything else that is not conversation.
    System,
}

/// A key of at most 25 characters that is sent with a post, so that the same post, sent twice, makes one message.
///
/// ```
/// use dirigent::ports::Nonce;
///
/// let nonce = Nonce::from_parts(123456789012345678, 1_700_000_000_000, 42);
/// assert_eq!(nonce, Nonce::from_parts(123456789012345678, 1_700_000_000_000, 42));
/// assert_ne!(nonce, Nonce::from_parts(123456789012345678, 1_700_000_000_000, 43));
/// assert_ne!(nonce, Nonce::from_parts(123456789012345678, 1_700_000_000_000, 42 | 1 << 35));
/// assert!(nonce.as_str().len() <= 25);
/// assert_eq!(nonce.as_str().parse(), Ok(nonce));
/// assert!("".parse::<Nonce>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Nonce {
    /// The characters in ASCII. The bytes behind the nonce are zero.
    characters: [u8; Nonce::MAX],
    length: u8,
}

impl Nonce {
    /// The longest nonce that Discord takes.
    pub const MAX: usize = 25;

    /// Creates a nonce from the channel, the moment when the post was decided, and its number within the channel's
    /// life. Equal parts give equal nonces in every process.
    pub fn from_parts(channel: u64, at_millis: u64, number: u64) -> Self {
        // The nonce keeps 48 bits of time and 36 bits of the number, and folds the channel to 40 bits.
        let time = at_millis & 0xffff_ffff_ffff;
        let place = (channel ^ (channel >> 24)) & 0xff_ffff_ffff;
        let count = number & 0xf_ffff_ffff;
        let mut characters = [0; Self::MAX];
        let (first, rest) = characters.split_at_mut(8);
        let (second, third) = rest.split_at_mut(10);
        write_base36(first, place);
        write_base36(second, time);
        write_base36(third, count);
        Self { characters, length: 25 }
    }

    /// Creates the nonce of a reply's part. It also contains the moment when the process began that made the reply. It
    /// keeps 34 bits of `number` (of the part within the channel's life), 11 bits of the channel, and 37 bits of the
    /// process's age, which is four years.
    pub(crate) fn of_reply(channel: u64, at: Timestamp, number: u64, began: Began) -> Self {
        let age = at.as_millis().wrapping_sub(began.at().as_millis()) & AGE;
        let place = channel ^ (channel >> 22) ^ (channel >> 44);
        let place = (place ^ (place >> 11)) & 0x7ff;
        let number = number & ((1 << 34) - 1);
        let mut characters = [0; Self::MAX];
        let (mark, rest) = characters.split_at_mut(1);
        let (first, rest) = rest.split_at_mut(8);
        let (second, third) = rest.split_at_mut(8);
        mark.fill(REPLY_MARK);
        first.copy_from_slice(&began.written);
        // There are two halves of 41 bits. One has the age and four bits of the number, and the other has the rest.
        write_base36(second, age << 4 | number >> 30);
        write_base36(third, (number & 0x3fff_ffff) << 11 | place);
        Self { characters, length: 25 }
    }

    /// Returns when the post with this nonce was decided, and when the process began that decided it, if it is another
    /// process than this one. `None` if it is this process, or if the nonce does not say.
    pub(crate) fn by_another(&self, own: Began) -> Option<(Timestamp, Began)> {
        let (mark, rest) = self.characters.split_first()?;
        let (written, rest) = rest.split_first_chunk::<8>()?;
        if *mark != REPLY_MARK || *written == own.written || usize::from(self.length) < Self::MAX {
            return None;
        }
        let read = |digits: &[u8]| u64::from_str_radix(std::str::from_utf8(digits).ok()?, 36).ok();
        let began = Began { count: read(written)?, written: *written };
        let age = read(rest.get(..8)?)? >> 4;
        Some((began.at() + Duration::from_millis(age & AGE), began))
    }

    /// Returns the nonce's characters, which are digits and lower-case letters.
    pub fn as_str(&self) -> &str {
        let written = self.characters.get(..usize::from(self.length)).unwrap_or_default();
        std::str::from_utf8(written).unwrap_or_default()
    }
}

/// The first character of a reply's nonce. No other nonce of ours begins with it.
const REPLY_MARK: u8 = b'z';
/// The age of a process that a nonce can contain, in milliseconds.
const AGE: u64 = (1 << 37) - 1;
/// The unit of a process's beginning, in milliseconds. With this unit eight characters are enough until the year 2148.
const BEGAN_UNIT: u64 = 2;

/// The moment when a process began, as precisely as nonces contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Began {
    count: u64,
    written: [u8; 8],
}

impl Began {
    pub(crate) fn new(at: Timestamp) -> Self {
        let (count, mut written) = (at.as_millis() / BEGAN_UNIT, [0; 8]);
        write_base36(&mut written, count);
        Self { count, written }
    }

    pub(crate) const fn at(self) -> Timestamp {
        Timestamp::from_millis(self.count * BEGAN_UNIT)
    }
}

impl fmt::Debug for Nonce {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nonce").field(&self.as_str()).finish()
    }
}

/// The error of a text that is not a nonce. A nonce has 1 to 25 digits and lower-case letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a nonce: expected 1 to 25 digits and lower-case letters")]
#[non_exhaustive]
pub struct BadNonce;

impl FromStr for Nonce {
    type Err = BadNonce;

    /// Parses the text that [`Nonce::as_str`] returned, for stores.
    fn from_str(text: &str) -> Result<Self, BadNonce> {
        let is_valid = text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_lowercase());
        let length = u8::try_from(text.len()).map_err(|_| BadNonce)?;
        let mut characters = [0; Self::MAX];
        let written = characters.get_mut(..text.len()).ok_or(BadNonce)?;
        written.copy_from_slice(text.as_bytes());
        if is_valid && length > 0 { Ok(Self { characters, length }) } else { Err(BadNonce) }
    }
}

impl TryFrom<String> for Nonce {
    type Error = BadNonce;

    fn try_from(text: String) -> Result<Self, BadNonce> {
        text.parse()
    }
}

impl From<Nonce> for String {
    fn from(nonce: Nonce) -> Self {
        nonce.as_str().to_owned()
    }
}

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";

/// All pairs of digits, so that one division gives two digits.
#[expect(clippy::indexing_slicing, reason = "the compiler works it out, and ends at a wrong index")]
const PAIRS: [[u8; 2]; 36 * 36] = {
    let mut pairs = [[b'0'; 2]; 36 * 36];
    let mut at = 0;
    while at < pairs.len() {
        pairs[at] = [DIGITS[at / 36], DIGITS[at % 36]];
        at += 1;
    }
    pairs
};

/// Fills `digits` with the last base-36 digits of `value`.
fn write_base36(digits: &mut [u8], mut value: u64) {
    let mut pairs = digits.rchunks_exact_mut(2);
    for pair in &mut pairs {
        let written = PAIRS.get((value % 1_296) as usize);
        pair.copy_from_slice(written.unwrap_or(b"00"));
        value /= 1_296;
    }
    for digit in pairs.into_remainder() {
        *digit = DIGITS.get((value % 36) as usize).copied().unwrap_or(b'0');
    }
}

/// Returns whether this message, by the account that posts, is the post with these words, this number of embeds and
/// this nonce. A chat may add embeds for the links in the words. If there are no words, the number of embeds must be
/// equal, or there must be files.
pub fn is_post(message: &ChatMessage, (content, embeds): (&str, u8), nonce: &Nonce) -> bool {
    let has_nonce = message.nonce == Some(*nonce);
    let shows = || embeds > 0 || !message.attachments.is_empty();
    let has_embeds = || message.embeds == embeds && shows() && message.kind != ChatKind::System;
    let has_words = message.content.trim() == content.trim();
    has_nonce || (has_words && (!content.trim().is_empty() || has_embeds()))
}

#[cfg(test)]
mod tests;
