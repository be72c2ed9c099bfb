//! The end of a channel's time here.

use dirigent_core::Timestamp;

use super::action::Signal;
use super::active::Active;
use super::turns::Turns;
use crate::record::channel::Revision;

/// A room that another process takes over, whose driver ends, or whose record is replaced.
pub(crate) struct Closing<'a> {
    pub(super) turns: &'a mut Turns,
    pub(super) active: Option<&'a mut Active>,
}

impl Closing<'_> {
    /// Another process has the channel: nothing is done here any more.
    pub(crate) fn abandon(self, now: Timestamp) {
        self.turns.abandon();
        if let Some(active) = self.active {
            active.abandon(now);
        }
    }

    /// The driver is about to end: a record that was refused is tried once more.
    pub(crate) fn store_before_end(self) {
        self.turns.commit.retry_now();
    }

    /// The store answers again: what waits for its next attempt is stored at once.
    pub(crate) fn store_now(self) {
        self.turns.commit.try_now();
    }

    /// The driver ends: the agents that run are told.
    pub(crate) fn cancel_for_end(self) {
        if let Some(active) = self.active {
            active.signals.extend(active.calls.under_way().map(Signal::Cancel));
        }
    }

    /// The record of this channel is damaged: by an operator's act the next commit takes its place.
    /// `sound`: its revision, where only the machine could not be restored from it.
    pub(crate) fn replace_damaged(self, sound: Option<Revision>) {
        self.turns.commit.replace_damaged(sound);
    }
}
