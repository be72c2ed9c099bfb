//! What the disk still has to be given, and the thread that gives it.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use dirigent::{ChannelId, Revision};

use super::folders::{FileKind, Folders, number_of};
use super::work::Job;
use crate::error::{Action, StoreError};
use crate::replace::{Replacement, sync_folder};

/// How many files are synced together; each is open meanwhile.
const FACTS_MAX: usize = 64;
/// The same for turns, which facts wait for when they come during it.
const TURNS_MAX: usize = 8;
/// After this many rounds of facts alone, turns are taken along.
const PATIENCE: u32 = 16;

/// A channel's new content on its way to the disk.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) channel: ChannelId,
    pub(super) revision: Revision,
    pub(super) content: Vec<u8>,
}

/// What waits for the disk.
#[derive(Debug)]
pub(super) struct SyncQueue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Held while files are put into their places.
    placing: Mutex<()>,
    /// What could not be synced; from then on nothing is.
    broken: OnceLock<PathBuf>,
}

#[derive(Debug, Default)]
struct Waiting {
    /// A caller waits for each of them.
    facts: Vec<Write>,
    /// Turns whose time has not come, the newest of each channel.
    turns: HashMap<ChannelId, Write>,
    /// Turns whose time has come.
    due: HashMap<ChannelId, Write>,
    /// Folders that another process may have left without a sync.
    folders: Vec<u8>,
    /// What is there is done, and then no more.
    closing: bool,
}

/// What is done together.
#[derive(Debug, Default)]
struct Batch {
    facts: Vec<Write>,
    turns: Vec<Write>,
    folders: Vec<u8>,
}

impl SyncQueue {
    /// A queue that begins with folders which are there already.
    pub(super) fn new(folders: Vec<u8>) -> Self {
        Self {
            waiting: Mutex::new(Waiting { folders, ..Waiting::default() }),
            changed: Condvar::new(),
            placing: Mutex::new(()),
            broken: OnceLock::new(),
        }
    }

    /// A fact, which supersedes what waits of the same channel.
    pub(super) fn push_fact(&self, write: Write) {
        let mut waiting = self.lock();
        waiting.forget(write.channel);
        waiting.facts.push(write);
        drop(waiting);
        self.changed.notify_one();
    }

    /// A turn, which supersedes what waits of the same channel.
    pub(super) fn push_turn(&self, write: Write) {
        let mut waiting = self.lock();
        let was_empty = waiting.turns.is_empty();
        if let Some(due) = waiting.due.get_mut(&write.channel) {
            *due = write;
        } else {
            waiting.turns.insert(write.channel, write);
        }
        drop(waiting);
        if was_empty {
            self.changed.notify_one();
        }
    }

    /// Nothing of a channel is written any more.
    pub(super) fn forget(&self, channel: ChannelId) {
        self.lock().forget(channel);
    }

    /// Lets the thread end when all is done.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_one();
    }

    /// Keeps files from being put into their places.
    pub(super) fn hold(&self) -> MutexGuard<'_, ()> {
        self.placing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a sync failed.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            Some(path) => Err(StoreError::Broken { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Nothing is taken any more if this was a failed sync.
    ///
    /// A disk that is full is none: the file that could not be synced is thrown away, and nothing
    /// hangs on it.
    pub(super) fn note(&self, error: &StoreError, path: &Path) {
        if error.is_failed_sync() && !is_full(error) {
            tracing::error!(path = %path.display(), "a sync failed: open the store again");
            let _ = self.broken.set(path.to_owned());
        }
    }

    /// Waits for the next work; none when it is the end.
    fn next(&self, sync_after: Duration, patience: &mut u32) -> Option<Batch> {
        let mut waiting = self.lock();
        loop {
            if waiting.closing || *patience == 0 {
                waiting.all_are_due();
                *patience = PATIENCE;
            }
            if !waiting.is_idle() {
                break;
            }
            if waiting.closing {
                return None;
            }
            if waiting.turns.is_empty() {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            } else {
                let quiet = |waiting: &mut Waiting| waiting.facts.is_empty() && !waiting.closing;
                let (again, elapsed) = self
                    .changed
                    .wait_timeout_while(waiting, sync_after, quiet)
                    .unwrap_or_else(PoisonError::into_inner);
                waiting = again;
                if elapsed.timed_out() {
                    waiting.all_are_due();
                }
            }
        }
        Some(waiting.take())
    }

    /// Turns that could not be written wait again, unless there are newer ones.
    fn put_back(&self, turns: Vec<Write>) {
        let mut waiting = self.lock();
        for write in turns {
            let newer = waiting.facts.iter().any(|fact| fact.channel == write.channel)
                || waiting.due.contains_key(&write.channel);
            if !newer {
                waiting.turns.entry(write.channel).or_insert(write);
            }
        }
    }

    fn is_closing(&self) -> bool {
        self.lock().closing
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn forget(&mut self, channel: ChannelId) {
        self.turns.remove(&channel);
        self.due.remove(&channel);
    }

    fn all_are_due(&mut self) {
        self.due.extend(self.turns.drain());
    }

    fn is_idle(&self) -> bool {
        self.facts.is_empty() && self.due.is_empty() && self.folders.is_empty()
    }

    fn take(&mut self) -> Batch {
        let facts = self.facts.drain(..self.facts.len().min(FACTS_MAX)).collect();
        let channels: Vec<_> = self.due.keys().take(TURNS_MAX).copied().collect();
        let turns = channels.iter().filter_map(|channel| self.due.remove(channel)).collect();
        let folders = self.folders.split_off(self.folders.len().saturating_sub(TURNS_MAX));
        Batch { facts, turns, folders }
    }
}

fn is_full(error: &StoreError) -> bool {
    let StoreError::Io { source, .. } = error else {
        return false;
    };
    matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// What the thread works with.
#[derive(Debug)]
pub(super) struct Syncing {
    pub(super) queue: Arc<SyncQueue>,
    pub(super) folders: Arc<Folders>,
    pub(super) sync_after: Duration,
    pub(super) jobs: Sender<Job>,
    /// Folders that the disk is known to have.
    pub(super) durable: BTreeSet<u8>,
}

impl Syncing {
    /// Gives the disk what it is to be given, until the end.
    pub(super) fn run(mut self) {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.work())).unwrap_or_else(|_| {
            let path = self.folders.root().to_owned();
            let _ = self.queue.broken.set(path.clone());
            Err(StoreError::Interrupted { path })
        });
        let _ = self.jobs.send(Job::SyncEnded(outcome));
    }

    fn work(&mut self) -> Result<(), StoreError> {
        let mut patience = PATIENCE;
        let mut last = Ok(());
        while let Some(batch) = self.queue.next(self.sync_after, &mut patience) {
            if !batch.facts.is_empty() {
                patience = patience.saturating_sub(1);
            }
            self.sync_facts(batch.facts);
            let turns = self.sync_turns(batch.turns);
            // Before the end, they are tried again.
            if self.queue.is_closing() && last.is_ok() {
                last = turns;
            }
            self.sync_folders(batch.folders);
        }
        last
    }

    fn sync_facts(&mut self, facts: Vec<Write>) {
        for (Write { channel, revision, .. }, outcome) in self.write(facts) {
            let _ = self.jobs.send(Job::Fact { channel, revision, outcome });
        }
    }

    /// The state of a turn is in a file of its own until it could be written.
    fn sync_turns(&mut self, turns: Vec<Write>) -> Result<(), StoreError> {
        let mut failed = Vec::new();
        let mut last = Ok(());
        for (write, outcome) in self.write(turns) {
            match outcome {
                Ok(()) => {
                    let Write { channel, revision, .. } = write;
                    let _ = self.jobs.send(Job::Turn { channel, revision });
                }
                Err(error) => {
                    failed.push(write);
                    last = Err(error);
                }
            }
        }
        if let Err(error) = &last {
            tracing::warn!(count = failed.len(), %error, "turns could not be synced");
            if !self.queue.is_closing() && self.queue.check().is_ok() {
                self.queue.put_back(failed);
            }
        }
        last
    }

    /// What a process before us put into these folders may never have been synced.
    fn sync_folders(&mut self, folders: Vec<u8>) {
        for number in folders {
            let folder = self.folders.folder(number);
            if let Err(error) = self.sync_folder(number) {
                self.queue.note(&error, &folder);
            }
        }
    }

    /// Writes all, syncs all, puts all in their places, and syncs each folder once.
    fn write(&mut self, writes: Vec<Write>) -> Vec<(Write, Result<(), StoreError>)> {
        let folders = Arc::clone(&self.folders);
        let paths: Vec<_> =
            writes.iter().map(|write| folders.file(write.channel, FileKind::Main)).collect();
        let mut staged = Vec::with_capacity(writes.len());
        for (write, path) in writes.iter().zip(&paths) {
            staged.push(self.stage(path, &write.content));
        }
        let hold = self.queue.hold();
        let placed: Vec<_> = staged.into_iter().map(|new| new.and_then(Replacement::put)).collect();
        drop(hold);
        let mut synced = HashMap::new();
        let mut outcomes = Vec::with_capacity(writes.len());
        for ((write, path), placed) in writes.into_iter().zip(&paths).zip(placed) {
            let outcome = placed.and_then(|()| {
                let number = number_of(write.channel);
                let folder = synced.entry(number).or_insert_with(|| self.sync_folder(number));
                folder.as_ref().copied().map_err(again)
            });
            if let Err(error) = &outcome {
                self.queue.note(error, path);
            }
            outcomes.push((write, outcome));
        }
        outcomes
    }

    fn stage<'a>(&self, path: &'a Path, content: &[u8]) -> Result<Replacement<'a>, StoreError> {
        self.queue.check()?;
        let mut new = Replacement::write(path, content)?;
        new.sync()?;
        Ok(new)
    }

    /// Syncs a folder, and once the one above, which names it.
    fn sync_folder(&mut self, number: u8) -> Result<(), StoreError> {
        if !self.durable.contains(&number) {
            sync_folder(self.folders.channels())?;
            self.durable.insert(number);
        }
        sync_folder(&self.folders.folder(number))
    }
}

/// The same error once more: several files wait for one folder.
fn again(error: &StoreError) -> StoreError {
    if let StoreError::Io { path, source, .. } = error {
        return StoreError::unknown(Action::Sync, path, source.kind().into());
    }
    StoreError::Interrupted { path: error.path().to_owned() }
}
