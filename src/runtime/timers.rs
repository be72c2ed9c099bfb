//! One timer for all channels, with a queue of their deadlines.

use std::collections::BTreeSet;
use std::sync::Mutex;

use dirigent_core::Timestamp;
use tokio::sync::Notify;

use crate::ChannelId;
use crate::values::sync::locked;

#[derive(Debug, Default)]
pub(crate) struct Timers {
    due: Mutex<BTreeSet<(Timestamp, ChannelId)>>,
    /// Notifies the driver that the earliest deadline came nearer.
    changed: Notify,
}

impl Timers {
    pub(crate) fn set(&self, channel: ChannelId, old: Option<Timestamp>, new: Option<Timestamp>) {
        if old == new {
            return;
        }
        let mut due = locked(&self.due);
        let first = due.first().map(|(at, _)| *at);
        if let Some(old) = old {
            due.remove(&(old, channel));
        }
        let Some(new) = new else {
            return;
        };
        due.insert((new, channel));
        // The driver sleeps until the earliest deadline, so only an earlier one concerns it.
        if first.is_none_or(|first| new < first) {
            drop(due);
            self.changed.notify_one();
        }
    }

    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    pub(crate) fn earliest(&self) -> Option<Timestamp> {
        let due = locked(&self.due);
        due.first().map(|(at, _)| *at)
    }

    /// Returns the channels with a deadline that has passed. A channel stays until its deadline is moved.
    pub(crate) fn overdue(&self, now: Timestamp) -> Vec<ChannelId> {
        let due = locked(&self.due);
        due.iter().take_while(|(at, _)| *at <= now).map(|(_, channel)| *channel).collect()
    }

    pub(crate) async fn woken(&self) {
        self.changed.notified().await;
    }
}
