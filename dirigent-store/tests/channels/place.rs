//! A folder with channels in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dirigent::{
    ApiError, ChannelId, ChannelRecord, ChannelStore, Commit, CommitError, Discussion, Durability,
    Revision,
};
use dirigent_store::{ChannelOptions, JsonChannels, StoreError, parse_channel};

pub(crate) const HERE: ChannelId = ChannelId::new(100_000_000_000_000_001);
pub(crate) const THERE: ChannelId = ChannelId::new(100_000_000_000_000_002);

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

/// A record that is known by its number, of some kilobytes.
pub(crate) fn marked(number: u64) -> ChannelRecord {
    let mut record = ChannelRecord::default();
    record.snapshot.rng = number;
    record.discussion = Some(Arc::new(Discussion {
        callback: THERE,
        callback_guild: None,
        guide: format!("{number} \u{1f914} ").repeat(200),
    }));
    record
}

/// The number by which a record is known, if it is whole.
pub(crate) fn mark(record: &ChannelRecord) -> u64 {
    let number = record.snapshot.rng;
    assert_eq!(*record, marked(number), "the record is not whole");
    number
}

/// A commit of a marked record.
pub(crate) fn request(channel: ChannelId, expected: u64, number: u64) -> Commit {
    Commit {
        channel,
        expected: Revision::new(expected),
        record: marked(number),
        durability: Durability::Turn,
        transitions: Vec::new(),
    }
}

/// Saves a turn.
pub(crate) async fn turn(store: &JsonChannels, channel: ChannelId, expected: u64, number: u64) {
    let made = store.commit(request(channel, expected, number)).await.unwrap();
    assert_eq!(made, Revision::new(expected + 1));
}

/// Saves a fact.
pub(crate) async fn fact(store: &JsonChannels, channel: ChannelId, expected: u64, number: u64) {
    let commit = Commit { durability: Durability::Fact, ..request(channel, expected, number) };
    let made = store.commit(commit).await.unwrap();
    assert_eq!(made, Revision::new(expected + 1));
}

/// The revision and the mark of what is stored.
pub(crate) async fn stored(store: &JsonChannels, channel: ChannelId) -> Option<(u64, u64)> {
    let found = store.load(channel).await.unwrap()?;
    Some((found.revision.get(), mark(&found.record)))
}

/// The revision and the mark of what stands in a file.
pub(crate) fn written(path: &Path) -> (u64, u64) {
    let parsed = parse_channel(&fs::read(path).unwrap()).unwrap();
    (parsed.revision.get(), mark(&parsed.record))
}

/// What a store's error says.
pub(crate) fn cause(error: &ApiError) -> &StoreError {
    std::error::Error::source(error).and_then(|source| source.downcast_ref()).unwrap()
}

/// The failure of a commit that was no conflict.
pub(crate) fn failure(outcome: Result<Revision, CommitError>) -> ApiError {
    match outcome {
        Err(CommitError::Store(error)) => error,
        other => panic!("expected a failure, found {other:?}"),
    }
}
