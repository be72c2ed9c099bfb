//! What a host may choose.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dirigent::store::Durability;

/// How a [`JsonChannels`](crate::JsonChannels) is opened. A path alone is enough.
///
/// ```
/// use std::time::Duration;
/// use dirigent_store::{ChannelOptions, FileDurability, JsonChannels};
///
/// let folder = tempfile::tempdir()?;
/// let options = ChannelOptions::new(folder.path())
///     .sync_after(Duration::from_millis(200))
///     .history_max(1_000)
///     .durability(FileDurability::Full);
/// let channels = JsonChannels::open(options)?;
/// # let _ = channels;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelOptions {
    pub(super) path: PathBuf,
    pub(super) durability: FileDurability,
    pub(super) sync_after: Duration,
    pub(super) history_max: usize,
}

/// What a store does for the case that the power fails.
///
/// ```
/// assert_eq!(dirigent_store::FileDurability::default(), dirigent_store::FileDurability::Full);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "either syncs are made or they are not")]
pub enum FileDurability {
    /// Facts are synced before their call returns, turns soon after.
    #[default]
    Full,
    /// Nothing is synced. Everything survives the end of the process; a power cut, or a crash of the
    /// machine, may take what was written in the last half minute, facts as well, and leave files
    /// cut short, which are then kept aside. For trying out, and where another layer syncs.
    None,
}

impl FileDurability {
    /// What becomes of a commit's wish.
    pub(super) const fn of(self, wish: Durability) -> Durability {
        match self {
            Self::Full => wish,
            Self::None => Durability::Turn,
        }
    }
}

impl ChannelOptions {
    /// The folder, which is wholly the store's; all else as by default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            durability: FileDurability::default(),
            sync_after: Duration::from_secs(1),
            history_max: 100,
        }
    }

    /// Whether anything is synced; by default [`FileDurability::Full`].
    #[must_use]
    pub fn durability(mut self, durability: FileDurability) -> Self {
        self.durability = durability;
        self
    }

    /// How long the state of a turn waits to be synced, by default a second: so much of it a power
    /// cut may take. Longer means fewer syncs.
    #[must_use]
    pub fn sync_after(mut self, wait: Duration) -> Self {
        self.sync_after = wait;
        self
    }

    /// How many transitions of each channel are kept, by default 100; 0 keeps none.
    #[must_use]
    pub fn history_max(mut self, transitions: usize) -> Self {
        self.history_max = transitions;
        self
    }
}

impl From<PathBuf> for ChannelOptions {
    fn from(path: PathBuf) -> Self {
        Self::new(path)
    }
}

impl From<&PathBuf> for ChannelOptions {
    fn from(path: &PathBuf) -> Self {
        Self::new(path)
    }
}

impl From<String> for ChannelOptions {
    fn from(path: String) -> Self {
        Self::new(path)
    }
}

impl From<&Path> for ChannelOptions {
    fn from(path: &Path) -> Self {
        Self::new(path)
    }
}

impl From<&str> for ChannelOptions {
    fn from(path: &str) -> Self {
        Self::new(path)
    }
}
