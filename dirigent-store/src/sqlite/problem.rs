//! Damage that an operator should look at.

use std::fmt;
use std::path::PathBuf;

use dirigent::ChannelId;
use dirigent::store::Barred;

use crate::error::BadFile;

/// Something that could not be read and was kept, unchanged.
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
    /// The file was no whole database when the store was opened, and it was to begin anew then: the
    /// store started empty.
    KeptAside {
        /// Where the file is now; what stood beside it has this name with `-wal` or the like.
        kept: PathBuf,
        /// What is wrong with it.
        reason: BadFile,
    },
    /// A channel's record cannot be read and bars its channel. It stands in the table `channels`; once
    /// it was replaced, in the table `corrupt`.
    BadRecord {
        /// The channel that the record is of.
        channel: ChannelId,
        /// What is wrong with it.
        reason: BadFile,
        /// What bars the channel because of it.
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
