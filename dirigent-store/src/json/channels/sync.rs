//! What the disk still has to be given.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use dirigent::ChannelId;
use dirigent::store::Revision;

use super::turn_log::Grown;
use crate::error::StoreError;
use crate::worker::{Queue, Receiver, Sender, now, queue};

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
    waiting: Sender<Waiting>,
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
    /// How long a turn waits to be synced.
    sync_after: Duration,
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
    /// A queue that begins with folders which are there already, and the side of the thread.
    pub(super) fn new(folders: Vec<u8>, sync_after: Duration) -> (Self, Receiver<Waiting>) {
        let (waiting, given) = queue(Waiting { folders, sync_after, ..Waiting::default() });
        (Self { waiting, placing: Mutex::new(()), broken: OnceLock::new() }, given)
    }

    /// Adds to what waits. Without the thread nothing is synced.
    fn push(&self, push: impl FnOnce(&mut Waiting)) {
        self.waiting.change(|waiting| (push(waiting), true));
    }

    /// A fact, which supersedes what waits of the same channel.
    pub(super) fn push_fact(&self, write: Write) {
        self.push(|waiting| {
            waiting.forget(write.channel);
            waiting.facts.push(write);
        });
    }

    /// A channel's files are to be removed, after all that was asked of it before.
    pub(super) fn push_deletion(&self, channel: ChannelId) {
        self.push(|waiting| {
            waiting.forget(channel);
            waiting.deletions.push(channel);
        });
    }

    /// A turn that becomes its channel's file.
    pub(super) fn push_turn(&self, write: Write) {
        self.push(|waiting| waiting.turns.push_back(write));
    }

    /// How many turns wait to become files.
    pub(super) fn turns_waiting(&self) -> usize {
        self.waiting.look(|waiting| waiting.turns.len())
    }

    /// A file of the log took a turn.
    pub(super) fn grew(&self, grown: Grown) {
        self.waiting.change(|waiting| ((), waiting.grew(grown, now())));
    }

    /// The newest file of the log is closed again after a while, also where it takes no turn until then: what could not
    /// become its channel's file is tried once more, unless nothing is synced any more.
    pub(super) fn roll_again(&self) {
        if self.check().is_ok() {
            self.push(|waiting| {
                waiting.log_begun.get_or_insert_with(now);
            });
        }
    }

    /// These files of the log are removed once the others are synced.
    pub(super) fn remove(&self, files: Vec<PathBuf>) {
        if !files.is_empty() {
            self.push(|waiting| waiting.emptied.extend(files));
        }
    }

    /// Nothing of a channel is written any more.
    pub(super) fn forget(&self, channel: ChannelId) {
        self.waiting.look(|waiting| waiting.forget(channel));
    }

    /// Lets the thread end when all is done.
    pub(super) fn close(&self) {
        self.waiting.close();
    }

    /// What waits, for tests.
    #[cfg(test)]
    pub(super) fn look<T>(&self, look: impl FnOnce(&mut Waiting) -> T) -> T {
        self.waiting.look(look)
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
            self.broke(path);
        }
    }

    /// Nothing is taken any more.
    pub(super) fn broke(&self, path: &Path) {
        let _ = self.broken.set(path.to_owned());
    }
}

impl Waiting {
    fn forget(&mut self, channel: ChannelId) {
        self.turns.retain(|write| write.channel != channel);
    }

    /// Takes note of a turn in the log. Returns whether something is due earlier than before.
    fn grew(&mut self, grown: Grown, now: Instant) -> bool {
        let before = self.next_due();
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
        self.log_since.get_or_insert(now);
        self.next_due().is_some_and(|due| before.is_none_or(|before| due < before))
    }

    /// When the log is to be synced: so long after the first turn that waits, whatever else is done meanwhile.
    fn sync_due(&self) -> Option<Instant> {
        self.log_since?.checked_add(self.sync_after)
    }

    fn roll_due(&self) -> Option<Instant> {
        self.log_begun?.checked_add(ROLL_AFTER)
    }
}

impl Queue for Waiting {
    type Work = Batch;

    fn take(&mut self, now: Instant, closing: bool) -> Option<Batch> {
        let is_due = |due: Option<Instant>| due.is_some_and(|due| due <= now);
        let rolls = !closing && is_due(self.roll_due());
        if rolls {
            self.log_begun = None;
        }
        let syncs = closing || !self.emptied.is_empty() || is_due(self.sync_due());
        let (mut log, mut emptied) = (Vec::new(), Vec::new());
        if syncs {
            self.log_since = None;
            (log, emptied) = (std::mem::take(&mut self.log), std::mem::take(&mut self.emptied));
        }
        let facts = self.facts.drain(..self.facts.len().min(FACTS_MAX)).collect();
        let deletions = std::mem::take(&mut self.deletions);
        let turns = self.turns.drain(..self.turns.len().min(TURNS_MAX)).collect();
        let folders = self.folders.split_off(self.folders.len().saturating_sub(TURNS_MAX));
        let batch = Batch { facts, deletions, log, emptied, turns, folders, rolls };
        (!batch.is_empty()).then_some(batch)
    }

    fn next_due(&self) -> Option<Instant> {
        self.sync_due().into_iter().chain(self.roll_due()).min()
    }
}

impl Batch {
    fn is_empty(&self) -> bool {
        let Self { facts, deletions, log, emptied, turns, folders, rolls } = self;
        let has_writes = !facts.is_empty() || !turns.is_empty() || !folders.is_empty();
        !has_writes && deletions.is_empty() && log.is_empty() && emptied.is_empty() && !rolls
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io;
    use std::sync::Arc;

    use super::*;
    use crate::error::Action;

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
        let mut waiting = Waiting { sync_after: second, ..Waiting::default() };
        assert!(waiting.grew(grown(&file), begin));
        for tenth in 1..10 {
            let at = begin + second / 10 * tenth;
            let channel = ChannelId::new(tenth.into());
            let (revision, content) = (Revision::new(1), Vec::new());
            waiting.facts.push(Write { channel, revision, content });
            assert!(!waiting.grew(grown(&file), at));
            let batch = waiting.take(at, false).unwrap();
            assert_eq!((batch.facts.len(), batch.log.len()), (1, 0), "after {tenth} tenths");
        }
        assert_eq!(waiting.next_due(), Some(begin + second));
        assert_eq!(waiting.take(begin + second, false).unwrap().log.len(), 1);
        assert_eq!(waiting.next_due(), None);
        assert!(waiting.take(begin + second * 9, false).is_none());
    }

    #[test]
    fn a_log_that_cannot_be_synced_ends_the_store_also_where_the_disk_is_full() {
        for kind in [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::Other]
        {
            let (queue, _given) = SyncQueue::new(Vec::new(), Duration::from_secs(3_600));
            let path = Path::new("turns-1.log");
            let error = StoreError::not_done(Action::Sync, path, kind.into());
            queue.note(&error, path);
            assert!(matches!(queue.check(), Err(StoreError::Broken { .. })), "{kind}");
        }
    }

    #[test]
    fn what_could_not_become_a_file_is_tried_again_after_a_while_without_a_new_turn() {
        let (queue, _given) = SyncQueue::new(Vec::new(), Duration::from_secs(3_600));
        queue.roll_again();
        let due = queue.look(|waiting| waiting.next_due()).unwrap();
        assert!(due <= now() + ROLL_AFTER);
        // The first failure says when.
        queue.roll_again();
        assert_eq!(queue.look(|waiting| waiting.next_due()), Some(due));
        assert!(queue.look(|waiting| waiting.take(now(), false)).is_none());
        assert!(queue.look(|waiting| waiting.take(due, false)).unwrap().rolls);
        assert_eq!(queue.look(|waiting| waiting.next_due()), None);
    }

    #[test]
    fn what_grew_twice_is_synced_once_as_it_is_now_and_nothing_rolls_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("turns-1.log");
        for (first, second) in [(true, false), (false, true)] {
            let mut waiting = Waiting::default();
            waiting.grew(Grown { is_new: first, length: 1, ..grown(&file) }, now());
            waiting.grew(Grown { is_new: second, length: 2, ..grown(&file) }, now());
            let batch = waiting.take(now() + ROLL_AFTER, true).unwrap();
            let [Grown { is_new, length, .. }] = batch.log[..] else { panic!() };
            assert_eq!((is_new, length, batch.rolls), (true, 2, false));
        }
    }

    /// A minute after it was begun it is closed, although its turns are synced later.
    #[test]
    fn the_thread_wakes_for_a_new_file_of_the_log_where_syncs_are_rare() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) =
            (folder.path().join("turns-1.log"), folder.path().join("turns-2.log"));
        let sync_after = Duration::from_secs(3_600);
        let (mut waiting, begin) = (Waiting { sync_after, ..Waiting::default() }, now());
        assert!(waiting.grew(grown(&first), begin));
        assert!(!waiting.grew(grown(&first), begin));
        assert!(waiting.grew(Grown { is_new: true, ..grown(&second) }, begin));
        assert_eq!(waiting.next_due(), Some(begin + ROLL_AFTER));
    }

    #[test]
    fn a_fact_or_a_deletion_takes_the_place_of_the_turn_that_waits() {
        let (queue, _given) = SyncQueue::new(Vec::new(), Duration::ZERO);
        let write = |channel| {
            let (revision, content) = (Revision::new(1), Vec::new());
            Write { channel: ChannelId::new(channel), revision, content }
        };
        (1..=3).for_each(|channel| queue.push_turn(write(channel)));
        queue.push_fact(write(1));
        queue.push_deletion(ChannelId::new(2));
        let batch = queue.look(|waiting| waiting.take(now(), false)).unwrap();
        let channels =
            |writes: &[Write]| writes.iter().map(|write| write.channel.get()).collect::<Vec<_>>();
        assert_eq!((channels(&batch.facts), channels(&batch.turns)), (vec![1], vec![3]));
        assert_eq!(batch.deletions, [ChannelId::new(2)]);
    }
}
