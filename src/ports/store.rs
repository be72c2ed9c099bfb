//! Where channels survive a restart: the trait, and what is stored.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{AgentKey, Transition};

use crate::record::channel::{ChannelRecord, Revision, StoredChannel};
use crate::values::error::ApiError;
use crate::values::load_error::{Barred, LoadError};
use crate::{AgentId, ChannelId};

/// Keeps channels, and the keys that agents were given.
///
/// Every commit names the revision it was made from, and one made from another is refused: that is
/// what lets two processes share a store without both acting on a turn.
///
/// # What a store need not know
///
/// What is in a record. It is public, for stores that map it field by field; but a rule that is added to the library may add
/// a field. A store for which a record is bytes takes `ParsedChannel::to_json` and `parse_channel` of `dirigent-store`:
/// text with a version and a checksum, in which fields of a newer version survive.
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
///   not know) loads as [`Barred::OtherVersion`]. The store never changes it, whatever is committed.
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
    /// [`CommitError::Store`] as the store fails. Its kind is [`ErrorKind::Invalid`](crate::ports::ErrorKind::Invalid)
    /// where the same record would be refused again (it is too large, or holds what cannot be written), and
    /// [`ErrorKind::Store`](crate::ports::ErrorKind::Store) where the commit may succeed later (the disk is full).
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
    /// [`LoadError::Barred`] with [`Barred::OtherVersion`] when a newer version wrote the record: nothing is deleted
    /// then. [`LoadError::Store`] as the store fails: some of it may be deleted, and deleting again goes on.
    /// The default does not delete and fails with [`ErrorKind::Unsupported`](crate::ports::ErrorKind::Unsupported).
    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let _ = channel;
        Err(ApiError::new(crate::values::error::ErrorKind::Unsupported).into())
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

    /// What the log calls it when the driver starts, so that you see whether channels survive a restart. Default: the name of its
    /// type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

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

/// How much a commit must survive.
///
/// ```
/// use dirigent::store::Durability;
/// assert_ne!(Durability::Fact, Durability::Turn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a store must know what to do with each")]
pub enum Durability {
    /// Modes, discussions, archiving: on the disk before the call returns.
    Fact,
    /// Turn state: written before the call returns. A store may sync it later, but then a power cut may repeat a post; those
    /// of `dirigent-store` sync it before they return.
    Turn,
}

/// A channel's new record. It is shared: a store that drops it before it answers lets the driver use the memory for the
/// next commit.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::ChannelId;
/// use dirigent::store::{ChannelRecord, Commit, Durability, Revision};
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
    /// (giving the channel a mode): what state the channel was in is lost. It changes nothing where the
    /// stored record is sound, newer, or absent.
    pub replaces_damaged: bool,
}

/// Why a commit was not made.
///
/// ```
/// use dirigent::store::{CommitError, Revision};
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
    /// Another process acts for the channel now, and nothing was changed: whether it has committed already does not matter. Only from
    /// stores that several processes share.
    #[error("another process acts for the channel now")]
    Elsewhere,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ApiError),
}
