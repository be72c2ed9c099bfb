//! Follows which channels this process acts for. It loads channels that come, and abandons channels that go.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::Runtime;
use super::cell::RoomCell;
use crate::ChannelId;
use crate::ports::neighbours::Neighbours;
use crate::ports::ownership::{Ownership, Standing};
use crate::room::Room;
use crate::values::stage::DriverStage;

impl Runtime {
    /// How this process stands to the channel. Without other processes every channel is its own.
    pub(crate) fn standing(&self, channel: ChannelId) -> Standing {
        let standing = self.owned(channel);
        if self.twins.is_any() && standing == Standing::Held && self.twins.gives_way(channel) {
            return Standing::Quiet;
        }
        standing
    }

    /// The same, whatever a process does that knows nothing of this one.
    pub(crate) fn owned(&self, channel: ChannelId) -> Standing {
        self.ownership.as_ref().map_or(Standing::Held, |ownership| ownership.standing(channel))
    }

    /// What carries an event of the channel to the process that acts for it; `None` where that is this one, or no process
    /// hears of it from here. After a lapse another may act for the channel and have read it before this event: what comes from here
    /// would be forgotten with the room.
    pub(crate) fn neighbours_of(&self, channel: ChannelId) -> Option<&Arc<dyn Neighbours>> {
        let neighbours = self.neighbours.as_ref().filter(|it| !it.hear_all())?;
        (!self.standing(channel).acts()).then_some(neighbours)
    }

    /// How far the driver's life got for this channel: one that may soon be another process's is treated as by a driver
    /// that stops, one that may be another's already as by one that ends.
    pub(super) fn stage_for(&self, standing: Standing) -> DriverStage {
        let least = match standing {
            Standing::Held => DriverStage::NotStarted,
            Standing::Quiet => DriverStage::Stopping,
            Standing::Lapsed | Standing::Elsewhere => DriverStage::Ending,
        };
        self.life.stage().max(least)
    }
}

/// Follows which channels are this process's.
pub(super) struct Following<'r> {
    pub(super) runtime: &'r Arc<Runtime>,
}

impl Following<'_> {
    /// Follows the changes, beside the driver's loop, until the driver stops: channels that go during the end are abandoned
    /// when they are looked at.
    pub(super) async fn run(self) {
        let runtime = self.runtime;
        let Some(ownership) = &runtime.ownership else {
            return;
        };
        loop {
            let came = tokio::select! {
                biased;
                () = runtime.life.until(DriverStage::Stopping) => return,
                came = self.next_change(&**ownership) => came,
            };
            if came.is_empty() {
                continue;
            }
            // Another process may have registered agents a moment ago.
            if let Err(error) = runtime.reload_registry().await {
                tracing::error!(%error, "the registry could not be read; the old one stays");
            }
            runtime.catch_up.call(came);
        }
    }

    /// Waits for the next change, and follows it in the moment in which it comes.
    async fn next_change(&self, ownership: &dyn Ownership) -> Vec<ChannelId> {
        let mut changed = ownership.changed();
        poll_fn(|cx| {
            let _arriving = self.runtime.arrivals.begin();
            let told = changed.as_mut().poll(cx);
            if let Poll::Ready(came) = &told {
                self.changed(came);
            }
            told
        })
        .await
    }

    fn changed(&self, came: &[ChannelId]) {
        let runtime = self.runtime;
        for channel in came {
            if let Some(room) = runtime.rooms.awake(*channel) {
                // It is from an earlier term.
                self.abandon(&room);
            }
        }
        runtime.rooms.came(came);
        runtime.twins.came(came, runtime.clock.now());
        for room in runtime.rooms.all_awake() {
            if runtime.standing(room.id) == Standing::Elsewhere {
                self.abandon(&room);
            } else {
                // The store answers again.
                runtime.update(&room, |room, _, _| room.closing().store_now());
            }
        }
    }

    /// The channel is another process's: nothing of it is done here any more.
    fn abandon(&self, room: &Arc<RoomCell>) {
        self.runtime.update(room, |room: &mut Room, _, now| room.closing().abandon(now));
        if self.runtime.rooms.release_taken_over(room) {
            tracing::info!(channel = %room.id, "the channel is another process's now");
        }
    }
}
