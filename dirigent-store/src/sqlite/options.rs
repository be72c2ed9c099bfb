//! The options of the store.

use std::path::PathBuf;

/// The options for opening a [`SqliteStore`](crate::SqliteStore). A path alone is enough.
///
/// ```
/// use dirigent_store::{FileDurability, SqliteOptions, SqliteStore};
///
/// let folder = tempfile::tempdir()?;
/// let options = SqliteOptions::new(folder.path().join("dirigent.sqlite"))
///     .history_max(1_000)
///     .durability(FileDurability::Full);
/// let store = SqliteStore::open(options)?;
/// # let _ = store;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    pub(super) path: PathBuf,
    pub(super) durability: FileDurability,
    pub(super) history_max: usize,
}

/// How a database protects its data against a power cut.
///
/// ```
/// assert_eq!(dirigent_store::FileDurability::default(), dirigent_store::FileDurability::Full);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "either syncs are made or they are not")]
pub enum FileDurability {
    /// Each commit is synced before its call returns.
    #[default]
    Full,
    /// No data is synced. All data survives the end of the process. But a power cut or a crash of the machine can take
    /// the commits of the last half minute. You can use it for tests, or if another layer syncs, for example the file
    /// system.
    None,
}

impl SqliteOptions {
    /// Creates options with this file for the database. All else has its default. The files with the endings `-wal` and
    /// `-shm` are beside it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), durability: FileDurability::default(), history_max: 100 }
    }

    /// Sets whether a commit waits for the disk. Default [`FileDurability::Full`]. Without the wait a power cut can
    /// take the last commits, but the database stays intact.
    #[must_use]
    pub fn durability(mut self, durability: FileDurability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the number of transitions that are stored for each channel. Default 100; 0 stores none.
    #[must_use]
    pub fn history_max(mut self, transitions: usize) -> Self {
        self.history_max = transitions;
        self
    }
}

impl<P: Into<PathBuf>> From<P> for SqliteOptions {
    fn from(path: P) -> Self {
        Self::new(path)
    }
}
