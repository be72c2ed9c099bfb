//! A folder with a database in it.

use std::fs;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;
use dirigent::store::Barred;
use dirigent_store::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

/// A folder of a test's own.
pub(crate) struct Place {
    home: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("state")
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder().join(SqliteStore::FILE_NAME)
    }

    pub(crate) fn open(&self) -> SqliteStore {
        SqliteStore::open(self.path()).unwrap()
    }

    pub(crate) fn keeping(&self, history_max: usize) -> SqliteStore {
        SqliteStore::open(SqliteOptions::new(self.path()).history_max(history_max)).unwrap()
    }

    /// Changes the database while nobody has it.
    pub(crate) fn change(&self, sql: &str) {
        Connection::open(self.path()).unwrap().execute_batch(sql).unwrap();
    }

    /// What is in a row of the database while nobody has it.
    pub(crate) fn text(&self, sql: &str) -> String {
        let database = Connection::open(self.path()).unwrap();
        database.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// The names in the folder, without the lock's.
    pub(crate) fn names(&self) -> Vec<String> {
        names(&self.folder())
    }

    /// The folder as a killed process would leave it now.
    pub(crate) fn as_killed(&self) -> Self {
        let copy = Self::new();
        fs::create_dir(copy.folder()).unwrap();
        for name in self.names() {
            fs::copy(self.folder().join(&name), copy.folder().join(&name)).unwrap();
        }
        copy
    }
}

pub(crate) fn names(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| !name.starts_with('.')).collect();
    names.sort();
    names
}

/// Spoils a channel's record while nobody has the database: with a checksum that is wrong, or with a
/// right one and a mode that this version does not know.
pub(crate) fn spoil(path: &Path, channel: ChannelId, how: Barred) {
    let database = Connection::open(path).unwrap();
    let id = channel.get().cast_signed();
    let read = "SELECT revision, checksum, record FROM channels WHERE id = ?1";
    let row = database.query_row(read, [id], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?))
    });
    let (revision, mut checksum, mut record) = row.unwrap();
    let (_, rest) = record.split_once("\"mode\": \"").unwrap();
    let (mode, _) = rest.split_once('"').unwrap();
    record = record.replacen(&format!("\"{mode}\""), "\"assembly\"", 1);
    if how == Barred::OtherVersion {
        let sum = crc32fast::hash(format!("2 {channel} {revision} {record}").as_bytes());
        checksum = format!("{sum:08x}");
    }
    let write = "UPDATE channels SET checksum = ?2, record = ?3 WHERE id = ?1";
    assert_eq!(database.execute(write, (id, checksum, record)).unwrap(), 1);
}
