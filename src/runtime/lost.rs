//! The lost connections to the gateway, for rooms that come into memory while they are lost.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use dirigent_core::Timestamp;

use crate::ChannelId;
use crate::values::sync::locked;

/// Says whether a connection serves a channel.
pub(crate) type Affects = dyn Fn(ChannelId) -> bool + Send + Sync;

#[derive(Debug, Default)]
pub(crate) struct LostConnections {
    lost: Mutex<Vec<Lost>>,
}

pub(super) struct Lost {
    pub(super) connection: u32,
    pub(super) since: Timestamp,
    pub(super) affects: Box<Affects>,
    /// The channels that know of the loss. Only these learn it when the connection stands again.
    pub(super) told: HashSet<ChannelId>,
}

impl LostConnections {
    pub(super) fn lost(&self) -> MutexGuard<'_, Vec<Lost>> {
        locked(&self.lost)
    }

    pub(crate) fn clear(&self) {
        self.lost().clear();
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
