//! The thread that waits for the disk. A commit is answered once the write-ahead log is synced, and the next
//! transaction is made in the meantime.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use super::open::with_end;
use super::task::Task;
use crate::error::{Action, StoreError};

/// Set if a sync failed. Then nothing more is done.
pub(super) type Broken = Arc<OnceLock<()>>;

/// Receives the work that was committed.
pub(super) struct Syncer {
    /// `None` once no more work will come.
    committed: Option<Sender<Vec<Box<dyn Task>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread.
    pub(super) fn start(database: &Path, broken: Broken) -> Result<Self, StoreError> {
        let (committed, given) = mpsc::channel();
        let log = with_end(database, "-wal");
        let thread = thread::Builder::new().name("dirigent-sqlite-sync".to_owned());
        let thread = thread
            .spawn(move || run(&log, &broken, &given))
            .map_err(|source| StoreError::not_done(Action::StartThread, database, source))?;
        Ok(Self { committed: Some(committed), thread: Some(thread) })
    }

    /// Answers a group once its commits are on the disk.
    pub(super) fn answer(&self, group: Vec<Box<dyn Task>>) {
        if let Some(committed) = &self.committed {
            // Without the thread, the callers get the error of an interrupted job.
            let _ = committed.send(group);
        }
    }
}

impl Drop for Syncer {
    /// Waits until all work is answered.
    fn drop(&mut self) {
        drop(self.committed.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(log: &Path, broken: &Broken, given: &Receiver<Vec<Box<dyn Task>>>) {
    let mut file = None;
    while let Ok(mut tasks) = given.recv() {
        // All work that was committed before a sync starts is on the disk after it.
        tasks.extend(given.try_iter().flatten());
        let synced = sync(log, &mut file, broken);
        for mut task in tasks {
            if let Err(error) = &synced {
                task.fail(error.again());
            }
            task.answer();
        }
    }
}

fn sync(log: &Path, file: &mut Option<File>, broken: &Broken) -> Result<(), StoreError> {
    let failed = |source| StoreError::unknown(Action::Sync, log, source);
    if broken.get().is_some() {
        return Err(failed(io::ErrorKind::Other.into()));
    }
    let synced = match file {
        Some(file) => file.sync_data(),
        None => match OpenOptions::new().write(true).open(log) {
            Ok(opened) => {
                let synced = opened.sync_data();
                *file = Some(opened);
                synced
            }
            // The log is created by the first change, and it stays until the database is closed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        },
    };
    synced.map_err(|source| {
        tracing::error!(path = %log.display(), "a sync failed: open the store again");
        let _ = broken.set(());
        failed(source)
    })
}
