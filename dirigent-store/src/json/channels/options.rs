//! What a host may choose.

use std::path::{Path, PathBuf};

/// How a [`JsonChannels`](crate::JsonChannels) is opened. A path alone is enough.
///
/// ```
/// use dirigent_store::{ChannelOptions, JsonChannels};
///
/// let folder = tempfile::tempdir()?;
/// let channels = JsonChannels::open(ChannelOptions::new(folder.path()).history_max(1_000))?;
/// # let _ = channels;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelOptions {
    pub(super) path: PathBuf,
    pub(super) history_max: usize,
}

impl ChannelOptions {
    /// The folder, which is wholly the store's; all else as by default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), history_max: 100 }
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
