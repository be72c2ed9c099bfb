//! What the disk still has to be given, and the thread that gives it.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dirigent::{ChannelId, Revision};

use super::desk::remove_files;
use super::folders::{Folders, number_of};
use super::turn_log::Grown;
use super::work::Job;
use crate::disk::{Replacement, sync_folder};
use crate::error::{Action, StoreError};
use crate::worker::now;

/// How many files are synced together; each is open meanwhile.
const FACTS_MAX: usize = 64;
/// The same for turns that become their channels' files, which facts wait for when they come during it.
const TURNS_MAX: usize = 8;
/// After so long the file of the log that takes turns is closed, and its channels get files of their own.
pub(super) const ROLL_AFTER: Duration = Duration::from_secs(60);

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
pub(super) struct Waiting {
    /// A caller waits for each of them.
    facts: Vec<Write>,
    /// Channels whose files are to be removed; a caller waits for each of them.
    deletions: Vec<ChannelId>,
    /// Turns that become their channels' files.
    turns: VecDeque<Write>,
    /// Files of the log with turns that are not synced.
    log: Vec<Grown>,
    /// When the first of these turns was written.
    log_since: Option<Instant>,
    /// When the newest file of the log took its first turn.
    log_begun: Option<Instant>,
    /// Files of the log that go once the others are synced.
    emptied: Vec<PathBuf>,
    /// Folders that another process may have left without a sync.
    folders: Vec<u8>,
    /// What is there is done, and then no more.
    closing: bool,
}

/// What is done together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) facts: Vec<Write>,
    pub(super) deletions: Vec<ChannelId>,
    pub(super) log: Vec<Grown>,
    pub(super) emptied: Vec<PathBuf>,
    pub(super) turns: Vec<Write>,
    pub(super) folders: Vec<u8>,
    /// The newest file of the log is to be closed.
    pub(super) rolls: bool,
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

    /// A channel's files are to be removed, after all that was asked of it before.
    pub(super) fn push_deletion(&self, channel: ChannelId) {
        let mut waiting = self.lock();
        waiting.forget(channel);
        waiting.deletions.push(channel);
        drop(waiting);
        self.changed.notify_one();
    }

    /// A turn that becomes its channel's file.
    pub(super) fn push_turn(&self, write: Write) {
        self.lock().turns.push_back(write);
        self.changed.notify_one();
    }

    /// How many turns wait to become files.
    pub(super) fn turns_waiting(&self) -> usize {
        self.lock().turns.len()
    }

    /// A file of the log took a turn.
    pub(super) fn grew(&self, grown: Grown) {
        if self.lock().grew(grown, now()) {
            self.changed.notify_one();
        }
    }

    /// The newest file of the log is closed again after a while, also where it takes no turn until then: what could not
    /// become its channel's file is tried once more, unless nothing is synced any more.
    pub(super) fn roll_again(&self) {
        if self.check().is_err() {
            return;
        }
        self.lock().log_begun.get_or_insert_with(now);
        self.changed.notify_one();
    }

    /// These files of the log are removed once the others are synced.
    pub(super) fn remove(&self, files: Vec<PathBuf>) {
        if !files.is_empty() {
            self.lock().emptied.extend(files);
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
    pub(super) fn note(&self, error: &StoreError, path: &Path) {
        if error.is_failed_sync() {
            tracing::error!(path = %path.display(), "a sync failed: open the store again");
            let _ = self.broken.set(path.to_owned());
        }
    }

    /// Waits for the next work; none when it is the end.
    fn next(&self, sync_after: Duration) -> Option<Batch> {
        let mut waiting = self.lock();
        loop {
            let now = now();
            let batch = waiting.take(now, sync_after);
            if !batch.is_empty() {
                return Some(batch);
            }
            if waiting.closing {
                return None;
            }
            waiting = match waiting.next_due(sync_after) {
                Some(due) => {
                    let wait = due.saturating_duration_since(now);
                    let woken = self.changed.wait_timeout(waiting, wait);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn forget(&mut self, channel: ChannelId) {
        self.turns.retain(|write| write.channel != channel);
    }

    /// Takes note of a turn in the log. Returns whether it is the first that waits.
    fn grew(&mut self, grown: Grown, now: Instant) -> bool {
        if grown.is_new {
            self.log_begun = Some(now);
        }
        match self.log.iter_mut().find(|known| known.path == grown.path) {
            Some(known) => {
                known.is_new |= grown.is_new;
                known.length = grown.length;
            }
            None => self.log.push(grown),
        }
        let is_first = self.log_since.is_none();
        self.log_since.get_or_insert(now);
        is_first
    }

    /// When the log is to be synced: so long after the first turn that waits, whatever else is done meanwhile.
    fn sync_due(&self, sync_after: Duration) -> Option<Instant> {
        self.log_since?.checked_add(sync_after)
    }

    fn roll_due(&self) -> Option<Instant> {
        self.log_begun?.checked_add(ROLL_AFTER)
    }

    /// When there is work next, if nothing comes before.
    pub(super) fn next_due(&self, sync_after: Duration) -> Option<Instant> {
        self.sync_due(sync_after).into_iter().chain(self.roll_due()).min()
    }

    /// Takes what is to be done now.
    pub(super) fn take(&mut self, now: Instant, sync_after: Duration) -> Batch {
        let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        let rolls = !self.closing && is_due(self.roll_due());
        if rolls {
            self.log_begun = None;
        }
        let syncs = self.closing || !self.emptied.is_empty() || is_due(self.sync_due(sync_after));
        let (mut log, mut emptied) = (Vec::new(), Vec::new());
        if syncs {
            self.log_since = None;
            (log, emptied) = (std::mem::take(&mut self.log), std::mem::take(&mut self.emptied));
        }
        let facts = self.facts.drain(..self.facts.len().min(FACTS_MAX)).collect();
        let deletions = std::mem::take(&mut self.deletions);
        let turns = self.turns.drain(..self.turns.len().min(TURNS_MAX)).collect();
        let folders = self.folders.split_off(self.folders.len().saturating_sub(TURNS_MAX));
        Batch { facts, deletions, log, emptied, turns, folders, rolls }
    }
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        let Self { facts, deletions, log, emptied, turns, folders, rolls } = self;
        let has_writes = !facts.is_empty() || !turns.is_empty() || !folders.is_empty();
        !has_writes && deletions.is_empty() && log.is_empty() && emptied.is_empty() && !rolls
    }
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
        let mut last = Ok(());
        while let Some(batch) = self.queue.next(self.sync_after) {
            self.sync_facts(batch.facts);
            self.delete(batch.deletions);
            // After the first failure nothing is synced any more.
            last = last.and(self.sync_log(&batch.log, batch.emptied));
            self.sync_turns(batch.turns);
            self.sync_folders(batch.folders);
            if batch.rolls {
                let _ = self.jobs.send(Job::Roll);
            }
        }
        last
    }

    fn sync_facts(&mut self, facts: Vec<Write>) {
        for (Write { channel, revision, .. }, outcome) in self.write(facts) {
            let _ = self.jobs.send(Job::Fact { channel, revision, outcome });
        }
    }

    fn delete(&self, channels: Vec<ChannelId>) {
        for channel in channels {
            let outcome = self.queue.check().and_then(|()| self.folders.remove(channel));
            if let Err(error) = &outcome {
                self.queue.note(error, error.path());
            }
            let _ = self.jobs.send(Job::Deleted { channel, outcome });
        }
    }

    /// One sync a file makes all turns in it durable. Files that are empty go afterwards: what they held stands in
    /// those that were synced.
    fn sync_log(&self, log: &[Grown], emptied: Vec<PathBuf>) -> Result<(), StoreError> {
        // What could not be synced before may stand in no other file.
        self.queue.check()?;
        let mut synced = log.iter().map(Grown::sync);
        synced
            .try_for_each(|synced| synced)
            .inspect_err(|error| self.queue.note(error, error.path()))?;
        remove_files(emptied);
        Ok(())
    }

    /// A turn stays in the log until it is in its channel's file.
    fn sync_turns(&mut self, turns: Vec<Write>) {
        for (Write { channel, revision, .. }, outcome) in self.write(turns) {
            if let Err(error) = &outcome {
                tracing::warn!(%channel, %error, "a turn could not become its channel's file");
            }
            let _ = self.jobs.send(Job::Turn { channel, revision, outcome });
        }
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
        let paths: Vec<_> = writes.iter().map(|write| folders.file(write.channel)).collect();
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

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;

    use super::*;

    fn grown(file: &Path) -> Grown {
        let opened = File::create(file).unwrap();
        let (path, file) = (file.to_owned(), Arc::new(opened));
        Grown { path, file, is_new: false, length: 0, synced: Arc::default() }
    }

    #[test]
    fn turns_are_synced_so_long_after_the_first_however_many_facts_come_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("turns-1.log");
        let (begin, second) = (now(), Duration::from_secs(1));
        let mut waiting = Waiting::default();
        assert!(waiting.grew(grown(&file), begin));
        for tenth in 1..10 {
            let at = begin + second / 10 * tenth;
            let channel = ChannelId::new(tenth.into());
            let (revision, content) = (Revision::new(1), Vec::new());
            waiting.facts.push(Write { channel, revision, content });
            assert!(!waiting.grew(grown(&file), at));
            let batch = waiting.take(at, second);
            assert_eq!((batch.facts.len(), batch.log.len()), (1, 0), "after {tenth} tenths");
        }
        assert_eq!(waiting.next_due(second), Some(begin + second));
        assert_eq!(waiting.take(begin + second, second).log.len(), 1);
        assert_eq!(waiting.next_due(second), None);
        assert!(waiting.take(begin + second * 9, second).is_empty());
    }

    #[test]
    fn a_log_that_cannot_be_synced_ends_the_store_also_where_the_disk_is_full() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::Other]
        {
            let queue = SyncQueue::new(Vec::new());
            let path = Path::new("turns-1.log");
            let error = StoreError::not_done(Action::Sync, path, kind.into());
            queue.note(&error, path);
            assert!(matches!(queue.check(), Err(StoreError::Broken { .. })), "{kind}");
        }
    }

    #[test]
    fn what_could_not_become_a_file_is_tried_again_after_a_while_without_a_new_turn() {
        let queue = SyncQueue::new(Vec::new());
        queue.roll_again();
        let due = queue.lock().next_due(Duration::from_secs(3_600)).unwrap();
        assert!(due <= now() + ROLL_AFTER);
        // The first failure says when.
        queue.roll_again();
        assert_eq!(queue.lock().next_due(Duration::from_secs(3_600)), Some(due));
        assert!(!queue.lock().take(now(), ROLL_AFTER).rolls);
        assert!(queue.lock().take(due, ROLL_AFTER).rolls);
        assert_eq!(queue.lock().next_due(ROLL_AFTER), None);
    }
}
