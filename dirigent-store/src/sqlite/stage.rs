//! An empty database for tests, and work for it.

use std::path::PathBuf;

use dirigent::ChannelId;
use dirigent::store::{ChannelRecord, Commit, Durability, Revision};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::group::Groups;
use super::open::Database;
use super::problem::SqliteProblem;
use super::sync::Broken;
use super::tables::Tables;
use super::task::{Asked, Task};
use crate::error::StoreError;
use crate::problems::Problems;

/// The answer to a piece of work.
type Answered<T> = oneshot::Receiver<Result<T, StoreError>>;

pub(super) struct TestDatabase {
    pub(super) path: PathBuf,
    pub(super) conn: Connection,
    pub(super) broken: Broken,
    problems: Problems<SqliteProblem>,
    _folder: TempDir,
}

impl TestDatabase {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.sqlite");
        let Database { path, conn, .. } = Database::open(&path, false).unwrap().0;
        let (broken, problems) = (Broken::default(), Problems::default());
        Self { path, conn, broken, problems, _folder: folder }
    }

    pub(super) fn groups(&self) -> Groups<'_, '_> {
        let tables = Tables::new(&self.conn, &self.path, 0).unwrap();
        Groups::new(tables, &self.problems, self.broken.clone())
    }

    /// Returns the length of the write-ahead log.
    pub(super) fn log_length(&self) -> u64 {
        self.path.with_file_name("any.sqlite-wal").metadata().unwrap().len()
    }
}

/// Adds work to a group.
pub(super) fn ask<T: Send + 'static>(
    group: &mut Vec<Box<dyn Task>>,
    work: impl FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send + 'static,
) -> Answered<T> {
    let (answer, answered) = oneshot::channel();
    group.push(Box::new(Asked::new(work, false, answer)));
    answered
}

/// Adds the deletion of a channel to a group.
pub(super) fn erase(group: &mut Vec<Box<dyn Task>>, channel: ChannelId) -> Answered<bool> {
    let (answer, answered) = oneshot::channel();
    let work = move |tables: &mut Tables<'_>| tables.delete(channel);
    group.push(Box::new(Asked::new(work, true, answer)));
    answered
}

/// Returns a commit of channel 7.
pub(super) fn commit(expected: u64) -> Commit {
    Commit {
        channel: ChannelId::new(7),
        expected: Revision::new(expected),
        record: ChannelRecord::default().into(),
        durability: Durability::Fact,
        transitions: Vec::new().into(),
        replaces_damaged: false,
    }
}
