//! The leftovers for agents' next turns in channels that left memory.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::ChannelId;
use crate::room::inbox::Leftovers;
use crate::values::sync::locked;

/// The most memory that leftovers take, about, in bytes. Above it the oldest are lost.
const BYTES_MAX: usize = 16 * 1_024 * 1_024;
const CHANNELS_MAX: usize = 4_096;

/// The unposted texts of each channel that left memory, for its agents. No record has them, because stores see no more
/// of agents' texts than they must.
#[derive(Debug, Default)]
pub(super) struct LeftoverStore {
    /// The channels. Those that left memory first are at the front.
    channels: Mutex<VecDeque<(ChannelId, Leftovers)>>,
}

impl LeftoverStore {
    pub(super) fn keep(&self, channel: ChannelId, leftovers: Leftovers) {
        if leftovers.is_empty() {
            return;
        }
        let mut channels = locked(&self.channels);
        channels.retain(|(known, _)| *known != channel);
        channels.push_back((channel, leftovers));
        let mut bytes: usize = channels.iter().map(|(_, leftovers)| leftovers.bytes()).sum();
        // The oldest channels lose theirs, because their agents may never speak there again.
        while bytes > BYTES_MAX || channels.len() > CHANNELS_MAX {
            let Some((channel, lost)) = channels.pop_front() else {
                return;
            };
            bytes = bytes.saturating_sub(lost.bytes());
            tracing::debug!(%channel, "memory is short: what was not posted is not handed back to its agents");
        }
    }

    /// Takes the leftovers of a channel that is in memory again, or that no longer belongs to this process.
    pub(super) fn take(&self, channel: ChannelId) -> Option<Leftovers> {
        let mut channels = locked(&self.channels);
        let at = channels.iter().position(|(known, _)| *known == channel)?;
        channels.remove(at).map(|(_, leftovers)| leftovers)
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::AgentKey;

    use super::*;
    use crate::ports::turn::Said;
    use crate::room::inbox::Inbox;

    fn left(bytes: usize) -> Leftovers {
        let mut inbox = Inbox::default();
        inbox.keep_late(AgentKey::new(1), Said::words(&"x".repeat(bytes)));
        inbox.take_leftovers()
    }

    #[test]
    fn what_waits_in_channels_that_left_memory_is_bounded_and_the_oldest_goes_first() {
        let shelf = LeftoverStore::default();
        for channel in 0..5_000 {
            shelf.keep(ChannelId::new(channel), left(1));
        }
        assert_eq!(locked(&shelf.channels).len(), CHANNELS_MAX);
        assert!(shelf.take(ChannelId::new(0)).is_none());
        assert_eq!(shelf.take(ChannelId::new(4_999)).unwrap().bytes(), 1);
        assert!(shelf.take(ChannelId::new(4_999)).is_none());
        let shelf = LeftoverStore::default();
        for channel in 0..1_000 {
            shelf.keep(ChannelId::new(channel), left(32 * 1_024));
        }
        let bytes: usize = locked(&shelf.channels).iter().map(|(_, left)| left.bytes()).sum();
        assert_eq!(bytes, BYTES_MAX);
        assert!(shelf.take(ChannelId::new(999)).is_some());
        let many = locked(&shelf.channels).len();
        shelf.keep(ChannelId::new(1), left(0));
        shelf.keep(ChannelId::new(998), left(2));
        assert_eq!(locked(&shelf.channels).len(), many + 1, "one of each channel");
        shelf.keep(ChannelId::new(2), Leftovers::default());
        assert!(shelf.take(ChannelId::new(2)).is_none());
    }
}
