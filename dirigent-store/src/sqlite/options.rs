//! What a host may choose.

use std::path::{Path, PathBuf};

/// How a [`SqliteStore`](crate::SqliteStore) is opened. A path alone is enough.
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

/// What a database does for the case that the power fails.
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
    /// Nothing is synced. Everything survives the end of the process; a power cut, or a crash of the machine, may take what
    /// was committed in the last half minute. For trying out, and where another layer syncs.
    None,
}

impl SqliteOptions {
    /// The database's file; all else as by default. `-wal` and `-shm` files stand beside it.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), durability: FileDurability::default(), history_max: 100 }
    }

    /// Whether a commit waits for the disk; by default [`FileDurability::Full`]. Without it a power
    /// cut may take what was committed last, but leaves the database whole.
    #[must_use]
    pub fn durability(mut self, durability: FileDurability) -> Self {
        self.durability = durability;
        self
    }

    /// How many transitions of each channel are kept, by default 100; 0 keeps none.
    #[must_use]
    pub fn history_max(mut self, transitions: usize) -> Self {
        self.history_max = transitions;
        self
    }
}

impl From<PathBuf> for SqliteOptions {
    fn from(path: PathBuf) -> Self {
        Self::new(path)
    }
}

impl From<&PathBuf> for SqliteOptions {
    fn from(path: &PathBuf) -> Self {
        Self::new(path)
    }
}

impl From<String> for SqliteOptions {
    fn from(path: String) -> Self {
        Self::new(path)
    }
}

impl From<&Path> for SqliteOptions {
    fn from(path: &Path) -> Self {
        Self::new(path)
    }
}

impl From<&str> for SqliteOptions {
    fn from(path: &str) -> Self {
        Self::new(path)
    }
}
