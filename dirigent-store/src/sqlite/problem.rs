//! What somebody should look at.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use dirigent::ChannelId;

use crate::error::BadFile;

/// How many problems are remembered; what they are about is kept, all of it.
const REMEMBERED_MAX: usize = 1_000;

/// Something that could not be read and was kept, unchanged.
///
/// ```
/// use dirigent_store::{BadFile, SqliteProblem, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("dirigent.sqlite");
/// std::fs::write(&path, "no database")?;
/// let store = SqliteStore::open(&*path)?;
/// let [SqliteProblem::KeptAside { kept, reason }] = &store.problems()[..] else { panic!() };
/// assert_eq!(std::fs::read_to_string(kept)?, "no database");
/// assert_eq!(*reason, BadFile::BadDatabase);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SqliteProblem {
    /// The file was no whole database when the store was opened; the store started empty.
    KeptAside {
        /// Where the file is now; what stood beside it has this name with `-wal` or the like.
        kept: PathBuf,
        /// What is wrong with it.
        reason: BadFile,
    },
    /// A channel's record does not count; the channel has none now.
    BadRecord {
        /// Which channel.
        channel: ChannelId,
        /// Its row in the table `corrupt`, where it is now.
        row: i64,
        /// What is wrong with it.
        reason: BadFile,
    },
}

impl fmt::Display for SqliteProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptAside { kept, reason } => {
                write!(f, "the database is kept as {}: {reason}", kept.display())
            }
            Self::BadRecord { channel, row, reason } => {
                write!(
                    f,
                    "the record of channel {channel} is kept as row {row} of the table corrupt: \
                     {reason}"
                )
            }
        }
    }
}

/// The problems since the store was opened.
#[derive(Debug, Default)]
pub(super) struct Problems(Mutex<Vec<SqliteProblem>>);

impl Problems {
    pub(super) fn push(&self, problem: SqliteProblem) {
        tracing::warn!(%problem, "something could not be read and was kept");
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() < REMEMBERED_MAX {
            all.push(problem);
        }
    }

    pub(super) fn all(&self) -> Vec<SqliteProblem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
