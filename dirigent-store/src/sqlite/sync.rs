//! The thread that waits for the disk: what was committed is answered once the write-ahead log is synced, and the next
//! transaction is made meanwhile.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};

use super::group::{Task, again};
use super::open::with_end;
use crate::error::{Action, StoreError};

/// Whether a sync failed; then nothing more is done.
pub(super) type Broken = Arc<OnceLock<()>>;

/// Where work goes that was committed.
#[derive(Debug)]
pub(super) struct Syncer {
    committed: Option<Sender<Vec<Box<dyn Task>>>>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread.
    pub(super) fn start(database: &Path, broken: Broken) -> io::Result<Self> {
        let (committed, given) = channel();
        let log = with_end(database, "-wal");
        let work = move || run(&log, &broken, &given);
        let thread = thread::Builder::new().name("dirigent-sqlite-sync".to_owned()).spawn(work)?;
        Ok(Self { committed: Some(committed), thread: Some(thread) })
    }

    /// Answers a group once the disk has what was committed for it.
    pub(super) fn answer(&self, group: Vec<Box<dyn Task>>) {
        if let Some(committed) = &self.committed {
            // Without the thread their callers learn that they were cut short.
            let _ = committed.send(group);
        }
    }
}

impl Drop for Syncer {
    /// Waits until everything is answered.
    fn drop(&mut self) {
        drop(self.committed.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(log: &Path, broken: &Broken, given: &Receiver<Vec<Box<dyn Task>>>) {
    let mut file = None;
    while let Ok(mut group) = given.recv() {
        // All that was committed before the sync begins is on the disk after it.
        group.extend(given.try_iter().flatten());
        match sync(log, &mut file, broken) {
            Ok(()) => group.into_iter().for_each(Task::answer),
            Err(error) => {
                for mut task in group {
                    task.fail(again(&error));
                    task.answer();
                }
            }
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
            // It comes with the first change, and stays until the database is closed.
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
