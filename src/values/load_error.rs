//! Why a channel's record was not loaded, and what bars the channel then.

use std::error::Error;

use crate::values::error::ApiError;
use dirigent_core::snapshot::RestoreError;

/// Why a channel that has a record cannot be used until someone acts.
///
/// A barred channel stays listed by [`ChannelStore::channels`](crate::store::ChannelStore::channels), across
/// restarts as well, and must not be taken for a channel without a record: it may be stopped, on hold
/// or archived.
///
/// ```
/// use dirigent::store::Barred;
/// assert!(Barred::Damaged.to_string().contains("gives the channel a mode"));
/// assert!(Barred::OtherVersion.to_string().contains("another version"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a driver must know what ends each")]
pub enum Barred {
    /// The record is not as it was written. The channel's mode and turns are lost. An operator ends it by
    /// giving the channel a mode, which replaces the record; so does restoring the record from a
    /// backup.
    #[error(
        "the channel's stored record is damaged: the channel's mode and turns are unknown, and it may \
         have been stopped. No agent may speak there until an operator gives the channel a mode, or until \
         its record is restored from a backup"
    )]
    Damaged,
    /// The record is whole, and another version of the library wrote it: a newer one, something of which this version does
    /// not know, or one so old that this version no longer reads it. This version never changes the record.
    #[error(
        "the channel's stored record was written by another version of this library and was not \
         touched: this version does not know the channel's mode and turns. No agent may speak there until \
         a version that reads it runs, or until the record is moved away"
    )]
    OtherVersion,
}

impl From<&RestoreError> for Barred {
    /// What bars a channel whose record was loaded and cannot be restored. The store takes such a record
    /// for a sound one: what replaces it is a commit from its revision.
    fn from(error: &RestoreError) -> Self {
        match error {
            RestoreError::Version { .. } => Self::OtherVersion,
            RestoreError::TooLong { .. } | RestoreError::Broken(_) | _ => Self::Damaged,
        }
    }
}

/// Why a channel's record was not loaded. Nothing was changed.
///
/// ```
/// use dirigent::ports::{ApiError, ErrorKind};
/// use dirigent::store::{Barred, LoadError};
///
/// let damaged = LoadError::damaged("its checksum is wrong");
/// assert_eq!(damaged.barred(), Some(Barred::Damaged));
/// // The store may answer the next time.
/// assert_eq!(LoadError::from(ApiError::new(ErrorKind::NoAnswer)).barred(), None);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// There is a record, and it cannot be used. Loading it again answers the same until someone acts.
    #[error("{barred}")]
    Barred {
        /// What is wrong with the record, and what ends it.
        barred: Barred,
        /// Where the record is and why it cannot be read. It holds no message text.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store failed. Whether there is a record is unknown; loading may work the next time.
    #[error(transparent)]
    Store(#[from] ApiError),
}

impl LoadError {
    /// A record that is not as it was written. `source` says where it is and why it cannot be read; it
    /// must hold no message text.
    pub fn damaged(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Barred { barred: Barred::Damaged, source: source.into() }
    }

    /// A record that is whole and that another version of the library wrote. `source` says where it is and what is
    /// not known; it must hold no message text.
    pub fn other_version(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Barred { barred: Barred::OtherVersion, source: source.into() }
    }

    /// What bars the channel; `None` when the store failed and should be asked again.
    pub const fn barred(&self) -> Option<Barred> {
        match self {
            Self::Barred { barred, .. } => Some(*barred),
            Self::Store(_) => None,
        }
    }
}
