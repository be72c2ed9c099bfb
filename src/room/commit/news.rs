//! Transitions on their way to listeners and into the store's history: neither learns of what is not stored.

use dirigent_core::Transition;

use super::Stamp;

/// How many transitions wait at most until their state is stored and listeners are told.
pub(super) const WAITING_MAX: usize = 256;
/// For how many transitions a room keeps memory while none waits.
const WAITING_KEPT: usize = 8;

/// What listeners are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announcement {
    Transition(Transition),
    /// They are not told of this number of older transitions.
    Missed(u64),
}

/// What listeners were not told of yet, oldest first.
#[derive(Debug, Default)]
pub(crate) struct News {
    waiting: Vec<(Stamp, Transition)>,
    /// How many of these listeners were told: all leave together.
    told: usize,
    /// Up to here the store took, or refused, the transitions for its history.
    in_history: Stamp,
    /// How many older ones were dropped, since the store takes nothing: listeners are told the number.
    dropped: u64,
}

impl News {
    /// A transition of this state. The oldest goes where too many wait.
    pub(crate) fn record(&mut self, stamp: Stamp, transition: Transition) {
        if self.waiting.len() >= WAITING_MAX {
            self.dropped += u64::from(self.told == 0);
            self.waiting.drain(..self.told.max(1));
            self.told = 0;
        }
        self.waiting.push((stamp, transition));
    }

    /// Whether listeners are to be told something.
    pub(super) fn is_due(&self, committed: Stamp) -> bool {
        self.waiting.get(self.told).is_some_and(|(stamp, _)| *stamp <= committed)
    }

    /// What listeners are told next: how many transitions were dropped, or the oldest one whose state is
    /// committed.
    pub(super) fn next(&mut self, committed: Stamp) -> Option<Announcement> {
        let (stamp, transition) = *self.waiting.get(self.told)?;
        if stamp > committed {
            return None;
        }
        if self.dropped > 0 {
            return Some(Announcement::Missed(std::mem::take(&mut self.dropped)));
        }
        self.told += 1;
        if self.told == self.waiting.len() {
            self.clear();
            // The store has failed for a while.
            self.waiting.shrink_to(WAITING_KEPT);
        }
        Some(Announcement::Transition(transition))
    }

    /// Writes down the newest transitions that the history does not have, at most `history_max`.
    pub(super) fn write(&self, out: &mut Vec<Transition>, history_max: usize) {
        out.clear();
        let too_many = self.waiting.len().saturating_sub(history_max);
        let newest = self.waiting.iter().skip(too_many);
        let new = newest.filter(|(stamp, _)| *stamp > self.in_history);
        out.extend(new.map(|(_, transition)| *transition));
    }

    /// The history has what led to the state of this stamp. Returns up to where it reached before.
    pub(super) const fn written_up_to(&mut self, stamp: Stamp) -> Stamp {
        std::mem::replace(&mut self.in_history, stamp)
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        (self.told, self.dropped) = (0, 0);
    }
}
