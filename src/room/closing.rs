//! The end of a channel's time in this process.

use dirigent_core::Timestamp;

use super::Room;
use super::action::Signal;
use crate::record::channel::Revision;

/// A room closes, because another process takes it over, its driver ends, or its record is replaced.
impl Room {
    pub(crate) fn abandon(&mut self, now: Timestamp) {
        self.turns.abandon();
        if let Some(active) = &mut self.active {
            active.abandon(now);
        }
    }

    /// Tries a refused record once more, because the driver is about to end.
    pub(crate) fn store_before_end(&mut self) {
        self.turns.commit.retry_now();
    }

    /// Stores at once what waits for its next attempt, because the store answers again.
    pub(crate) fn store_now(&mut self) {
        self.turns.commit.try_now();
    }

    /// Cancels the running agents, because the driver ends.
    pub(crate) fn cancel_for_end(&mut self) {
        if let Some(active) = &mut self.active {
            active.signals.extend(active.calls.under_way().map(Signal::Cancel));
        }
    }

    /// Lets the next commit replace the damaged record of this channel, by an operator's decision. `sound` is the
    /// record's revision, if it is intact and only the machine could not be restored from it.
    pub(crate) fn replace_damaged(&mut self, sound: Option<Revision>) {
        self.turns.commit.replace_damaged(sound);
    }
}
