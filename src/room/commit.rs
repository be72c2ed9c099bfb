//! What of a room is stored, and what is to be stored next.

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

/// The wait after a failed commit; doubles up to [`WAIT_MAX`].
const WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts at the store.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// Counts the changes of what a room's record holds. An action names the stamp that must be committed
/// before it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

/// What is stored of a room: one commit is under way at a time, and takes the newest state.
#[derive(Debug)]
pub(crate) struct CommitState {
    changed: Stamp,
    committed: Stamp,
    /// The store's revision of what is committed.
    stored: Revision,
    /// The machine's revision that `changed` takes into account.
    machine: u64,
    durability: Durability,
    attempts: Attempts,
    under_way: Option<UnderWay>,
    /// The record of an attempt whose answer was lost may be what is stored now.
    is_doubtful: bool,
    /// The store has refused the record as it is, and has taken none since.
    pub(crate) refused: Refusals,
    /// A conflict after such an attempt: the store is read to find out whose record it holds.
    read_back: ReadBack,
    /// Another process has the channel now.
    taken_over: bool,
    /// The record is damaged, and the next commit takes its place.
    replaces_damaged: bool,
    writer: Writer,
    /// The count of the newest commit that surely succeeded.
    written: u64,
    /// What listeners are told, and the store's history gets, with the state of each.
    pub(super) news: News,
    /// What commits handed to the store, for the next one.
    pub(super) returned: Returned,
}

/// Whether the store is read to find out whose record it holds.
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
    /// Up to where the history reached before.
    in_history: Stamp,
    /// What the store was given.
    buffers: Buffers,
}

/// What the runtime needs for a commit beside the record.
#[derive(Debug)]
pub(crate) struct CommitTerms {
    pub(crate) expected: Revision,
    pub(crate) durability: Durability,
    pub(crate) writer: Writer,
    pub(crate) replaces_damaged: bool,
    /// The transitions are in them; the record is to be written into them.
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

    /// The stamp of the newest state.
    pub(crate) const fn newest(&self) -> Stamp {
        self.changed
    }

    pub(crate) fn is_committed(&self, stamp: Stamp) -> bool {
        self.committed >= stamp
    }

    /// Whether everything is stored.
    pub(crate) fn is_clean(&self) -> bool {
        self.committed == self.changed
    }

    pub(crate) const fn is_taken_over(&self) -> bool {
        self.taken_over
    }

    /// The next commit takes the place of a damaged record. `sound`: its revision, where the store takes
    /// it for a sound one.
    pub(crate) const fn replace_damaged(&mut self, sound: Option<Revision>) {
        self.replaces_damaged = true;
        if let Some(revision) = sound {
            self.stored = revision;
        }
    }

    /// Whether what is stored is still the damaged record.
    pub(crate) const fn is_damaged(&self) -> bool {
        self.replaces_damaged
    }

    /// The revision of what is stored, if there is any.
    pub(crate) fn stored(&self) -> Option<Revision> {
        (self.stored != Revision::default()).then_some(self.stored)
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.is_some() || self.read_back == ReadBack::UnderWay
    }

    /// When the next attempt may be made, where that lies ahead and there is something to store.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let waits = !self.is_clean() && !self.is_under_way();
        self.attempts.next_at().max(self.refused.next_at(self.changed)).filter(|_| waits)
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.attempts.is_due(now)
            && self.refused.next_at(self.changed).is_none_or(|until| until <= now)
    }

    /// Whether a driver that ends waits for nothing more to be stored: another process has the channel, or the record
    /// was refused and is not tried again for up to an hour.
    pub(crate) fn is_given_up(&self) -> bool {
        self.taken_over || (self.refused.next_at(self.changed).is_some() && !self.is_under_way())
    }

    /// Something changed that the record holds.
    pub(crate) fn change(&mut self) {
        self.changed.0 += 1;
    }

    /// The same, to be on the disk before the call that caused it returns.
    pub(crate) fn change_for_good(&mut self) {
        self.change();
        self.durability = Durability::Fact;
        self.retry_now();
    }

    /// A record that was refused is tried at once: what was done may have made it one that the store takes.
    pub(crate) fn retry_now(&mut self) {
        self.refused.retry_now();
    }

    /// An attempt that failed is repeated at once.
    pub(crate) fn try_now(&mut self) {
        self.attempts = Attempts::default();
    }

    /// What listeners are told next: only of what is stored.
    pub(crate) fn next_news(&mut self) -> Option<Announcement> {
        self.news.next(self.committed)
    }

    /// Whether there is any.
    pub(crate) fn has_news(&self) -> bool {
        self.news.is_due(self.committed)
    }

    /// Counts a change of the machine, if there was one.
    pub(crate) fn observe(&mut self, machine: u64) {
        if self.machine != machine {
            self.machine = machine;
            self.change();
        }
    }

    /// Begins a commit, if one is due. It counts as under way until its result arrives. `history_max`: how many
    /// transitions the store keeps.
    pub(crate) fn begin(
        &mut self,
        now: Timestamp,
        history_max: usize,
        pool: &mut BufferPool,
    ) -> Option<CommitTerms> {
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
            replaces_damaged: self.replaces_damaged && self.stored().is_none(),
            buffers,
        })
    }

    /// The commit is under way. The room keeps a share of what the store is given, and takes it back when the
    /// store is done with it.
    pub(crate) fn sent(&mut self, durability: Durability, buffers: Buffers) {
        let stamp = self.changed;
        let in_history = self.news.written_up_to(stamp);
        self.under_way = Some(UnderWay { stamp, durability, in_history, buffers });
    }

    /// Whether the store is to be read, to find out whose record it holds.
    pub(crate) fn begin_read_back(&mut self, now: Timestamp) -> bool {
        let begins = self.read_back == ReadBack::Wanted && self.is_due(now);
        if begins {
            self.read_back = ReadBack::UnderWay;
        }
        begins
    }

    /// The commit under way succeeded.
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

    /// The store holds another revision: another process's, or that of an attempt of ours whose answer
    /// was lost.
    pub(crate) fn conflict(&mut self) {
        self.put_back(true);
        if self.is_doubtful {
            self.read_back = ReadBack::Wanted;
            self.attempts = Attempts::default();
        } else {
            self.taken_over = true;
        }
    }

    /// The channel is another process's, whatever an earlier attempt has stored.
    pub(crate) fn fenced(&mut self) {
        self.put_back(true);
        self.taken_over = true;
    }

    /// What the store holds after a conflict.
    pub(crate) fn read_back(&mut self, found: Option<(Revision, Option<Writer>)>) {
        self.read_back = ReadBack::No;
        let ours = found.filter(|(revision, writer)| {
            *revision == self.stored.next()
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

    /// The commit, or the read after a conflict, failed. It is tried again.
    pub(crate) fn failed(&mut self, now: Timestamp, failure: &Failure) {
        let is_refusal = is_refusal(failure.kind);
        let stamp = self.put_back(!is_refusal);
        if self.read_back == ReadBack::UnderWay {
            self.read_back = ReadBack::Wanted;
        } else {
            self.is_doubtful |= failure.certainty == Certainty::Unknown;
        }
        if is_refusal {
            self.attempts = Attempts::default();
            self.refused.again(now, stamp, self.changed);
        } else {
            self.attempts.back_off_between(now, failure.retry_after, WAIT, WAIT_MAX);
        }
    }

    /// What was taken is to be taken again, to survive as much. Returns which state it was.
    fn put_back(&mut self, transitions: bool) -> Option<Stamp> {
        let failed = self.under_way.take()?;
        if failed.durability == Durability::Fact {
            self.durability = Durability::Fact;
        }
        if transitions {
            self.news.written_up_to(failed.in_history);
        }
        self.returned.refused(failed.buffers);
        Some(failed.stamp)
    }

    /// Another process has the channel: nothing is stored or told any more.
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
