//! The parts of a reply besides its text.

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
/// The most characters that the embeds of a message may have together.
const EMBED_CHARS_MAX: usize = 6_000;
/// The number of bytes that are compared between two files of the same name and size.
const COMPARED_BYTES: usize = 4_096;
/// The most users, and the most roles, that may be pinged.
const MENTIONS_MAX: usize = 100;

/// The parts of a [`Reply`](crate::Reply) besides its text.
///
/// ```
/// use dirigent::ports::Extras;
/// assert!(Extras::default().is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Extras {
    /// The embeds, in the last message of the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub embeds: Vec<Embed>,
    /// The files, in the last message of the reply.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<ReplyFile>,
    /// The message that the first message of the reply answers.
    #[serde(with = "crate::written::optional", skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    /// The agent that speaks next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<AgentId>,
    /// The accounts that the reply may ping.
    #[serde(skip_serializing_if = "AllowedMentions::is_empty")]
    pub mentions: AllowedMentions,
}

/// The accounts that a message may ping, if its text names them. The default is no account.
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
    /// `true` if `@everyone` and `@here` ping.
    pub everyone: bool,
    /// `true` if the author of the answered message is pinged. This needs no mention in the text.
    pub replied_user: bool,
}

impl AllowedMentions {
    /// Allows no account.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also allows this user.
    #[must_use]
    pub fn user(mut self, user: UserId) -> Self {
        if !self.users.contains(&user) {
            self.users.push(user);
        }
        self
    }

    /// Also allows the members of this role.
    #[must_use]
    pub fn role(mut self, role: RoleId) -> Self {
        if !self.roles.contains(&role) {
            self.roles.push(role);
        }
        self
    }

    /// Also allows all members that `@everyone` and `@here` mean. A model may repeat the words of people, so use this
    /// only for texts of your own.
    #[must_use]
    pub fn everyone(self) -> Self {
        Self { everyone: true, ..self }
    }

    /// Also allows the author of the answered message.
    #[must_use]
    pub fn replied_user(self) -> Self {
        Self { replied_user: true, ..self }
    }

    /// Returns whether no account may be pinged.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Extras {
    /// Returns whether there is only the text.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether it shows something without a text.
    pub(crate) fn shows(&self) -> bool {
        !self.embeds.is_empty() || self.files.iter().any(ReplyFile::is_at_hand)
    }

    /// Joins these words with those of the embeds, and returns them with a hash of everything else in embeds and files.
    /// `None` if it shows neither. Colours and times do not count, because they say nothing new.
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
            // A hash over megabytes would hold up the room.
            let begins = file.bytes().get(..COMPARED_BYTES).unwrap_or(file.bytes());
            (file.name(), file.bytes().len(), begins).hash(&mut rest);
        }
        Some((text, rest.finish()))
    }

    /// Checks whether a chat would take it.
    pub(crate) fn check(&self) -> Result<(), ReplyError> {
        self.check_shown()?;
        self.check_files()
    }

    /// Removes the bytes of files that a chat would refuse, because there are too many files, or because a file is too
    /// large beside those before it. Returns the error, if there are any.
    pub(crate) fn limit_files(&mut self) -> Result<(), ReplyError> {
        let checked = self.check_files();
        let mut left = FILE_BYTES_MAX;
        for (number, file) in self.files.iter_mut().enumerate() {
            match left.checked_sub(file.bytes().len()).filter(|_| number < FILES_MAX) {
                Some(rest) => left = rest,
                // The name stays, so that the agent learns which file was not posted.
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

    /// Splits it into the part that a record stores, and the files that are posted with it. It drops the next speaker,
    /// because the machine knows it.
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

    /// Checks whether a chat would take it without its files.
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
