//! What was seen before: message ids and runs, so that a repetition has no effect.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use core::ops::Range;

use crate::{MessageId, RunId};

/// How many message ids are remembered one by one.
pub(crate) const MESSAGES_MAX: usize = 256;
/// How many runs are remembered.
pub(crate) const RUNS_MAX: usize = 32;

/// The ids and runs of late. An idle channel has forgotten all but two numbers.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// Everything up to here counts as seen, unless it was read late from the history.
    horizon: Option<MessageId>,
    /// The newest message, of any author.
    newest: Option<MessageId>,
    /// What is remembered one by one; none when everything was forgotten.
    recent: Option<Box<Recent>>,
}

/// What is remembered one by one.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
struct Recent {
    /// Ids, ascending.
    messages: VecDeque<MessageId>,
    /// Runs that were answered.
    runs: Runs,
}

/// The newest runs that can no longer speak, in a ring.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Runs {
    /// Each with its fate; a place that is not in use holds the default id.
    known: [(RunId, RunFate); RUNS_MAX],
    /// The lowest byte of each id. Most runs that are looked for are unknown, and this tells so in
    /// few instructions: a gate call and the end of its run look once each.
    marks: [u8; RUNS_MAX],
    /// Where the oldest stands.
    oldest: usize,
    /// How many are in use.
    len: usize,
}

/// What became of a run that can no longer speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a run that cannot speak either did or never may")]
pub enum RunFate {
    /// It was denied.
    Denied,
    /// It ended, was replaced, or was cancelled.
    Ended,
}

impl Default for Runs {
    fn default() -> Self {
        Self {
            known: [(RunId::default(), RunFate::Ended); RUNS_MAX],
            marks: [0; RUNS_MAX],
            oldest: 0,
            len: 0,
        }
    }
}

impl Runs {
    /// All runs with their fates, oldest first, in two pieces.
    fn pieces(&self) -> [&[(RunId, RunFate)]; 2] {
        // The ring turns only when it is full.
        [self.oldest..self.len, 0..self.oldest]
            .map(|places: Range<usize>| self.known.get(places).unwrap_or_default())
    }

    /// All runs with their fates, oldest first.
    fn iter(&self) -> impl Iterator<Item = (RunId, RunFate)> + '_ {
        self.pieces().into_iter().flatten().copied()
    }

    #[inline]
    fn fate(&self, run: RunId) -> Option<RunFate> {
        let mark = mark(run);
        // Without a branch in the loop, so that it is done for many at once.
        let mut may_be_known = false;
        for known in &self.marks {
            may_be_known |= *known == mark;
        }
        if !may_be_known {
            return None;
        }
        // The default id may be a run's, too.
        self.iter().filter(|(known, _)| *known == run).last().map(|(_, fate)| fate)
    }

    /// Adds a run that is unknown; the oldest makes room.
    fn push(&mut self, run: RunId, fate: RunFate) {
        let at = (self.oldest + self.len) % RUNS_MAX;
        if self.len == RUNS_MAX {
            self.oldest = (self.oldest + 1) % RUNS_MAX;
        } else {
            self.len += 1;
        }
        if let (Some(known), Some(marked)) = (self.known.get_mut(at), self.marks.get_mut(at)) {
            (*known, *marked) = ((run, fate), mark(run));
        }
    }

    /// Remembers what became of a run; the newest word counts, and makes the run the newest.
    #[inline]
    fn remember(&mut self, run: RunId, fate: RunFate) {
        match self.fate(run) {
            Some(known) if known == fate => return,
            Some(_) => {
                let others = self.clone();
                *self = Self::default();
                others.iter().filter(|(id, _)| *id != run).for_each(|(id, it)| self.push(id, it));
            }
            None => {}
        }
        self.push(run, fate);
    }
}

/// What tells most runs apart.
const fn mark(run: RunId) -> u8 {
    run.get().to_le_bytes()[0]
}

impl Seen {
    pub(crate) const fn newest(&self) -> Option<MessageId> {
        self.newest
    }

    pub(crate) const fn horizon(&self) -> Option<MessageId> {
        self.horizon
    }

    pub(crate) const fn is_forgotten(&self) -> bool {
        self.recent.is_none()
    }

    /// Notes that this message exists, without remembering it as seen.
    pub(crate) fn note(&mut self, id: MessageId) {
        self.newest = self.newest.max(Some(id));
    }

    /// Remembers a message; `false` when it was seen before.
    #[inline]
    pub(crate) fn remember(&mut self, id: MessageId, backfilled: bool) -> bool {
        if self.newest >= Some(id) {
            return self.remember_late(id, backfilled);
        }
        // Nearly every message is newer than all before it: there is nothing to search.
        self.newest = Some(id);
        let messages = &mut self.recent.get_or_insert_default().messages;
        if messages.len() >= MESSAGES_MAX {
            self.horizon = self.horizon.max(messages.pop_front());
        }
        messages.push_back(id);
        true
    }

    /// Remembers a message that came after a newer one. What was read late from the history may lie
    /// below the horizon.
    fn remember_late(&mut self, id: MessageId, backfilled: bool) -> bool {
        if !backfilled && self.horizon >= Some(id) {
            return false;
        }
        let messages = &mut self.recent.get_or_insert_default().messages;
        let Err(at) = messages.binary_search(&id) else {
            return false;
        };
        if messages.len() < MESSAGES_MAX {
            messages.insert(at, id);
        } else if at == 0 {
            self.horizon = self.horizon.max(Some(id));
        } else {
            self.horizon = self.horizon.max(messages.pop_front());
            messages.insert(at - 1, id);
        }
        true
    }

    pub(crate) fn run(&self, run: RunId) -> Option<RunFate> {
        self.recent.as_ref()?.runs.fate(run)
    }

    /// Remembers what became of a run, where the host named it; gives whether it did.
    #[inline]
    pub(crate) fn remember_run(&mut self, run: Option<RunId>, fate: RunFate) -> bool {
        if let Some(run) = run {
            self.recent.get_or_insert_default().runs.remember(run, fate);
        }
        run.is_some()
    }

    /// Whether the run may still speak, as far as the channel remembers its end. For a turn without a
    /// run id this is the only evidence.
    pub(crate) fn is_open(&self, run: Option<RunId>) -> bool {
        run.and_then(|run| self.run(run)).is_none()
    }

    /// Gives the memory back: everything up to the newest message counts as seen.
    pub(crate) fn forget(&mut self) {
        self.recent = None;
        self.horizon = self.newest;
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = MessageId> + '_ {
        self.recent.iter().flat_map(|recent| recent.messages.iter().copied())
    }

    /// Writes down what is remembered one by one, reusing the buffers.
    pub(crate) fn write(&self, messages: &mut Vec<MessageId>, runs: &mut Vec<(RunId, RunFate)>) {
        messages.clear();
        runs.clear();
        if let Some(recent) = &self.recent {
            let (front, back) = recent.messages.as_slices();
            messages.reserve(recent.messages.len());
            messages.extend_from_slice(front);
            if !back.is_empty() {
                messages.extend_from_slice(back);
            }
            for piece in recent.runs.pieces() {
                if !piece.is_empty() {
                    runs.extend_from_slice(piece);
                }
            }
        }
    }

    /// Brings back what was written down.
    pub(crate) fn restore(
        horizon: Option<MessageId>,
        newest: Option<MessageId>,
        messages: &[MessageId],
        runs: &[(RunId, RunFate)],
    ) -> Self {
        let remembers = !messages.is_empty() || !runs.is_empty();
        let recent = remembers.then(|| {
            let mut recent =
                Recent { messages: messages.iter().copied().collect(), ..Recent::default() };
            for (run, fate) in runs {
                recent.runs.push(*run, *fate);
            }
            Box::new(recent)
        });
        Self { horizon, newest, recent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(runs: &Runs) -> Vec<u64> {
        runs.iter().map(|(run, _)| run.get()).collect()
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
        assert_eq!(seen.horizon(), Some(MessageId::new(5)), "two made room");
        assert!(!seen.remember(MessageId::new(4), false), "pushed, it counts as seen");
        assert!(seen.remember(MessageId::new(4), true), "read from the history, it was not");
    }
}
