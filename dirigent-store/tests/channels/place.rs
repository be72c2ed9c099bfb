//! A folder with channels in it.

use std::fs;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent_store::{JsonChannels, parse_channel};

pub(crate) use crate::shared::commits::*;

/// A folder of a test's own.
pub(crate) struct Place {
    _home: Option<tempfile::TempDir>,
    root: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        Self { root: home.path().join("state"), _home: Some(home) }
    }

    /// A folder with its store.
    pub(crate) fn opened() -> (Self, JsonChannels) {
        let place = Self::new();
        let store = place.open();
        (place, store)
    }

    /// A folder that is looked after elsewhere.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { _home: None, root: root.into() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn open(&self) -> JsonChannels {
        JsonChannels::open(self.root()).unwrap()
    }

    /// All files of channels, by path, sorted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.root.join("channels")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        files
    }

    /// The names of all files of channels.
    pub(crate) fn names(&self) -> Vec<String> {
        let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
        let mut names: Vec<_> = self.files().iter().map(name).collect();
        names.sort();
        names
    }

    /// The file of a channel.
    pub(crate) fn main(&self, channel: ChannelId) -> PathBuf {
        self.root.join(format!("channels/{channel}.json"))
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let files = self.files();
        files.into_iter().find(|file| file.file_name().unwrap() == name).expect("no such file")
    }
}

/// The revision and the mark of what stands in a file.
pub(crate) fn written(path: &Path) -> (u64, u64) {
    let parsed = parse_channel(&fs::read(path).unwrap()).unwrap();
    (parsed.revision.get(), mark(&parsed.record))
}
