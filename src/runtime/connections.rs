//! Tells rooms that connections to the gateway are lost, and that they stand again.

use std::collections::HashSet;
use std::sync::Arc;

use super::Runtime;
use super::cell::RoomCell;
use super::host_code::caught;
use super::lost::{Affects, Lost};
use crate::ChannelId;
use crate::room::connection::Gateway;

/// The connections, and the rooms that hear by them.
pub(crate) struct Connections<'r> {
    pub(crate) runtime: &'r Runtime,
}

impl Connections<'_> {
    /// A connection is lost: the rooms in memory learn it now, the others when they are loaded.
    pub(crate) fn lose(
        &self,
        connection: u32,
        affects: impl Fn(ChannelId) -> bool + Send + Sync + 'static,
    ) {
        let since = self.runtime.clock.now();
        let mut lost = self.runtime.lost.lost();
        if lost.iter().all(|known| known.connection != connection) {
            let (affects, told) = (Box::new(affects), HashSet::new());
            lost.push(Lost { connection, since, affects, told });
        }
        drop(lost);
        for room in self.runtime.rooms.all_awake() {
            self.tell_lost(&room);
        }
    }

    /// A connection stands again, if it was lost: `parked` is given what it tells of, and the rooms in memory that
    /// were told of its loss learn it by `tell`, and whether no other one that tells of them is lost.
    pub(crate) fn regain(
        &self,
        connection: u32,
        parked: impl FnOnce(&Affects),
        tell: impl Fn(&Arc<RoomCell>, bool),
    ) {
        let mut lost = self.runtime.lost.lost();
        let Some(at) = lost.iter().position(|known| known.connection == connection) else {
            return;
        };
        let regained = lost.swap_remove(at);
        // While the list is locked no channel comes into memory: each is either parked or was told.
        parked(&regained.affects);
        drop(lost);
        for room in
            regained.told.into_iter().filter_map(|channel| self.runtime.rooms.awake(channel))
        {
            let is_deaf =
                self.runtime.lost.lost().iter().any(|other| other.told.contains(&room.id));
            tell(&room, !is_deaf);
        }
    }

    /// Tells a room that has another mode that nothing is heard there.
    pub(crate) fn tell_lost(&self, cell: &Arc<RoomCell>) {
        self.publish_and_tell_lost(cell, || {});
    }

    /// Puts a room into the table by `publish`, and tells it which connections are lost. The list stays locked
    /// until then: that a connection stands again reaches the room afterwards.
    pub(crate) fn publish_and_tell_lost<T>(
        &self,
        cell: &Arc<RoomCell>,
        publish: impl FnOnce() -> T,
    ) -> T {
        let mut lost = self.runtime.lost.lost();
        let published = publish();
        let affects = |lost: &Lost| caught("a connection's channels", || (lost.affects)(cell.id));
        // Where that is not known, nothing is taken for heard.
        let mut affecting: Vec<_> =
            lost.iter_mut().filter(|lost| affects(lost).unwrap_or(true)).collect();
        for lost in &mut affecting {
            lost.told.insert(cell.id);
        }
        if let Some(since) = affecting.iter().map(|lost| lost.since).min() {
            self.runtime.update(cell, |room, cx, now| room.gateway(cx, now, Gateway::Lost(since)));
        }
        published
    }
}
