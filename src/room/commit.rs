//! Tracks which state of a room is stored, which is being stored, and which comes next.

pub(crate) mod buffers;
pub(crate) mod news;

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::Timestamp;

use self::buffers::{BufferPool, Buffers, Returned};
use self::news::{Announcement, News};
use super::attempts::{Attempts, Failure};
use super::refused::{Refusals, is_refusal};
use crate::ports::store::Durability;
use crate::record::channel::{Revision, Writer};
use crate::values::error::Certainty;

/// The wait after a failed commit. It doubles up to [`WAIT_MAX`].
const WAIT: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Counts the changes of a room's record. An action names the stamp that must be committed before it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

/// The stored state of a room. One commit is in progress at a time, and it takes the newest state.
#[derive(Debug)]
pub(crate) struct CommitState {
    changed: Stamp,
    committed: Stamp,
    /// The store's revision of the committed state.
    stored: Revision,
    /// The machine's revision that `changed` includes.
    machine: u64,
    durability: Durability,
    attempts: Attempts,
    under_way: Option<UnderWay>,
    /// `true` if an attempt without an answer may have stored its record.
    is_doubtful: bool,
    /// The refusals of the record as it is. The store has accepted none since.
    pub(crate) refused: Refusals,
    /// A conflict after such an attempt. The store is read to find out which process wrote its record.
    read_back: ReadBack,
    taken_over: bool,
    /// `true` if the record is damaged, and the next commit replaces it.
    replaces_damaged: bool,
    writer: Writer,
    /// The count of the newest commit that surely succeeded.
    written: u64,
    /// The transitions for listeners and for the store's history, each with its state.
    pub(super) news: News,
    pub(super) returned: Returned,
}

/// Says whether the store is read to find out which process wrote its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadBack {
    No,
    Wanted,
    UnderWay,
}

#[derive(Debug)]
struct UnderWay {
    stamp: Stamp,
    durability: Durability,
    /// The state up to which the history reached before.
    in_history: Stamp,
    buffers: Buffers,
}

/// The data that the runtime needs for a commit besides the record.
#[derive(Debug)]
pub(crate) struct CommitTerms {
    pub(crate) expected: Revision,
    pub(crate) durability: Durability,
    pub(crate) writer: Writer,
    pub(crate) replaces_damaged: bool,
    /// The buffers. They contain the transitions, and the record is written into them.
    pub(crate) buffers: Buffers,
}

impl CommitState {
    pub(crate) fn new(stored: Revision, machine: u64, process: u64) -> Self {
        Self {
            changed: Stamp(0),
            committed: Stamp(0),
            stored,
            machine,
            durability: Durability::Turn,
            attempts: Attempts::default(),
            under_way: None,
            is_doubtful: false,
            refused: Refusals::default(),
            read_back: ReadBack::No,
            taken_over: false,
            replaces_damaged: false,
            writer: Writer { process, count: 0 },
            written: 0,
            news: News::default(),
            returned: Returned::default(),
        }
    }

    pub(crate) const fn newest(&self) -> Stamp {
        self.changed
    }

    pub(crate) fn is_committed(&self, stamp: Stamp) -> bool {
        self.committed >= stamp
    }

    pub(crate) fn is_clean(&self) -> bool {
        self.committed == self.changed
    }

    pub(crate) const fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// Lets the next commit replace a damaged record. `sound` is its revision, if the store considers it intact.
    pub(crate) const fn replace_damaged(&mut self, sound: Option<Revision>) {
        self.replaces_damaged = true;
        if let Some(revision) = sound {
            self.stored = revision;
        }
    }

    /// Returns whether the stored record is still the damaged one.
    pub(crate) const fn is_damaged(&self) -> bool {
        self.replaces_damaged
    }

    pub(crate) fn stored(&self) -> Option<Revision> {
        (self.stored != Revision::default()).then_some(self.stored)
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.is_some() || self.read_back == ReadBack::UnderWay
    }

    /// Returns when the next attempt may be made, if that time lies ahead and there is something to store.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let waits = !self.is_clean() && !self.is_under_way();
        self.attempts.next_at().max(self.refused.next_at(self.changed)).filter(|_| waits)
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.attempts.is_due(now)
            && self.refused.next_at(self.changed).is_none_or(|until| until <= now)
    }

    /// Returns whether a driver that ends need not wait for a commit. This is so if another process has the channel, or
    /// if the record was refused and is not tried again for up to an hour.
    pub(crate) fn is_given_up(&self) -> bool {
        self.taken_over || (self.refused.next_at(self.changed).is_some() && !self.is_under_way())
    }

    pub(crate) fn change(&mut self) {
        self.changed.0 += 1;
    }

    /// Records a change that must be on the disk before its call returns.
    pub(crate) fn change_for_good(&mut self) {
        self.change();
        self.durability = Durability::Fact;
        self.retry_now();
    }

    /// Tries a refused record at once, because the change may have made it acceptable.
    pub(crate) fn retry_now(&mut self) {
        self.refused.retry_now();
    }

    pub(crate) fn try_now(&mut self) {
        self.attempts = Attempts::default();
    }

    /// Returns the next news for listeners, only about stored states.
    pub(crate) fn next_news(&mut self) -> Option<Announcement> {
        self.news.next(self.committed)
    }

    pub(crate) fn has_news(&self) -> bool {
        self.news.is_due(self.committed)
    }

    /// Records a change of the machine, if there was one.
    pub(crate) fn observe(&mut self, machine: u64) {
        if self.machine != machine {
            self.machine = machine;
            self.change();
        }
    }

    /// Begins a commit, if one is due. It counts as in progress until its result arrives. `history_max` is the number
    /// of transitions that the store keeps.
    pub(crate) fn begin(
        &mut self,
        now: Timestamp,
        history_max: usize,
        pool: &mut BufferPool,
    ) -> Option<CommitTerms> {
        // In doubt nothing is stored, because the store may hold our own record under an unknown revision.
        let is_free = self.under_way.is_none() && self.read_back == ReadBack::No;
        let may = !self.taken_over && !self.is_clean() && is_free;
        if !may || !self.is_due(now) {
            return None;
        }
        self.writer.count += 1;
        let durability = std::mem::replace(&mut self.durability, Durability::Turn);
        let mut buffers = pool.take();
        self.news.write(Arc::make_mut(&mut buffers.transitions), history_max);
        Some(CommitTerms {
            expected: self.stored,
            durability,
            writer: self.writer,
            // With the revision of a sound record the store compares as usual.
            replaces_damaged: self.replaces_damaged && self.stored().is_none(),
            buffers,
        })
    }

    /// Records that the commit is in progress. The room keeps a share of the store's buffers, and takes them back when
    /// the store is done with them.
    pub(crate) fn sent(&mut self, durability: Durability, buffers: Buffers) {
        let stamp = self.changed;
        let in_history = self.news.written_up_to(stamp);
        self.under_way = Some(UnderWay { stamp, durability, in_history, buffers });
    }

    /// Returns whether to read the store, to find out which process wrote its record.
    pub(crate) fn begin_read_back(&mut self, now: Timestamp) -> bool {
        let begins = self.read_back == ReadBack::Wanted && self.is_due(now);
        if begins {
            self.read_back = ReadBack::UnderWay;
        }
        begins
    }

    pub(crate) fn committed(&mut self, revision: Revision) {
        if let Some(UnderWay { stamp, buffers, .. }) = self.under_way.take() {
            self.committed = stamp;
            self.returned.stored(buffers);
        }
        self.stored = revision;
        self.written = self.writer.count;
        self.attempts = Attempts::default();
        self.is_doubtful = false;
        self.refused.end();
        self.replaces_damaged = false;
    }

    /// Records that the store has another revision. It is another process's, or that of our attempt without an answer.
    pub(crate) fn conflict(&mut self) {
        // The record may be our own: an attempt whose answer was lost has then succeeded. Only the store can say.
        self.put_back(true);
        if self.is_doubtful {
            self.read_back = ReadBack::Wanted;
            self.attempts = Attempts::default();
        } else {
            self.taken_over = true;
        }
    }

    /// Records that the channel belongs to another process, whatever an earlier attempt has stored.
    pub(crate) fn fenced(&mut self) {
        // A lost answer does not matter here. The lease is another process's, whatever was stored.
        self.put_back(true);
        self.taken_over = true;
    }

    /// Handles the record that the store has after a conflict.
    pub(crate) fn read_back(&mut self, found: Option<(Revision, Option<Writer>)>) {
        self.read_back = ReadBack::No;
        let ours = found.filter(|(revision, writer)| {
            *revision == self.stored.next()
                // "The next revision" alone is not enough, because another process may have stored it. The writer must
                // be this process, and the commit a newer one than the last that surely succeeded.
                && writer.is_some_and(|writer| {
                    writer.process == self.writer.process && writer.count > self.written
                })
        });
        match ours {
            Some((revision, _)) => {
                self.stored = revision;
                self.is_doubtful = false;
                self.refused.end();
                self.attempts = Attempts::default();
            }
            None => self.taken_over = true,
        }
    }

    /// Records that the commit, or the read after a conflict, failed. It is tried again.
    pub(crate) fn failed(&mut self, now: Timestamp, failure: &Failure) {
        let is_refusal = is_refusal(failure.kind);
        // The refusal may be for the transitions, so they are not offered again.
        let stamp = self.put_back(!is_refusal);
        if self.read_back == ReadBack::UnderWay {
            self.read_back = ReadBack::Wanted;
        } else {
            self.is_doubtful |= failure.certainty == Certainty::Unknown;
        }
        if is_refusal {
            // A refusal waits up to an hour. The short waits of a store that is away would retry it all the time.
            self.attempts = Attempts::default();
            self.refused.again(now, stamp, self.changed);
        } else {
            self.attempts.back_off_between(now, failure.retry_after, WAIT, WAIT_MAX);
        }
    }

    /// Puts the state of a commit back, so that the next commit takes it with the same durability. Returns its stamp.
    fn put_back(&mut self, transitions: bool) -> Option<Stamp> {
        let failed = self.under_way.take()?;
        // The next commit may be an ordinary one. The fact must still reach the disk with it.
        if failed.durability == Durability::Fact {
            self.durability = Durability::Fact;
        }
        if transitions {
            self.news.written_up_to(failed.in_history);
        }
        self.returned.refused(failed.buffers);
        Some(failed.stamp)
    }

    /// Stops storing and reporting, because another process has the channel.
    pub(crate) fn abandon(&mut self) {
        self.taken_over = true;
        self.news.clear();
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        self.refused.move_back(by);
    }
}

#[cfg(test)]
mod tests;
