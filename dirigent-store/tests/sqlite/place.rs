//! A folder with a database in it.

use std::fs;
use std::path::{Path, PathBuf};

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
