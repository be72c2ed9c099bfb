//! Message ids and runs that were seen before, so that a repetition has no effect.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::state::in_place::clone_in_place;
use crate::{MessageId, RunId};

/// The most message ids that are remembered one by one.
pub(crate) const MESSAGES_MAX: usize = 256;
pub(crate) const RUNS_MAX: usize = 32;

/// The recent message ids and runs. An idle channel has forgotten all of them except two numbers.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Seen::default().newest, None);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Seen {
    /// The horizon: every message up to here counts as seen, unless it was read late from the history.
    pub horizon: Option<MessageId>,
    /// The newest message, of any author.
    pub newest: Option<MessageId>,
    /// The ids and runs that are remembered one by one, or `None` if all were forgotten.
    pub recent: Option<Box<Recent>>,
}

/// The ids and runs that are remembered one by one.
///
/// ```
/// assert!(dirigent_core::snapshot::Recent::default().messages.is_empty());
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Recent {
    /// Message ids, ascending; at most 256.
    pub messages: Vec<MessageId>,
    /// Runs that can no longer speak.
    pub runs: Runs,
}

/// Runs that can no longer speak, oldest first; at most 32.
///
/// ```
/// use dirigent_core::RunId;
/// use dirigent_core::snapshot::{RunFate, Runs};
/// let runs = Runs::from(vec![(RunId::new(1), RunFate::Ended)]);
/// assert_eq!(runs.as_slice(), [(RunId::new(1), RunFate::Ended)]);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Runs {
    known: Vec<(RunId, RunFate)>,
    /// The lowest byte of each id. Most of the runs that the machine looks up are unknown, and these bytes show that in
    /// a few instructions. That pays, because a gate call and the end of its run look one up each.
    marks: [u8; RUNS_MAX],
}

clone_in_place! { Runs { known, marks } }

impl From<Vec<(RunId, RunFate)>> for Runs {
    fn from(known: Vec<(RunId, RunFate)>) -> Self {
        let mut marks = [0; RUNS_MAX];
        marks.iter_mut().zip(&known).for_each(|(known, (run, _))| *known = mark(*run));
        Self { known, marks }
    }
}

/// Returns the byte that tells most runs apart.
const fn mark(run: RunId) -> u8 {
    run.get().to_le_bytes()[0]
}

/// The reason why a run can no longer speak.
///
/// ```
/// use dirigent_core::snapshot::RunFate;
/// assert_ne!(RunFate::Denied, RunFate::Ended);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunFate {
    /// It was denied.
    Denied,
    /// It ended, was replaced, or was cancelled.
    Ended,
}

impl Runs {
    /// Returns each run with its fate.
    pub fn as_slice(&self) -> &[(RunId, RunFate)] {
        &self.known
    }

    #[inline]
    fn fate(&self, run: RunId) -> Option<RunFate> {
        // The loop has no branch, so that the compiler can compare many bytes at once.
        let mut may_be_known = false;
        for known in &self.marks {
            may_be_known |= *known == mark(run);
        }
        if !may_be_known {
            return None;
        }
        self.known.iter().find(|(known, _)| *known == run).map(|(_, fate)| *fate)
    }

    /// Remembers the fate of a run. The newest fate counts, and the run becomes the newest.
    #[inline]
    fn remember(&mut self, run: RunId, fate: RunFate) {
        match self.fate(run) {
            Some(known) if known == fate => return,
            Some(_) => {
                self.known.retain(|(known, _)| *known != run);
                // The marks lie in the order of the runs, so they are made anew.
                *self = core::mem::take(&mut self.known).into();
            }
            None if self.known.len() >= RUNS_MAX => {
                self.known.remove(0);
                // The mark of the oldest run goes with it, and the last place is free.
                self.marks.rotate_left(1);
            }
            None if self.known.is_empty() => self.known.reserve_exact(RUNS_MAX),
            None => {}
        }
        if let Some(last) = self.marks.get_mut(self.known.len()) {
            *last = mark(run);
        }
        self.known.push((run, fate));
    }
}

impl Seen {
    pub(crate) const fn is_forgotten(&self) -> bool {
        self.recent.is_none()
    }

    /// Notes that this message exists, without remembering it as seen.
    pub(crate) fn note(&mut self, id: MessageId) {
        self.newest = self.newest.max(Some(id));
    }

    /// Remembers a message. Returns false if it was seen before.
    #[inline]
    pub(crate) fn remember(&mut self, id: MessageId, backfilled: bool) -> bool {
        // A message with a lower id may still be new, because events come out of order.
        if self.newest >= Some(id) {
            return self.remember_late(id, backfilled);
        }
        // Nearly every message is newer than all before it, so there is no need to search.
        self.newest = Some(id);
        let messages = &mut self.recent.get_or_insert_default().messages;
        if messages.len() >= MESSAGES_MAX {
            self.horizon = self.horizon.max(Some(messages.remove(0)));
        }
        messages.push(id);
        true
    }

    /// Remembers a message that came after a newer one. A message that was read late from the history may lie below the
    /// horizon.
    fn remember_late(&mut self, id: MessageId, backfilled: bool) -> bool {
        // A read from the history is trusted below the horizon, because the reader knows what it had heard.
        if !backfilled && self.horizon >= Some(id) {
            return false;
        }
        let messages = &mut self.recent.get_or_insert_default().messages;
        let Err(at) = messages.binary_search(&id) else {
            return false;
        };
        if messages.len() < MESSAGES_MAX {
            messages.insert(at, id);
        // It would be the oldest of all, so it counts as forgotten at once.
        } else if at == 0 {
            self.horizon = self.horizon.max(Some(id));
        } else {
            self.horizon = self.horizon.max(Some(messages.remove(0)));
            messages.insert(at - 1, id);
        }
        true
    }

    pub(crate) fn run(&self, run: RunId) -> Option<RunFate> {
        self.recent.as_ref()?.runs.fate(run)
    }

    /// Remembers the fate of a run if the host named it. Returns true if it did.
    #[inline]
    pub(crate) fn remember_run(&mut self, run: Option<RunId>, fate: RunFate) -> bool {
        if let Some(run) = run {
            self.recent.get_or_insert_default().runs.remember(run, fate);
        }
        run.is_some()
    }

    /// Returns true if the run may still speak, as far as the channel remembers. For a turn without a run id there is
    /// no other evidence.
    pub(crate) fn is_open(&self, run: Option<RunId>) -> bool {
        run.and_then(|run| self.run(run)).is_none()
    }

    /// Frees the memory. From then on every message up to the newest one counts as seen.
    pub(crate) fn forget(&mut self) {
        self.recent = None;
        // Without the ids only this order is left to recognise a repetition.
        self.horizon = self.newest;
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = MessageId> + '_ {
        self.recent.iter().flat_map(|recent| recent.messages.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(runs: &Runs) -> Vec<u64> {
        runs.as_slice().iter().map(|(run, _)| run.get()).collect()
    }

    #[test]
    fn the_newest_runs_are_remembered_in_order_and_the_oldest_make_room() {
        let mut runs = Runs::default();
        assert_eq!(runs.fate(RunId::default()), None, "an empty place is no run");
        for run in 0..40 {
            runs.remember(RunId::new(run), RunFate::Ended);
        }
        assert_eq!(kept(&runs), (8..40).collect::<Vec<_>>());
        assert_eq!(runs.fate(RunId::new(7)), None);
        assert_eq!(runs.fate(RunId::new(8)), Some(RunFate::Ended));
        assert_eq!(runs.fate(RunId::new(8 + 256)), None, "the same mark is not the same run");
        assert_eq!(Runs::from(runs.as_slice().to_vec()), runs, "it comes back whole");
    }

    #[test]
    fn the_newest_word_of_a_run_counts_and_makes_it_the_newest() {
        let mut runs = Runs::default();
        for (run, fate) in [(1, RunFate::Denied), (2, RunFate::Ended), (1, RunFate::Ended)] {
            runs.remember(RunId::new(run), fate);
        }
        assert_eq!(kept(&runs), [2, 1]);
        runs.remember(RunId::new(2), RunFate::Ended);
        assert_eq!(kept(&runs), [2, 1], "what is known already changes nothing");
        assert_eq!(runs.fate(RunId::new(1)), Some(RunFate::Ended));
    }

    #[test]
    fn messages_are_remembered_in_any_order_and_forgotten_from_below() {
        let mut seen = Seen::default();
        assert!([5, 3, 9].into_iter().all(|id| seen.remember(MessageId::new(id), false)));
        assert!([5, 3, 9].into_iter().all(|id| !seen.remember(MessageId::new(id), false)));
        assert!(seen.messages().map(MessageId::get).eq([3, 5, 9]));
        (10..=264).for_each(|id| assert!(seen.remember(MessageId::new(id), false)));
        assert_eq!(seen.horizon, Some(MessageId::new(5)), "two made room");
        assert!(!seen.remember(MessageId::new(4), false), "pushed, it counts as seen");
        assert!(seen.remember(MessageId::new(4), true), "read from the history, it was not");
    }
}
