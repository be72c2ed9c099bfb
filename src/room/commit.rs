//! What of a room is stored, and what is to be stored next.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{Timestamp, Transition};

use super::attempts::{Attempts, Failure};
use super::refused::{Refused, is_refusal};
use crate::store::Writer;
use crate::{Certainty, Durability, Revision};

/// The wait after a failed commit; doubles up to [`WAIT_MAX`].
const WAIT: Duration = Duration::from_millis(100);
/// The longest wait between two attempts at the store.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// How many transitions wait at most until their state is stored and listeners are told.
const UNPUBLISHED_MAX: usize = 256;

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
    refused: Option<Refused>,
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
    /// How many older ones were dropped, since the store takes nothing: listeners are told the number.
    dropped: u64,
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
            refused: None,
            read_back: ReadBack::No,
            taken_over: false,
            replaces_damaged: false,
            writer: Writer { process, count: 0 },
            written: 0,
            transitions: VecDeque::new(),
            unpublished: VecDeque::new(),
            dropped: 0,
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

    /// Since when the store has refused the record as it is, and taken none.
    pub(crate) fn refused_since(&self) -> Option<Timestamp> {
        self.refused.map(|refused| refused.since())
    }

    /// When the next attempt may be made, where that lies ahead and there is something to store.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let waits = !self.is_clean() && !self.is_under_way();
        self.attempts.next_at().max(self.refused_until()).filter(|_| waits)
    }

    /// Until when a record that was refused is not tried again.
    fn refused_until(&self) -> Option<Timestamp> {
        self.refused.and_then(|refused| refused.next_at(self.changed))
    }

    fn is_due(&self, now: Timestamp) -> bool {
        self.attempts.is_due(now) && self.refused_until().is_none_or(|until| until <= now)
    }

    /// Whether a driver that ends waits for nothing more to be stored: another process has the channel, or the record
    /// was refused and is not tried again for up to an hour.
    pub(crate) fn is_given_up(&self) -> bool {
        self.taken_over || (self.refused_until().is_some() && !self.is_under_way())
    }

    /// Something changed that the record holds.
    pub(crate) fn change(&mut self) {
        self.changed.0 += 1;
    }

    /// The same, to be on the disk before the call that caused it returns.
    pub(crate) fn change_for_good(&mut self) {
        self.change();
        self.durability = Durability::Fact;
        self.hurry();
    }

    /// A record that was refused is tried at once: what was done may have made it one that the store takes.
    pub(crate) const fn hurry(&mut self) {
        if let Some(refused) = &mut self.refused {
            refused.hurry();
        }
    }

    /// Counts a change of the machine, if there was one.
    pub(crate) fn observe(&mut self, machine: u64) {
        if self.machine != machine {
            self.machine = machine;
            self.change();
        }
    }

    /// A transition of the newest state, for the history and for listeners. Of both the oldest goes first.
    pub(crate) fn record(&mut self, transition: Transition, history_max: usize) {
        if self.unpublished.len() >= UNPUBLISHED_MAX {
            self.unpublished.pop_front();
            self.dropped += 1;
        }
        self.unpublished.push_back((self.changed, transition));
        self.transitions.push_back(transition);
        while self.transitions.len() > history_max {
            self.transitions.pop_front();
        }
    }

    /// How many transitions were dropped before the next one whose state is stored.
    pub(crate) fn take_dropped(&mut self) -> Option<u64> {
        let (stamp, _) = self.unpublished.front()?;
        let is_told = self.dropped > 0 && self.is_committed(*stamp);
        is_told.then(|| std::mem::take(&mut self.dropped))
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
        if !may || !self.is_due(now) {
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
        let begins = self.read_back == ReadBack::Wanted && self.is_due(now);
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
        (self.is_doubtful, self.refused) = (false, None);
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
                (self.is_doubtful, self.refused) = (false, None);
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
            let stamp = stamp.or(self.refused.map(|refused| refused.stamp()));
            let stamp = stamp.unwrap_or(self.changed);
            self.attempts = Attempts::default();
            self.refused = Some(Refused::again(self.refused, now, stamp));
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
            for transition in failed.transitions.into_iter().rev() {
                self.transitions.push_front(transition);
            }
        }
        Some(failed.stamp)
    }

    /// Another process has the channel: nothing is stored or told any more.
    pub(crate) fn abandon(&mut self) {
        self.taken_over = true;
        self.unpublished.clear();
        self.dropped = 0;
        self.transitions.clear();
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        if let Some(refused) = &mut self.refused {
            refused.move_back(by);
        }
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Cause, PhaseKind, TurnId};

    use super::*;
    use crate::ErrorKind;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn record(commit: &mut CommitState, numbers: std::ops::Range<u64>, history_max: usize) {
        let (from, to) = (PhaseKind::Dormant, PhaseKind::Granted);
        for number in numbers {
            commit.change();
            let (at, turn, cause) = (NOW, TurnId::new(number), Cause::HumanMessage);
            commit.record(Transition { at, from, to, agent: None, turn, cause }, history_max);
        }
    }

    fn failure(kind: ErrorKind) -> Failure {
        Failure { kind, certainty: Certainty::NotDone, retry_after: None, began: NOW }
    }

    #[test]
    fn of_the_history_the_oldest_goes_first_also_while_the_store_fails() {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        let turns = |terms: &CommitTerms| -> Vec<u64> {
            terms.transitions.iter().map(|transition| transition.turn.get()).collect()
        };
        record(&mut commit, 0..5, 3);
        let terms = commit.begin(NOW).unwrap();
        assert_eq!(turns(&terms), [2, 3, 4]);
        commit.failed(NOW, &failure(ErrorKind::Store));
        record(&mut commit, 5..7, 3);
        let terms = commit.begin(NOW + WAIT_MAX).unwrap();
        assert_eq!(turns(&terms), [4, 5, 6]);
    }

    #[test]
    fn while_the_store_fails_listeners_are_owed_the_newest_transitions_and_the_number_of_the_others()
     {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        record(&mut commit, 0..1_000, 3);
        assert_eq!(commit.unpublished.len(), UNPUBLISHED_MAX);
        assert_eq!((commit.take_dropped(), commit.next_published()), (None, None), "not stored");
        commit.begin(NOW).unwrap();
        commit.committed(Revision::new(1));
        let kept = u64::try_from(UNPUBLISHED_MAX).unwrap();
        assert_eq!(commit.take_dropped(), Some(1_000 - kept));
        assert_eq!(commit.take_dropped(), None, "once");
        let told = std::iter::from_fn(|| commit.next_published());
        let told: Vec<u64> = told.map(|transition| transition.turn.get()).collect();
        assert_eq!(told, (1_000 - kept..1_000).collect::<Vec<_>>());
    }

    #[test]
    fn a_refused_record_is_tried_less_and_less_often_sooner_if_it_changed_and_at_once_after_a_command()
     {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        commit.change();
        let mut now = NOW;
        let minute = Duration::from_secs(60);
        for minutes in [1, 2, 4, 8, 16, 32, 60, 60] {
            commit.begin(now).unwrap();
            commit.failed(now, &failure(ErrorKind::Invalid));
            assert_eq!(commit.next_at(), Some(now + minute * minutes));
            now = now + minute * minutes;
        }
        commit.change();
        assert!(commit.begin(now).is_some());
        commit.change();
        commit.failed(now, &failure(ErrorKind::Invalid));
        assert_eq!(commit.next_at(), Some(now + minute * 10), "it has changed since");
        now = now + minute * 10;
        assert_eq!(commit.refused_since(), Some(NOW));
        commit.begin(now).unwrap();
        commit.failed(now, &failure(ErrorKind::Invalid));
        assert!(commit.begin(now).is_none());
        commit.change_for_good();
        commit.change();
        commit.begin(now).unwrap();
        commit.committed(Revision::new(1));
        assert_eq!(commit.refused_since(), None);
    }

    #[test]
    fn only_by_an_operators_act_a_commit_takes_the_place_of_a_damaged_record() {
        let terms = |damaged: Option<Option<Revision>>| {
            let mut commit = CommitState::new(Revision::default(), 0, 7);
            if let Some(sound) = damaged {
                commit.replace_damaged(sound);
            }
            commit.change();
            commit.begin(NOW).map(|terms| (terms.expected, terms.replaces_damaged)).unwrap()
        };
        assert_eq!(terms(None), (Revision::default(), false), "a new channel");
        assert_eq!(terms(Some(None)), (Revision::default(), true));
        let sound = Revision::new(4);
        assert_eq!(terms(Some(Some(sound))), (sound, false), "the store takes it for a sound one");
    }

    #[test]
    fn a_change_of_a_refused_record_moves_no_other_wait() {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        commit.change();
        commit.begin(NOW).unwrap();
        commit.failed(NOW, &failure(ErrorKind::Invalid));
        let now = NOW + Duration::from_secs(60);
        commit.begin(now).unwrap();
        commit.failed(now, &failure(ErrorKind::Store));
        commit.change();
        assert_eq!(
            commit.next_at(),
            Some(now + WAIT),
            "not at once, and not when the refusal says"
        );

        let now = now + WAIT;
        commit.begin(now).unwrap();
        commit.failed(now, &Failure { certainty: Certainty::Unknown, ..failure(ErrorKind::Store) });
        let now = now + WAIT_MAX;
        commit.begin(now).unwrap();
        commit.conflict();
        commit.change();
        assert!(commit.begin_read_back(now), "whose record it is, is found out at once");
    }

    #[test]
    fn a_driver_that_ends_waits_for_no_record_that_is_refused() {
        let mut commit = CommitState::new(Revision::default(), 0, 7);
        commit.change();
        commit.begin(NOW).unwrap();
        commit.failed(NOW, &failure(ErrorKind::Invalid));
        assert!(commit.is_given_up());
        commit.hurry();
        assert!(!commit.is_given_up());
        commit.begin(NOW).unwrap();
        assert!(!commit.is_given_up());
        commit.failed(NOW, &failure(ErrorKind::Store));
        assert!(!commit.is_given_up(), "a failure that passes is waited for");
    }
}
