//! Tells rooms that connections to the gateway are lost, and that they stand again.

use std::collections::HashSet;
use std::sync::Arc;

use super::Runtime;
use super::cell::RoomCell;
use super::host_code::caught;
use super::lost::{Affects, Lost};
use crate::ChannelId;
use crate::room::connection::Gateway;

impl Runtime {
    /// Records a lost connection. The rooms in memory learn it now, and the others when they are loaded.
    pub(crate) fn lose_connection(
        &self,
        connection: u32,
        affects: impl Fn(ChannelId) -> bool + Send + Sync + 'static,
    ) {
        let since = self.clock.now();
        let mut lost = self.lost.lost();
        // A second report of the same loss must not reset the time since when it is lost.
        if lost.iter().all(|known| known.connection != connection) {
            let (affects, told) = (Box::new(affects), HashSet::new());
            lost.push(Lost { connection, since, affects, told });
        }
        drop(lost);
        // The list is unlocked, because each room locks it.
        for room in self.rooms.all_awake() {
            self.tell_lost(&room);
        }
    }

    /// Records that a connection stands again, if it was lost. `parked` gets the channels that it serves. The rooms in
    /// memory that know of its loss learn it by `tell`, and whether no other connection that serves them is lost.
    pub(crate) fn regain_connection(
        &self,
        connection: u32,
        parked: impl FnOnce(&Affects),
        tell: impl Fn(&Arc<RoomCell>, bool),
    ) {
        let mut lost = self.lost.lost();
        let Some(at) = lost.iter().position(|known| known.connection == connection) else {
            return;
        };
        let regained = lost.swap_remove(at);
        // While the list is locked no channel comes into memory, so each is either parked or knows it.
        parked(&regained.affects);
        drop(lost);
        // Only those that learned of the loss. A channel that came later was never deaf.
        for room in regained.told.into_iter().filter_map(|channel| self.rooms.awake(channel)) {
            // Another shard that serves the channel may still be lost.
            let is_deaf = self.lost.lost().iter().any(|other| other.told.contains(&room.id));
            tell(&room, !is_deaf);
        }
    }

    /// Tells a room with a new mode that it hears no messages.
    pub(crate) fn tell_lost(&self, cell: &Arc<RoomCell>) {
        self.publish_and_tell_lost(cell, || {});
    }

    /// Puts a room into the table by `publish`, and tells it which connections are lost. The list stays locked until
    /// then, so that the room learns later that a connection stands again.
    pub(crate) fn publish_and_tell_lost<T>(
        &self,
        cell: &Arc<RoomCell>,
        publish: impl FnOnce() -> T,
    ) -> T {
        let mut lost = self.lost.lost();
        let published = publish();
        let affects = |lost: &Lost| caught("a connection's channels", || (lost.affects)(cell.id));
        // If this is unknown, no message counts as heard.
        let mut affecting: Vec<_> =
            lost.iter_mut().filter(|lost| affects(lost).unwrap_or(true)).collect();
        for lost in &mut affecting {
            lost.told.insert(cell.id);
        }
        if let Some(since) = affecting.iter().map(|lost| lost.since).min() {
            // The earliest loss counts, because messages may be missing since then.
            self.update(cell, |room, cx, now| room.gateway(cx, now, Gateway::Lost(since)));
        }
        published
    }
}
