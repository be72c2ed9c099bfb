//! The connections to the gateway that are lost, for rooms that come into memory meanwhile.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent_core::Timestamp;

use super::Runtime;
use super::cell::RoomCell;
use crate::ChannelId;
use crate::room::Room;

/// Whether a connection tells of a channel.
pub(crate) type Affects = dyn Fn(ChannelId) -> bool + Send + Sync;

/// Every connection that is lost, by the number that the host gave it.
#[derive(Debug, Default)]
pub(crate) struct LostConnections {
    lost: Mutex<Vec<Lost>>,
}

struct Lost {
    connection: u32,
    since: Timestamp,
    affects: Box<Affects>,
    /// The channels that were told of it: these, and no others, are told when it stands again.
    told: HashSet<ChannelId>,
}

impl LostConnections {
    fn lost(&self) -> MutexGuard<'_, Vec<Lost>> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All connections stand again.
    pub(crate) fn clear(&self) {
        self.lost().clear();
    }
}

impl Runtime {
    /// A connection is lost: the rooms in memory learn it now, the others when they are loaded.
    pub(crate) fn lose_connection(
        self: &Arc<Self>,
        connection: u32,
        affects: impl Fn(ChannelId) -> bool + Send + Sync + 'static,
    ) {
        let since = self.clock.now();
        let mut lost = self.lost.lost();
        if lost.iter().all(|known| known.connection != connection) {
            let (affects, told) = (Box::new(affects), HashSet::new());
            lost.push(Lost { connection, since, affects, told });
        }
        drop(lost);
        for room in self.all_awake() {
            self.tell_lost(&room);
        }
    }

    /// A connection stands again: the rooms in memory that were told of its loss learn it by `tell`, unless
    /// another one that tells of them is lost. Returns of which channels it tells, if it was lost.
    pub(crate) fn regain_connection(
        self: &Arc<Self>,
        connection: u32,
        tell: impl Fn(&Arc<RoomCell>),
    ) -> Option<Box<Affects>> {
        let mut lost = self.lost.lost();
        let at = lost.iter().position(|known| known.connection == connection);
        let regained = at.map(|at| lost.swap_remove(at))?;
        drop(lost);
        for room in regained.told.into_iter().filter_map(|channel| self.awake(channel)) {
            let is_deaf = self.lost.lost().iter().any(|other| other.told.contains(&room.id));
            if !is_deaf {
                tell(&room);
            }
        }
        Some(regained.affects)
    }

    /// Tells a room that is new in memory, or has another mode, that nothing is heard there. The list stays
    /// locked until it knows: a connection that stands again meanwhile is told afterwards.
    pub(crate) fn tell_lost(&self, cell: &Arc<RoomCell>) {
        let mut lost = self.lost.lost();
        let mut affecting: Vec<_> = lost.iter_mut().filter(|it| (it.affects)(cell.id)).collect();
        for lost in &mut affecting {
            lost.told.insert(cell.id);
        }
        if let Some(since) = affecting.iter().map(|lost| lost.since).min() {
            self.update(cell, |room, cx, now| Room::lose_gateway(room, cx, now, since));
        }
    }
}

impl fmt::Debug for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lost")
            .field("connection", &self.connection)
            .field("since", &self.since)
            .finish_non_exhaustive()
    }
}
