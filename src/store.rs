//! Where channels survive a restart: the trait, and what is stored.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{AgentKey, MessageId, RunId, Snapshot, Timestamp, Transition, TurnId};

use crate::{AgentId, ApiError, Barred, ChannelId, Discussion, Held, Letter, LoadError, Nonce};

/// Keeps channels, and the keys that agents were given.
///
/// Every commit names the revision it was made from, and one made from another is refused: that is
/// what lets two processes share a store without both acting on a turn.
///
/// # Records that cannot be read
///
/// A record that cannot be read bars its channel and no other, and is never taken for no record: the
/// channel may be stopped, on hold or archived.
///
/// * A record that is *damaged* (its checksum is wrong, or its end is missing) loads as
///   [`Barred::Damaged`], and a commit answers the same, each time and across restarts, until a commit
///   with [`Commit::replaces_damaged`] takes its place. That commit is an operator's act. What is left
///   of the damaged record is kept where a person finds it.
/// * A record that is *whole but not understood* (another version, or a value that this version does
///   not know) loads as [`Barred::Newer`]. The store never changes it, whatever is committed.
/// * [`ChannelStore::channels`] lists both.
#[async_trait]
pub trait ChannelStore: Send + Sync + 'static {
    /// All channels that have a record, those included whose record cannot be read.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError>;

    /// One channel's record, `None` when it was never given one.
    ///
    /// # Errors
    ///
    /// [`LoadError::Barred`] when there is a record that cannot be used, [`LoadError::Store`] as the
    /// store fails.
    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError>;

    /// Replaces a channel's record. With [`Durability::Fact`] it survives a power cut when this
    /// returns; with [`Durability::Turn`] it survives the end of the process.
    ///
    /// # Errors
    ///
    /// [`CommitError::Conflict`] when the stored revision is not the expected one, and
    /// [`CommitError::Barred`] when the stored record cannot be read; then nothing changed.
    /// [`CommitError::Store`] as the store fails. Its kind is [`ErrorKind::Invalid`](crate::ErrorKind::Invalid)
    /// where the same record would be refused again (it is too large, or holds what cannot be written), and
    /// [`ErrorKind::Store`](crate::ErrorKind::Store) where the commit may succeed later (the disk is full).
    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError>;

    /// Deletes all that is kept of a channel: its record, its history, and what is left of damaged records of
    /// its own. The channel then counts as never seen, with revision 0. Returns whether anything was kept.
    ///
    /// When this returns, the deletion survives a power cut, and no file of the store holds a text of the
    /// channel. Blocks that the file system has given free are the system's affair; so are backups.
    ///
    /// For channels that are gone for good. A channel that a driver keeps in memory must not be deleted: its next
    /// commit is refused with a conflict.
    ///
    /// # Errors
    ///
    /// [`LoadError::Barred`] with [`Barred::Newer`] when a newer version wrote the record: nothing is deleted
    /// then. [`LoadError::Store`] as the store fails: some of it may be deleted, and deleting again goes on.
    /// The default does not delete and fails with [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported).
    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let _ = channel;
        Err(ApiError::new(crate::ErrorKind::Unsupported).into())
    }

    /// All agents that were given a key, in the order of their keys from zero.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn agents(&self) -> Result<Vec<AgentId>, ApiError>;

    /// Gives an agent a key for good; the same agent gets the same key again.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError>;

    /// How many transitions of a channel are kept. The default keeps none, and then none are given
    /// with a commit.
    fn history_max(&self) -> usize {
        0
    }

    /// The channel's newest transitions, oldest first, at most [`ChannelStore::history_max`]. A history
    /// explains; it is no fact, and a power cut may take its end.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        let _ = channel;
        Ok(Vec::new())
    }
}

/// Counts the commits of one channel; a channel without a record has revision 0.
///
/// ```
/// use dirigent::Revision;
/// assert_eq!(Revision::default().next(), Revision::new(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// Wraps the number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number inside.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision of the next commit.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

/// How much a commit must survive.
///
/// ```
/// use dirigent::Durability;
/// assert_ne!(Durability::Fact, Durability::Turn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a store must know what to do with each")]
pub enum Durability {
    /// Modes, discussions, archiving: on the disk before the call returns.
    Fact,
    /// Turn state: written before the call returns, synced behind.
    Turn,
}

/// A channel's new record. It is shared: a store that drops it before it answers lets the driver use the memory for the
/// next commit.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::{ChannelId, ChannelRecord, Commit, Durability, Revision};
///
/// let commit = Commit {
///     channel: ChannelId::new(1),
///     expected: Revision::default(),
///     record: ChannelRecord::default().into(),
///     durability: Durability::Fact,
///     transitions: Arc::default(),
///     replaces_damaged: false,
/// };
/// assert_eq!(commit.expected.get(), 0);
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a request that stores take apart")]
pub struct Commit {
    /// Which channel.
    pub channel: ChannelId,
    /// The revision it was made from.
    pub expected: Revision,
    /// What to store.
    pub record: Arc<ChannelRecord>,
    /// How much it must survive.
    pub durability: Durability,
    /// What changed since the last commit, for the history.
    pub transitions: Arc<Vec<Transition>>,
    /// Whether this commit may take the place of a damaged record. Then, and only then, a damaged
    /// record counts as none, of revision 0, and the store keeps what is left of it aside; the commit
    /// survives as a [`Durability::Fact`], whatever it asks for. Set it for an operator's act alone
    /// (giving the channel a mode): what the channel stood at is lost. It changes nothing where the
    /// stored record is sound, newer, or absent.
    pub replaces_damaged: bool,
}

/// A channel's record with its revision.
///
/// ```
/// use dirigent::{ChannelRecord, Revision, StoredChannel};
/// let stored = StoredChannel { revision: Revision::new(3), record: ChannelRecord::default() };
/// assert_eq!(stored.revision.get(), 3);
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "an answer that stores build")]
pub struct StoredChannel {
    /// How often it was committed.
    pub revision: Revision,
    /// What was stored.
    pub record: ChannelRecord,
}

/// Everything of a channel that survives a restart.
///
/// ```
/// assert!(dirigent::ChannelRecord::default().outgoing.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct ChannelRecord {
    /// The turn machine.
    pub snapshot: Snapshot,
    /// What was agreed when the discussion was opened.
    pub discussion: Option<Arc<Discussion>>,
    /// What the discussion still has to post, in order. At most its guide and its result.
    pub letters: Vec<Letter>,
    /// A hosted agent's reply that is being posted. Erased when the reply was posted.
    pub outgoing: Option<Arc<Outgoing>>,
    /// What people said and the agent with the floor, or the next one, is handed. Erased when that turn is
    /// over.
    pub held: Option<Held>,
    /// Every message up to this one was heard: it was pushed while no gap was open, or it was read, or it was
    /// said before the channel was given its mode.
    /// The library's own posts, which it knows from their receipts, do not raise it. `None`: nothing
    /// was heard yet, or an older version wrote the record, which did not tell.
    pub heard: Option<MessageId>,
    /// Every message up to this one was read from the chat, where that is less than [`heard`](Self::heard).
    /// Of what lies between the two an event may have been lost without notice; it is read with the next
    /// gap, and the ids that the snapshot remembers tell what of it was heard. `None`: as far as `heard`.
    pub verified: Option<MessageId>,
    /// From where messages are being read that may not have been pushed; `None` while no such gap is
    /// open.
    pub gap_from: Option<GapFrom>,
    /// When an operator last stopped, held or finished the channel, while it rests: what people said before
    /// that, and is read later, does not end the rest.
    pub commanded_at: Option<Timestamp>,
    /// Which process wrote this record, and with which of its commits. By it a process finds out whether a
    /// commit of its own was made whose answer was lost, or another process has the channel. `None`: an
    /// older version wrote it.
    pub writer: Option<Writer>,
}

/// From where the messages of a gap are read.
///
/// ```
/// use dirigent::{GapFrom, MessageId};
/// assert_eq!(GapFrom::Start.message(), None);
/// assert_eq!(GapFrom::After(MessageId::new(7)).message(), Some(MessageId::new(7)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "plain data that stores map variant by variant")]
pub enum GapFrom {
    /// Nothing was heard before the gap, and the chat does not tell which ids a moment has
    /// ([`DiscordApi::id_before`](crate::DiscordApi::id_before)), or an older version wrote the record: only
    /// messages after the record's time count.
    Start,
    /// Messages after this one. It moves up with each page that was read.
    After(MessageId),
}

impl GapFrom {
    /// The message after which the gap begins; `None` when nothing was heard before.
    pub const fn message(self) -> Option<MessageId> {
        match self {
            Self::Start => None,
            Self::After(message) => Some(message),
        }
    }
}

/// Which process wrote a record, and with which of its commits.
///
/// It tells a commit of the process's own, whose answer was lost, from a commit of another process. It
/// does not name a record: when the process loads a channel again, the count begins again.
///
/// ```
/// use dirigent::Writer;
///
/// let first = Writer { process: 0x5eed, count: 1 };
/// assert_ne!(first, Writer { count: 2, ..first });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Writer {
    /// A random number that the process drew when it started; two processes draw the same one with a
    /// chance of 2^-64.
    pub process: u64,
    /// Which of the process's commits of this channel it was, counted from 1 since the process last loaded
    /// the channel. Attempts that failed count, too.
    pub count: u64,
}

/// A hosted agent's reply on its way into the channel. `Debug` shows no text.
///
/// ```
/// use dirigent::{AgentKey, Outgoing, RunId, TurnId};
///
/// let reply = Outgoing {
///     agent: AgentKey::new(1),
///     turn: TurnId::new(9),
///     run: RunId::new(9),
///     end: dirigent::ReplyEnd::Finished,
///     parts: Vec::new(),
///     after: None,
///     composed_at: None,
///     doubt_since: None,
///     waiting_since: None,
/// };
/// assert!(reply.parts.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Outgoing {
    /// Whose reply.
    pub agent: AgentKey,
    /// In which turn.
    pub turn: TurnId,
    /// Of which run.
    pub run: RunId,
    /// What becomes of the turn once it has arrived.
    pub end: ReplyEnd,
    /// Its messages in order.
    pub parts: Vec<OutgoingPart>,
    /// The newest message that was known when the agent had answered: every part stands behind it. `None`
    /// where no message was known.
    pub after: Option<MessageId>,
    /// When the agent had answered: no part is older. `None` in a record of a version that did not store it.
    pub composed_at: Option<Timestamp>,
    /// When the first attempt at the next part began whose outcome is unknown: since then the part may
    /// be in the channel. `None` when it is surely not there.
    pub doubt_since: Option<Timestamp>,
    /// Since when the reply waits because the chat cannot be reached; `None` while it can.
    pub waiting_since: Option<Timestamp>,
}

/// What becomes of a turn once the agent's reply has arrived.
///
/// ```
/// assert_eq!(dirigent::ReplyEnd::default(), dirigent::ReplyEnd::Finished);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a store must know how to write each")]
pub enum ReplyEnd {
    /// It is over, and the next in the list has its turn.
    #[default]
    Finished,
    /// The agent keeps the floor: its completion signal is still to come.
    Unfinished,
    /// It is over, and a person is to answer before any agent does.
    AwaitsHuman,
}

/// One message of a reply.
///
/// ```
/// use dirigent::{Nonce, OutgoingPart};
/// let part =
///     OutgoingPart { content: "words".into(), nonce: Nonce::from_parts(1, 2, 3), posted: None };
/// assert!(!format!("{part:?}").contains("words"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct OutgoingPart {
    /// Its text, at most 2,000 characters.
    pub content: Arc<str>,
    /// Makes posting it again harmless.
    pub nonce: Nonce,
    /// The message, once it was posted.
    pub posted: Option<MessageId>,
}

impl fmt::Debug for OutgoingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingPart")
            .field("content", &format_args!("{} bytes", self.content.len()))
            .field("nonce", &self.nonce)
            .field("posted", &self.posted)
            .finish()
    }
}

/// Why a commit was not made.
///
/// ```
/// use dirigent::{CommitError, Revision};
/// let conflict = CommitError::Conflict { found: Revision::new(7) };
/// assert!(conflict.to_string().contains("revision 7"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another process committed in between.
    #[error("the channel was changed by another process and is at revision {} now", found.get())]
    Conflict {
        /// What is stored.
        found: Revision,
    },
    /// The stored record cannot be read, and nothing was changed. A commit with
    /// [`Commit::replaces_damaged`] takes the place of a damaged one; nothing does of a newer one.
    #[error(transparent)]
    Barred(#[from] Barred),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ApiError),
}
