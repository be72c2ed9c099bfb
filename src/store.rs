//! Where channels survive a restart: the trait, and what is stored.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{AgentKey, MessageId, RunId, Snapshot, Transition, TurnId};

use crate::{AgentId, ApiError, ChannelId, Discussion, Held, Letter, Nonce};

/// Keeps channels, and the keys that agents were given.
///
/// Every commit names the revision it was made from, and one made from another is refused: that is
/// what lets two processes share a store without both acting on a turn.
#[async_trait]
pub trait ChannelStore: Send + Sync + 'static {
    /// All channels that have a record.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError>;

    /// One channel's record, `None` when it has none.
    ///
    /// # Errors
    ///
    /// As the store fails, or when the record cannot be read; it is then kept aside.
    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, ApiError>;

    /// Replaces a channel's record. With [`Durability::Fact`] it survives a power cut when this
    /// returns; with [`Durability::Turn`] it survives the end of the process.
    ///
    /// # Errors
    ///
    /// [`CommitError::Conflict`] when the stored revision is not the expected one; then nothing
    /// changed.
    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError>;

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

/// A channel's new record.
///
/// ```
/// use dirigent::{ChannelId, ChannelRecord, Commit, Durability, Revision};
///
/// let commit = Commit {
///     channel: ChannelId::new(1),
///     expected: Revision::default(),
///     record: ChannelRecord::default(),
///     durability: Durability::Fact,
///     transitions: Vec::new(),
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
    pub record: ChannelRecord,
    /// How much it must survive.
    pub durability: Durability,
    /// What changed since the last commit, for the history.
    pub transitions: Vec<Transition>,
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
    /// What people said and whoever has the floor is handed. Erased when the turn is over.
    pub held: Option<Held>,
}

impl ChannelRecord {
    /// A record to be written over.
    pub(crate) const fn blank() -> Self {
        Self {
            snapshot: Snapshot::blank(),
            discussion: None,
            letters: Vec::new(),
            outgoing: None,
            held: None,
        }
    }
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
    /// It is over, and a person shall answer before any agent does.
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
    pub content: String,
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
    /// Somebody else committed in between.
    #[error("the channel was changed by somebody else and is at revision {} now", found.get())]
    Conflict {
        /// What is stored.
        found: Revision,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ApiError),
}
