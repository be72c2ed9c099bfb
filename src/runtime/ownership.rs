//! Follows which channels this process acts for. It loads channels that come, and abandons channels that go.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use super::Runtime;
use super::cell::RoomCell;
use crate::ChannelId;
use crate::ports::neighbours::OtherProcesses;
use crate::ports::ownership::{Ownership, Standing};
use crate::room::Room;
use crate::values::stage::DriverStage;

impl Runtime {
    /// Returns how this process stands to the channel. Without other processes every channel is its own.
    pub(crate) fn standing(&self, channel: ChannelId) -> Standing {
        let standing = self.owned(channel);
        // The flag comes first, because this is asked before each action.
        if self.twins.is_any() && standing == Standing::Held && self.twins.gives_way(channel) {
            return Standing::Quiet;
        }
        standing
    }

    /// Returns how this process stands to the channel, without regard to a process that does not know this one.
    pub(crate) fn owned(&self, channel: ChannelId) -> Standing {
        self.ownership.as_ref().map_or(Standing::Held, |ownership| ownership.standing(channel))
    }

    /// Returns what carries an event of the channel to the process that acts for it. `None` if that is this process, or
    /// if the neighbours hear everything themselves.
    pub(crate) fn neighbours_of(&self, channel: ChannelId) -> Option<&Arc<dyn OtherProcesses>> {
        // A lapsed lease counts, too: the next owner may have read the channel before this event, and a word that is
        // heard here would be forgotten with the room.
        let neighbours = self.neighbours.as_ref().filter(|it| !it.hear_all())?;
        (!self.standing(channel).acts()).then_some(neighbours)
    }

    /// Returns the driver's stage for a channel with this standing. One that may soon belong to another process is
    /// treated as if the driver stopped, and one that may already belong to it as if the driver had ended.
    pub(super) fn stage_for(&self, standing: Standing) -> DriverStage {
        let least = match standing {
            Standing::Held => DriverStage::NotStarted,
            Standing::Quiet => DriverStage::Stopping,
            Standing::Lapsed | Standing::Elsewhere => DriverStage::Ending,
        };
        self.life.stage().max(least)
    }
}

impl Runtime {
    /// Follows the changes, beside the driver's loop, until the driver stops. Channels that go after that are abandoned
    /// when they are looked at.
    pub(super) async fn follow_ownership(&self) {
        let Some(ownership) = &self.ownership else {
            return;
        };
        loop {
            let came = tokio::select! {
                biased;
                () = self.life.until(DriverStage::Stopping) => return,
                came = self.next_change(&**ownership) => came,
            };
            if came.is_empty() {
                continue;
            }
            // Another process may have just registered agents, and with one known agent a channel keeps no turns.
            if let Err(error) = self.reload_registry().await {
                tracing::error!(%error, "the registry could not be read; the old one stays");
            }
            self.catch_up.call(came);
        }
    }

    /// Waits for the next change, and handles it at once.
    async fn next_change(&self, ownership: &dyn Ownership) -> Vec<ChannelId> {
        let mut changed = ownership.changed();
        poll_fn(|cx| {
            // Meanwhile a channel may be held and not known yet, so no caller may take it for one without turns.
            let _arriving = self.arrivals.begin();
            let told = changed.as_mut().poll(cx);
            if let Poll::Ready(came) = &told {
                self.channels_changed(came);
            }
            told
        })
        .await
    }

    fn channels_changed(&self, came: &[ChannelId]) {
        for channel in came {
            if let Some(room) = self.rooms.awake(*channel) {
                // The room is from an earlier term, and another process may have changed the record since.
                self.abandon(&room);
            }
        }
        // Facts from the earlier term do not count any more.
        self.rooms.came(came);
        self.twins.came(came, self.clock.now());
        for room in self.rooms.all_awake() {
            if self.standing(room.id) == Standing::Elsewhere {
                self.abandon(&room);
            } else {
                // A lease was renewed, so the store answers again.
                self.update(&room, |room, _, _| room.store_now());
            }
        }
    }

    fn abandon(&self, room: &Arc<RoomCell>) {
        self.update(room, |room: &mut Room, _, now| room.abandon(now));
        if self.rooms.release_taken_over(room) {
            tracing::info!(channel = %room.id, "the channel is another process's now");
        }
    }
}
