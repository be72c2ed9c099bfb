//! The options of the store.

use std::path::PathBuf;

/// The options for opening a [`JsonChannels`](crate::JsonChannels). A path alone is enough.
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
    /// Creates options with this folder, which belongs to the store alone. All else has its
    /// default.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), history_max: 100 }
    }

    /// Sets the number of transitions that are stored for each channel. Default 100; 0 stores none.
    #[must_use]
    pub fn history_max(mut self, transitions: usize) -> Self {
        self.history_max = transitions;
        self
    }
}

impl<P: Into<PathBuf>> From<P> for ChannelOptions {
    fn from(path: P) -> Self {
        Self::new(path)
    }
}
