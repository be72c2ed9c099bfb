//! Which runs were ended here, so that the same end told twice counts once.

use std::collections::VecDeque;

use dirigent::hooks::RunId;
use dirigent::{AgentId, ChannelId};
use tokio::sync::{Mutex, MutexGuard};

/// How many channels' worth of ends do not wait for each other.
const SHARDS: usize = 16;
/// How many ends of each shard are remembered.
const REMEMBERED: usize = 1_024;

type Run = (ChannelId, AgentId, RunId);

/// The newest ends, by channel.
#[derive(Default)]
pub(crate) struct Finished {
    shards: [Mutex<Newest>; SHARDS],
}

/// The newest ends of some channels, oldest first. While it is locked no other end of these is taken.
#[derive(Default)]
pub(crate) struct Newest(VecDeque<Run>);

impl Finished {
    pub(crate) async fn of(&self, channel: ChannelId) -> MutexGuard<'_, Newest> {
        // Discord's ids have their time in the upper bits and a count in the lowest.
        let mixed = channel.get().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 60;
        let [first, ..] = &self.shards;
        let shard = usize::try_from(mixed).ok().and_then(|shard| self.shards.get(shard));
        shard.unwrap_or(first).lock().await
    }
}

impl Newest {
    pub(crate) fn has(&self, run: &Run) -> bool {
        self.0.contains(run)
    }

    pub(crate) fn remember(&mut self, run: Run) {
        if self.0.len() >= REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(run);
    }
}
