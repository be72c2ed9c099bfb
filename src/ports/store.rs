//! The store trait, which lets channels survive a restart, and the values that it stores.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{AgentKey, Transition};

use crate::record::channel::{ChannelRecord, Revision, StoredChannel};
use crate::values::error::ApiError;
use crate::values::load_error::{Barred, LoadError};
use crate::{AgentId, ChannelId};

/// Stores channels, and the keys of agents.
///
/// Every commit names the revision that it is based on. The store refuses a commit that is based on another revision.
/// For this reason two processes can share a store, and only one of them acts on a turn.
///
/// # What a store need not know
///
/// The fields of a record are public, for stores that map them one by one. Note that a new rule in the library may add
/// a field. If your store keeps a record as bytes, use `ParsedChannel::to_json` and `parse_channel` of
/// `dirigent-store`. Their text has a version and a checksum, and keeps fields of a newer version.
///
/// # Records that cannot be read
///
/// A record that cannot be read bars only its own channel. It never counts as a missing record, because the channel may
/// be stopped, on hold or archived.
///
/// * A record is *damaged* if its checksum is wrong, or if its end is missing. It loads as [`Barred::Damaged`], and a
///   commit fails with the same error, each time and across restarts. A commit with [`Commit::replaces_damaged`], which
///   is an operator's decision, replaces it. The store keeps the rest of the damaged record in a place where people can
///   find it.
/// * A record may be *whole but not understood*, because it has another version, or a value that this version does not
///   know. It loads as [`Barred::OtherVersion`]. The store never changes it, whatever is committed.
/// * [`ChannelStore::channels`] lists both kinds.
#[async_trait]
pub trait ChannelStore: Send + Sync + 'static {
    /// Returns all channels that have a record, including those with an unreadable record.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError>;

    /// Returns the record of one channel. `None` if the channel never had one.
    ///
    /// # Errors
    ///
    /// Fails with [`LoadError::Barred`] if there is a record that cannot be used, and with [`LoadError::Store`] if the
    /// store fails.
    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError>;

    /// Replaces a channel's record. With [`Durability::Fact`] the record survives a power cut when this returns. With
    /// [`Durability::Turn`] it survives the end of the process.
    ///
    /// # Errors
    ///
    /// Fails with [`CommitError::Conflict`] if the stored revision is not the expected one, and with
    /// [`CommitError::Barred`] if the stored record cannot be read. In both cases the record did not change.
    ///
    /// Fails with [`CommitError::Store`] if the store fails. Use the kind
    /// [`ErrorKind::Invalid`](crate::ports::ErrorKind::Invalid) if the same record would be refused again, for example
    /// because it is too large or has a value that cannot be written. Use
    /// [`ErrorKind::Store`](crate::ports::ErrorKind::Store) if the commit may succeed later, for example because the
    /// disk is full.
    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError>;

    /// Deletes all data of a channel: its record, its history, and the rest of its damaged records. Afterwards the
    /// channel counts as never seen, with revision 0. Returns whether there was any data.
    ///
    /// When this returns, the deletion survives a power cut, and no file of the store contains a text of the channel.
    /// It does not cover blocks that the file system has freed, or backups.
    ///
    /// It is for channels that are gone for good. Do not delete a channel that a driver has in memory, because its next
    /// commit would fail with a conflict.
    ///
    /// # Errors
    ///
    /// Fails with [`LoadError::Barred`] and [`Barred::OtherVersion`] if a newer version wrote the record. In that case
    /// no data is deleted.
    ///
    /// Fails with [`LoadError::Store`] if the store fails. Some of the data may be deleted then, and you can call this
    /// again to delete the rest. The default deletes no data, and fails with
    /// [`ErrorKind::Unsupported`](crate::ports::ErrorKind::Unsupported).
    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let _ = channel;
        Err(ApiError::new(crate::values::error::ErrorKind::Unsupported).into())
    }

    /// Returns all agents that have a key, in the order of their keys from zero.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
    async fn agents(&self) -> Result<Vec<AgentId>, ApiError>;

    /// Gives an agent a permanent key. The same agent always gets the same key.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError>;

    /// Returns the name of the store for the log. The driver logs it at its start, so that you see whether channels
    /// survive a restart. The default is the name of the type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// Returns how many transitions of a channel the store keeps. The default is 0. In that case commits contain no
    /// transitions.
    fn history_max(&self) -> usize {
        0
    }

    /// Returns the channel's newest transitions, oldest first, at most [`ChannelStore::history_max`]. A history only
    /// explains the past, so a power cut may remove its end.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        let _ = channel;
        Ok(Vec::new())
    }
}

/// The events that a commit must survive.
///
/// ```
/// use dirigent::store::Durability;
/// assert_ne!(Durability::Fact, Durability::Turn);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a store must know what to do with each")]
pub enum Durability {
    /// The commit is on the disk before the call returns. It is for modes, discussions and archives.
    Fact,
    /// The commit is written before the call returns. It is for the state of turns. A store may sync it later, but then
    /// a power cut may cause a repeated post. The stores of `dirigent-store` sync it before they return.
    Turn,
}

/// A channel's new record. The record is shared. If your store drops it before it returns, the driver can reuse the
/// memory for the next commit.
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
    /// The channel.
    pub channel: ChannelId,
    /// The revision that the commit is based on.
    pub expected: Revision,
    /// The record to store.
    pub record: Arc<ChannelRecord>,
    /// The events that the commit must survive.
    pub durability: Durability,
    /// The changes since the last commit, for the history.
    pub transitions: Arc<Vec<Transition>>,
    /// `true` if this commit may replace a damaged record. Only then a damaged record counts as none, with revision 0,
    /// and the store keeps the rest of it aside. The commit survives like a [`Durability::Fact`], whatever it asks for.
    /// Set it only for a decision of an operator, such as a new mode for the channel, because the old state of the
    /// channel is lost. It has no effect if the stored record is intact, newer, or absent.
    pub replaces_damaged: bool,
}

/// The reason why a commit was not made.
///
/// ```
/// use dirigent::store::{CommitError, Revision};
/// let conflict = CommitError::Conflict { found: Revision::new(7) };
/// assert!(conflict.to_string().contains("revision 7"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommitError {
    /// Another process made a commit in between.
    #[error("the channel was changed by another process and is at revision {} now", found.get())]
    Conflict {
        /// The stored revision.
        found: Revision,
    },
    /// The stored record cannot be read, and did not change. A commit with [`Commit::replaces_damaged`] replaces a
    /// damaged record. A newer record cannot be replaced.
    #[error(transparent)]
    Barred(#[from] Barred),
    /// Another process acts for the channel now, and the record did not change. It does not matter whether that process
    /// has made a commit already. Only stores that several processes share return this.
    #[error("another process acts for the channel now")]
    Elsewhere,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ApiError),
}
