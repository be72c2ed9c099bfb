//! What a reply has besides its text.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::Arc;

use dirigent_core::MessageId;
use serde::{Deserialize, Serialize};

use super::embed::Embed;
use super::id::{AgentId, RoleId, UserId};
use super::reply_error::ReplyError;
use super::reply_file::{FILE_BYTES_MAX, FILES_MAX, ReplyFile};

/// The most embeds of a message.
const EMBEDS_MAX: usize = 10;
/// How many characters the embeds of a message may have together.
const EMBED_CHARS_MAX: usize = 6_000;
/// How much of a file is held against another of its name and size, in bytes.
const COMPARED_BYTES: usize = 4_096;
/// The most users, and the most roles, that may be named.
const MENTIONS_MAX: usize = 100;

/// What a [`Reply`](crate::Reply) has besides its text.
///
/// ```
/// use dirigent::ports::Extras;
/// assert!(Extras::default().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Extras {
    /// Shown with the last message of the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub embeds: Vec<Embed>,
    /// Posted with the last message of the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ReplyFile>,
    /// The message that the first message of the reply answers.
    #[serde(with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The agent that is to speak next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<AgentId>,
    /// Whom the reply may ping.
    #[serde(skip_serializing_if = "AllowedMentions::is_empty")]
    pub mentions: AllowedMentions,
}

/// Whom a message may ping, of those whom its text names. The default is no account.
///
/// ```
/// use dirigent::UserId;
/// use dirigent::ports::AllowedMentions;
///
/// let asked = AllowedMentions::new().user(UserId::new(7)).replied_user();
/// assert_eq!(asked.users, [UserId::new(7)]);
/// assert!(asked.replied_user && !asked.everyone && asked.roles.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data that adapters and stores map field by field"
)]
pub struct AllowedMentions {
    /// These users, at most 100.
    pub users: Vec<UserId>,
    /// The members of these roles, at most 100.
    pub roles: Vec<RoleId>,
    /// Whether `@everyone` and `@here` ping.
    pub everyone: bool,
    /// Whether the author of the message that is answered is pinged, which needs no mention in the text.
    pub replied_user: bool,
}

impl AllowedMentions {
    /// No account.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, and this user.
    #[must_use]
    pub fn user(mut self, user: UserId) -> Self {
        if !self.users.contains(&user) {
            self.users.push(user);
        }
        self
    }

    /// The same, and the members of this role.
    #[must_use]
    pub fn role(mut self, role: RoleId) -> Self {
        if !self.roles.contains(&role) {
            self.roles.push(role);
        }
        self
    }

    /// The same, and all members whom `@everyone` and `@here` mean. A model may repeat what people wrote: choose this
    /// only for texts of your own.
    #[must_use]
    pub fn everyone(self) -> Self {
        Self { everyone: true, ..self }
    }

    /// The same, and the author of the message that is answered.
    #[must_use]
    pub fn replied_user(self) -> Self {
        Self { replied_user: true, ..self }
    }

    /// Whether no account may be pinged.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Extras {
    /// Whether there is nothing besides the text.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it is something without a text.
    pub(crate) fn shows(&self) -> bool {
        !self.embeds.is_empty() || self.files.iter().any(ReplyFile::is_at_hand)
    }

    /// These words together with what the embeds say, and a hash of what else they and the files show; `None` where it shows
    /// nothing. Colours and moments are left aside: they say nothing new.
    pub(crate) fn told(&self, words: &str) -> Option<(String, u64)> {
        if !self.shows() {
            return None;
        }
        let (mut text, mut rest) = (words.to_owned(), DefaultHasher::new());
        self.embeds.len().hash(&mut rest);
        for embed in &self.embeds {
            embed.told(&mut text, &mut rest);
        }
        for file in &self.files {
            let begins = file.bytes().get(..COMPARED_BYTES).unwrap_or(file.bytes());
            (file.name(), file.bytes().len(), begins).hash(&mut rest);
        }
        Some((text, rest.finish()))
    }

    /// Whether a chat would take it.
    pub(crate) fn check(&self) -> Result<(), ReplyError> {
        self.check_shown()?;
        self.check_files()
    }

    /// Takes the bytes from the files that a chat would refuse: those that are too many, and those that are too large
    /// beside the ones in front of them. Returns the error, if there are any.
    pub(crate) fn limit_files(&mut self) -> Result<(), ReplyError> {
        let checked = self.check_files();
        let mut left = FILE_BYTES_MAX;
        for (number, file) in self.files.iter_mut().enumerate() {
            match left.checked_sub(file.bytes().len()).filter(|_| number < FILES_MAX) {
                Some(rest) => left = rest,
                None => *file = file.named(),
            }
        }
        checked
    }

    fn check_files(&self) -> Result<(), ReplyError> {
        let bytes = self.files.iter().map(|file| file.bytes().len()).sum();
        let empty = self.files.iter().position(|file| !file.is_at_hand());
        if self.files.len() > FILES_MAX {
            Err(ReplyError::TooManyFiles(self.files.len()))
        } else if bytes > FILE_BYTES_MAX {
            Err(ReplyError::FilesTooLarge(bytes))
        } else {
            empty.map_or(Ok(()), |number| Err(ReplyError::EmptyFile(number)))
        }
    }

    /// What is kept of it in a record, and what is posted besides. The machine knows who speaks next.
    pub(crate) fn split(mut self: Arc<Self>) -> (Option<Arc<Self>>, Box<[ReplyFile]>) {
        if self.files.is_empty() && self.next.is_none() {
            return (Some(self), Box::default());
        }
        let kept = Arc::make_mut(&mut self);
        kept.next = None;
        let named = kept.files.iter().map(ReplyFile::named).collect();
        let mut files = std::mem::replace(&mut kept.files, named);
        files.retain(ReplyFile::is_at_hand);
        (Some(self).filter(|kept| !kept.is_empty()), files.into())
    }

    /// Whether a chat would take it, but for its files.
    pub(crate) fn check_shown(&self) -> Result<(), ReplyError> {
        if self.embeds.len() > EMBEDS_MAX {
            return Err(ReplyError::TooManyEmbeds(self.embeds.len()));
        }
        for (number, embed) in self.embeds.iter().enumerate() {
            embed.check(number)?;
        }
        let chars = self.embeds.iter().map(Embed::chars).sum();
        if chars > EMBED_CHARS_MAX {
            return Err(ReplyError::EmbedsTooLong(chars));
        }
        let mentions = self.mentions.users.len().max(self.mentions.roles.len());
        if mentions > MENTIONS_MAX { Err(ReplyError::TooManyMentions(mentions)) } else { Ok(()) }
    }
}
