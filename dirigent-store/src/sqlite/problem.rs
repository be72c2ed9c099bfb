//! Damage that an operator should look at.

use std::fmt;
use std::path::PathBuf;

use dirigent::ChannelId;
use dirigent::store::Barred;

use crate::error::BadFile;

/// Data that could not be read. It stays unchanged.
///
/// ```
/// use dirigent_store::{BadFile, SqliteProblem, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("dirigent.sqlite");
/// std::fs::write(&path, "no database")?;
/// assert!(SqliteStore::open(&*path).is_err());
/// let store = SqliteStore::open_or_begin_anew(&*path)?;
/// let [SqliteProblem::KeptAside { kept, reason }] = &store.problems()[..] else { panic!() };
/// assert_eq!(std::fs::read_to_string(kept)?, "no database");
/// assert_eq!(*reason, BadFile::BadDatabase);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SqliteProblem {
    /// The file was not a complete database at the time of opening, so the store started empty, as you
    /// had asked.
    KeptAside {
        /// The path of the file now. The files beside it have this name with `-wal` or a similar
        /// ending.
        kept: PathBuf,
        /// What is wrong with it.
        reason: BadFile,
    },
    /// A channel's record cannot be read, so the channel cannot be used. The record is in the table
    /// `channels`, and in the table `corrupt` once it was replaced.
    BadRecord {
        /// The channel of the record.
        channel: ChannelId,
        /// What is wrong with it.
        reason: BadFile,
        /// Why the channel cannot be used.
        bars: Barred,
    },
}

impl fmt::Display for SqliteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptAside { kept, reason } => {
                write!(f, "the database is kept as {}: {reason}", kept.display())
            }
            Self::BadRecord { channel, reason, bars } => {
                write!(f, "the record of channel {channel} cannot be read: {reason}; {bars}")
            }
        }
    }
}
