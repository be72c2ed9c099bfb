//! The thread that waits for the disk. A commit is answered once the write-ahead log is synced, and the next
//! transaction is made in the meantime.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;

use super::open::with_end;
use super::task::Task;
use crate::error::{Action, StoreError};
use crate::worker::{Queue, Receiver, Sender, queue, start};

/// Set if a sync failed. Then nothing more is done.
pub(super) type Broken = Arc<OnceLock<()>>;

/// The committed work of all groups together. All work that was committed before a sync starts is on the disk after it.
#[derive(Default)]
struct Committed(Vec<Box<dyn Task>>);

impl Queue for Committed {
    type Work = Vec<Box<dyn Task>>;

    fn take(&mut self, _: Instant, _: bool) -> Option<Self::Work> {
        (!self.0.is_empty()).then(|| std::mem::take(&mut self.0))
    }
}

/// Receives the committed work.
pub(super) struct Syncer {
    committed: Sender<Committed>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    /// Starts the thread.
    pub(super) fn start(database: &Path, broken: Broken) -> io::Result<Self> {
        let (committed, given) = queue(Committed::default());
        let run = start("dirigent-sqlite-sync", run)?;
        let thread = run((with_end(database, "-wal"), broken, given));
        Ok(Self { committed, thread: Some(thread) })
    }

    /// Answers a group once its commits are on the disk.
    pub(super) fn answer(&self, group: Vec<Box<dyn Task>>) {
        // Without the thread, the callers get the error of an interrupted job.
        let _ = self.committed.change(|committed| committed.0.extend(group));
    }
}

impl Drop for Syncer {
    /// Waits until all work is answered.
    fn drop(&mut self) {
        self.committed.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run((log, broken, given): (PathBuf, Broken, Receiver<Committed>)) {
    let mut file = None;
    while let Some(group) = given.next() {
        let synced = sync(&log, &mut file, &broken);
        for mut task in group {
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
