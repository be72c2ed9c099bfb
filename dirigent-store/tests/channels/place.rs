//! A folder with channels in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dirigent::ChannelId;
use dirigent_store::{ChannelOptions, JsonChannels, parse_channel};

pub(crate) use crate::commits::*;

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

    /// A folder that is looked after elsewhere.
    pub(crate) fn at(root: impl Into<PathBuf>) -> Self {
        Self { _home: None, root: root.into() }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A store that syncs turns only when it is closed.
    pub(crate) fn lazy(&self) -> JsonChannels {
        let options = ChannelOptions::new(&self.root).sync_after(Duration::from_secs(3_600));
        JsonChannels::open(options).unwrap()
    }

    /// A store that syncs turns at once.
    pub(crate) fn eager(&self) -> JsonChannels {
        let options = ChannelOptions::new(&self.root).sync_after(Duration::ZERO);
        JsonChannels::open(options).unwrap()
    }

    /// All files of channels, by path, sorted.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.root.join("channels")).unwrap();
        let files = folders.flat_map(|folder| fs::read_dir(folder.unwrap().path()).unwrap());
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

    /// The file of a channel as of its last synced commit.
    pub(crate) fn main(&self, channel: ChannelId) -> PathBuf {
        self.file(&format!("{channel}.json"))
    }

    /// The file of a channel's turn.
    pub(crate) fn turn(&self, channel: ChannelId) -> PathBuf {
        self.file(&format!("{channel}.turn.json"))
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
