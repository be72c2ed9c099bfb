//! What of a room is stored, and what is to be stored next.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{Timestamp, Transition};

use super::attempts::{Attempts, Failure};
use crate::store::Writer;
use crate::{Certainty, Durability, ErrorKind, Revision};

/// The wait after a failed commit; doubles up to [`WAIT_MAX`].
const WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts at the store.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// The wait after an error that a repetition of the same record would meet again.
const WAIT_HOPELESS: Duration = Duration::from_secs(60);

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
    /// A conflict after such an attempt: the store is read to find out whose record it holds.
    read_back: ReadBack,
    /// Another process has the channel now.
    taken_over: bool,
    /// The record is damaged, and the next commit takes its place.
    replaces_damaged: bool,
    writer: Writer,
    /// The count of the newest commit that surely succeeded.
    written: u64,
    /// Transitions for the history that no commit has taken.
    transitions: VecDeque<Transition>,
    /// Transitions that listeners are told once their state is stored.
    unpublished: VecDeque<(Stamp, Transition)>,
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
    transitions: Vec<Transition>,
}

/// What the runtime needs for a commit beside the record.
#[derive(Debug)]
pub(crate) struct CommitTerms {
    pub(crate) expected: Revision,
    pub(crate) durability: Durability,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) writer: Writer,
    pub(crate) replaces_damaged: bool,
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
            read_back: ReadBack::No,
            taken_over: false,
            replaces_damaged: false,
            writer: Writer { process, count: 0 },
            written: 0,
            transitions: VecDeque::new(),
            unpublished: VecDeque::new(),
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
        (!self.is_unstored()).then_some(self.stored)
    }

    /// Whether the channel has never been stored.
    pub(crate) fn is_unstored(&self) -> bool {
        self.stored == Revision::default()
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way.is_some() || self.read_back == ReadBack::UnderWay
    }

    /// When the next attempt may be made, where that lies ahead and there is something to store.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let waits = !self.is_clean() && !self.is_under_way();
        self.attempts.next_at().filter(|_| waits)
    }

    /// Something changed that the record holds.
    pub(crate) const fn change(&mut self) {
        self.changed.0 += 1;
    }

    /// The same, to be on the disk before the call that caused it returns.
    pub(crate) const fn change_for_good(&mut self) {
        self.change();
        self.durability = Durability::Fact;
    }

    /// Counts a change of the machine, if there was one.
    pub(crate) const fn observe(&mut self, machine: u64) {
        if self.machine != machine {
            self.machine = machine;
            self.change();
        }
    }

    /// A transition of the newest state, for the history and for listeners. Of the history's the oldest goes first.
    pub(crate) fn record(&mut self, transition: Transition, history_max: usize) {
        self.unpublished.push_back((self.changed, transition));
        self.transitions.push_back(transition);
        while self.transitions.len() > history_max {
            self.transitions.pop_front();
        }
    }

    /// The next transition whose state is stored.
    pub(crate) fn next_published(&mut self) -> Option<Transition> {
        let (stamp, _) = self.unpublished.front()?;
        if !self.is_committed(*stamp) {
            return None;
        }
        let (_, transition) = self.unpublished.pop_front()?;
        if self.unpublished.is_empty() {
            // A channel that talks waits most of the time: it keeps no room for what comes then.
            self.unpublished = VecDeque::new();
        }
        Some(transition)
    }

    /// Begins a commit, if one is due. It counts as under way until its result is told.
    pub(crate) fn begin(&mut self, now: Timestamp) -> Option<CommitTerms> {
        let is_free = self.under_way.is_none() && self.read_back == ReadBack::No;
        let may = !self.taken_over && !self.is_clean() && is_free;
        if !may || !self.attempts.is_due(now) {
            return None;
        }
        self.writer.count += 1;
        let durability = std::mem::replace(&mut self.durability, Durability::Turn);
        let transitions = Vec::from(std::mem::take(&mut self.transitions));
        let terms = CommitTerms {
            expected: self.stored,
            durability,
            transitions: transitions.clone(),
            writer: self.writer,
            replaces_damaged: self.replaces_damaged && self.is_unstored(),
        };
        self.under_way = Some(UnderWay { stamp: self.changed, durability, transitions });
        Some(terms)
    }

    /// Whether the store is to be read, to find out whose record it holds.
    pub(crate) fn begin_read_back(&mut self, now: Timestamp) -> bool {
        let begins = self.read_back == ReadBack::Wanted && self.attempts.is_due(now);
        if begins {
            self.read_back = ReadBack::UnderWay;
        }
        begins
    }

    /// The commit under way succeeded.
    pub(crate) fn committed(&mut self, revision: Revision) {
        if let Some(done) = self.under_way.take() {
            self.committed = done.stamp;
        }
        self.stored = revision;
        self.written = self.writer.count;
        self.attempts = Attempts::default();
        self.is_doubtful = false;
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
                self.attempts = Attempts::default();
            }
            None => self.taken_over = true,
        }
    }

    /// The commit, or the read after a conflict, failed. It is tried again.
    pub(crate) fn failed(&mut self, now: Timestamp, failure: &Failure) {
        let hopeless = matches!(failure.kind, ErrorKind::Invalid | ErrorKind::Unsupported);
        self.put_back(!hopeless);
        if self.read_back == ReadBack::UnderWay {
            self.read_back = ReadBack::Wanted;
        } else {
            self.is_doubtful |= failure.certainty == Certainty::Unknown;
        }
        if hopeless {
            self.attempts.wait_until(now + WAIT_HOPELESS);
        } else {
            self.attempts.back_off_between(now, failure.retry_after, WAIT, WAIT_MAX);
        }
    }

    /// What was taken is to be taken again, to survive as much.
    fn put_back(&mut self, transitions: bool) {
        let Some(failed) = self.under_way.take() else {
            return;
        };
        if failed.durability == Durability::Fact {
            self.durability = Durability::Fact;
        }
        if transitions {
            for transition in failed.transitions.into_iter().rev() {
                self.transitions.push_front(transition);
            }
        }
    }

    /// Another process has the channel: nothing is stored or told any more.
    pub(crate) fn abandon(&mut self) {
        self.taken_over = true;
        self.unpublished.clear();
        self.transitions.clear();
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Cause, PhaseKind, TurnId};

    use super::*;

    #[test]
    fn of_the_history_the_oldest_goes_first_also_while_the_store_fails() {
        let now = Timestamp::from_millis(1);
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        let (from, to) = (PhaseKind::Dormant, PhaseKind::Granted);
        let record = |commit: &mut CommitState, numbers: std::ops::Range<u64>| {
            for number in numbers {
                commit.change();
                let (at, turn, cause) = (now, TurnId::new(number), Cause::HumanMessage);
                commit.record(Transition { at, from, to, agent: None, turn, cause }, 3);
            }
        };
        let turns = |terms: &CommitTerms| -> Vec<u64> {
            terms.transitions.iter().map(|transition| transition.turn.get()).collect()
        };
        record(&mut commit, 0..5);
        let terms = commit.begin(now).unwrap();
        assert_eq!(turns(&terms), [2, 3, 4]);
        let (kind, certainty) = (ErrorKind::Store, Certainty::NotDone);
        commit.failed(now, &Failure { kind, certainty, retry_after: None, began: now });
        record(&mut commit, 5..7);
        let terms = commit.begin(now + WAIT_MAX).unwrap();
        assert_eq!(turns(&terms), [4, 5, 6]);
    }
}
