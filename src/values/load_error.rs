//! The reasons why a channel's record was not loaded, and what bars the channel then.

use std::error::Error;

use crate::values::error::ApiError;
use dirigent_core::snapshot::RestoreError;

/// The reason why a channel with a record cannot be used until someone acts.
///
/// [`ChannelStore::channels`](crate::store::ChannelStore::channels) still lists a barred channel, also after a restart.
/// Do not treat it as a channel without a record, because it may be stopped, on hold or archived.
///
/// ```
/// use dirigent::store::Barred;
/// assert!(Barred::Damaged.to_string().contains("gives the channel a mode"));
/// assert!(Barred::OtherVersion.to_string().contains("another version"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a driver must know what ends each")]
pub enum Barred {
    /// The record is damaged. The channel's mode and turns are lost. An operator can give the channel a mode, which
    /// replaces the record, or can restore the record from a backup.
    #[error(
        "the channel's stored record is damaged: the channel's mode and turns are unknown, and it may \
         have been stopped. No agent may speak there until an operator gives the channel a mode, or until \
         its record is restored from a backup"
    )]
    Damaged,
    /// The record is whole, but another version of the library wrote it. It may be a newer version whose data this
    /// version does not know. It may also be so old that this version no longer reads it. This version never changes
    /// the record.
    #[error(
        "the channel's stored record was written by another version of this library and was not \
         touched: this version does not know the channel's mode and turns. No agent may speak there until \
         a version that reads it runs, or until the record is moved away"
    )]
    OtherVersion,
}

impl From<&RestoreError> for Barred {
    /// Converts the error of a record that was loaded and cannot be restored. The store considers such a record intact,
    /// so a commit from its revision can replace it.
    fn from(error: &RestoreError) -> Self {
        match error {
            RestoreError::Version { .. } => Self::OtherVersion,
            RestoreError::TooLong { .. } | RestoreError::Broken(_) | _ => Self::Damaged,
        }
    }
}

/// The reason why a channel's record was not loaded. The record did not change.
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
    /// There is a record, and it cannot be used. Loading it again gives the same result until someone acts.
    #[error("{barred}")]
    Barred {
        /// The problem with the record, and what you can do.
        barred: Barred,
        /// The place of the record, and why it cannot be read. It contains no message text.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The store failed. It is unknown whether there is a record. The next attempt may work.
    #[error(transparent)]
    Store(#[from] ApiError),
}

impl LoadError {
    /// Creates the error of a damaged record. `source` says where the record is and why it cannot be read. It must
    /// contain no message text.
    pub fn damaged(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Barred { barred: Barred::Damaged, source: source.into() }
    }

    /// Creates the error of a whole record that another version of the library wrote. `source` says where the record is
    /// and what is unknown in it. It must contain no message text.
    pub fn other_version(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Barred { barred: Barred::OtherVersion, source: source.into() }
    }

    /// Returns what bars the channel. `None` if the store failed, so that you can try again.
    pub const fn barred(&self) -> Option<Barred> {
        match self {
            Self::Barred { barred, .. } => Some(*barred),
            Self::Store(_) => None,
        }
    }
}
