//! Transitions on their way to listeners and into the store's history. Neither learns of a state that is not stored.

use dirigent_core::Transition;

use super::Stamp;

/// The most transitions that wait until their state is stored and listeners get them.
pub(super) const WAITING_MAX: usize = 256;
/// How many transitions a room keeps memory for while none waits.
const WAITING_KEPT: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Announcement {
    Transition(Transition),
    /// This number of older transitions did not reach them.
    Missed(u64),
}

/// The transitions that listeners do not know yet, oldest first.
#[derive(Debug, Default)]
pub(crate) struct News {
    waiting: Vec<(Stamp, Transition)>,
    /// The number of these that listeners already got. All of them leave together.
    told: usize,
    /// The state up to which the store accepted, or refused, the transitions for its history.
    in_history: Stamp,
    /// The number of older transitions that were dropped, because the store accepts no commits. Listeners get it.
    dropped: u64,
}

impl News {
    /// Adds a transition of this state. If too many wait, the oldest is dropped.
    pub(crate) fn record(&mut self, stamp: Stamp, transition: Transition) {
        if self.waiting.len() >= WAITING_MAX {
            // Those that listeners have got leave first. Only the others count as missed.
            self.dropped += u64::from(self.told == 0);
            self.waiting.drain(..self.told.max(1));
            self.told = 0;
        }
        self.waiting.push((stamp, transition));
    }

    pub(super) fn is_due(&self, committed: Stamp) -> bool {
        self.waiting.get(self.told).is_some_and(|(stamp, _)| *stamp <= committed)
    }

    /// Returns the next news for listeners: the number of dropped transitions, or the oldest transition with a
    /// committed state.
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

    /// Writes the newest transitions that the history does not have, at most `history_max`.
    pub(super) fn write(&self, out: &mut Vec<Transition>, history_max: usize) {
        out.clear();
        // The store keeps only the newest, so older ones would be written to be dropped.
        let too_many = self.waiting.len().saturating_sub(history_max);
        let newest = self.waiting.iter().skip(too_many);
        let new = newest.filter(|(stamp, _)| *stamp > self.in_history);
        out.extend(new.map(|(_, transition)| *transition));
    }

    /// Records that the history reaches the state of this stamp. Returns the state that it reached before.
    pub(super) const fn written_up_to(&mut self, stamp: Stamp) -> Stamp {
        std::mem::replace(&mut self.in_history, stamp)
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        (self.told, self.dropped) = (0, 0);
    }
}
