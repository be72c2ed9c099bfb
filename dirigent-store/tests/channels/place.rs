//! A folder with channels in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dirigent::ChannelId;
use dirigent_store::{ChannelOptions, JsonChannels, parse_channel};

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
        let store = place.lazy();
        (place, store)
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

    /// The files in which turns stand that are in no channel's file, oldest first.
    pub(crate) fn logs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.root).unwrap().map(|entry| entry.unwrap().path());
        let mut logs: Vec<_> =
            entries.filter(|path| path.extension() == Some("log".as_ref())).collect();
        logs.sort();
        logs
    }

    /// The oldest of them.
    pub(crate) fn log(&self) -> PathBuf {
        self.logs().remove(0)
    }

    /// Closes a store. Returns its log as it stood there before, which is what a killed process leaves.
    pub(crate) async fn left(&self, store: JsonChannels) -> (PathBuf, String) {
        let path = self.log();
        let left = fs::read_to_string(&path).unwrap();
        store.close().await.unwrap();
        (path, left)
    }

    /// The newest turn of a channel that stands there whole.
    pub(crate) fn turn(&self, channel: ChannelId) -> Option<String> {
        let begin = format!("turn {channel} ");
        let logs: String =
            self.logs().iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        let header = logs.lines().rfind(|line| line.starts_with(&begin))?;
        let at = logs.rfind(header).unwrap() + header.len() + 1;
        let length: usize = header.split(' ').nth(3).unwrap().parse().unwrap();
        Some(logs[at..at + length].to_owned())
    }

    /// Writes a file with a turn of a channel, as a process leaves it that was killed.
    pub(crate) fn put_turn(&self, channel: ChannelId, revision: u64, content: &[u8]) -> PathBuf {
        let number = self.logs().len() + 1;
        let path = self.root.join(format!("turns-{number}.log"));
        fs::write(&path, frame(channel, revision, 0, &[content, b"\n"].concat())).unwrap();
        path
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        let files = self.files();
        files.into_iter().find(|file| file.file_name().unwrap() == name).expect("no such file")
    }
}

/// A turn as it stands in a log of which the disk was known to have so many bytes.
pub(crate) fn frame(channel: ChannelId, revision: u64, synced: u64, body: &[u8]) -> Vec<u8> {
    let sum = crc32fast::hash(body);
    let line = format!("turn {channel} {revision} {} {synced} {sum:08x}", body.len());
    let sum = crc32fast::hash(line.as_bytes());
    [format!("{line} {sum:08x}\n").as_bytes(), body].concat()
}

/// The revision and the mark of what stands in a file.
pub(crate) fn written(path: &Path) -> (u64, u64) {
    let parsed = parse_channel(&fs::read(path).unwrap()).unwrap();
    (parsed.revision.get(), mark(&parsed.record))
}

/// The revision and the mark of a channel's turn.
pub(crate) fn in_turn(place: &Place, channel: ChannelId) -> Option<(u64, u64)> {
    let parsed = parse_channel(place.turn(channel)?.as_bytes()).unwrap();
    Some((parsed.revision.get(), mark(&parsed.record)))
}
