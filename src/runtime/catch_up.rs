//! The channels that have to read what they missed.

use std::collections::BTreeSet;
use std::sync::Mutex;

use dirigent_core::Timestamp;
use tokio::sync::{Notify, Semaphore};

use crate::ChannelId;
use crate::values::sync::locked;

/// The number of channels that are brought up to date at once. Each mostly waits for the store and the chat.
pub(super) const AT_ONCE: usize = 16;

#[derive(Debug)]
pub(crate) struct CatchUp {
    /// Channels that read what they missed if they do not know the newest gap.
    wanted: Mutex<BTreeSet<ChannelId>>,
    /// Channels that could not be loaded for a new message. They read what they missed, whatever they know.
    unloaded: Mutex<BTreeSet<ChannelId>>,
    /// Channels that are not in memory, with the time until which their newest message is awaited.
    awaited: Mutex<Option<(Timestamp, BTreeSet<ChannelId>)>>,
    pub(super) called: Notify,
    /// Places for channels that are brought up to date at once, for all calls together.
    pub(super) places: Semaphore,
}

impl Default for CatchUp {
    fn default() -> Self {
        let places = Semaphore::new(AT_ONCE);
        let (wanted, unloaded, awaited) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { wanted, unloaded, awaited, called: Notify::default(), places }
    }
}

impl CatchUp {
    /// Records that these channels may have missed messages.
    pub(crate) fn call(&self, channels: impl IntoIterator<Item = ChannelId>) {
        locked(&self.wanted).extend(channels);
        self.called.notify_one();
    }

    /// Records that this channel could not be loaded for a new message.
    pub(super) fn call_unloaded(&self, channel: ChannelId) {
        locked(&self.unloaded).insert(channel);
        self.called.notify_one();
    }

    pub(super) fn take(&self) -> Vec<ChannelId> {
        std::mem::take(&mut *locked(&self.wanted)).into_iter().collect()
    }

    pub(super) fn take_unloaded(&self) -> Vec<ChannelId> {
        std::mem::take(&mut *locked(&self.unloaded)).into_iter().collect()
    }

    /// Records that the newest message of this channel was reported.
    pub(crate) fn told_newest(&self, channel: ChannelId) {
        if let Some((_, channels)) = locked(&self.awaited).as_mut() {
            channels.remove(&channel);
        }
    }

    /// Waits for the newest messages of these channels. The earliest wait counts for all.
    pub(super) fn await_newest(
        &self,
        by: Timestamp,
        channels: impl IntoIterator<Item = ChannelId>,
    ) {
        let mut awaited = locked(&self.awaited);
        let (until, waiting) = awaited.get_or_insert_with(|| (by, BTreeSet::new()));
        // The clock may have gone back since the other session began.
        *until = by.min(*until);
        waiting.extend(channels);
        drop(awaited);
        self.called.notify_one();
    }

    pub(super) fn awaited_until(&self) -> Option<Timestamp> {
        locked(&self.awaited).as_ref().map(|(until, _)| *until)
    }

    /// Stops waiting for newest messages, because all channels learn of a gap.
    pub(crate) fn forget_awaited(&self) {
        locked(&self.awaited).take();
    }

    pub(super) fn take_awaited(&self) -> Vec<ChannelId> {
        locked(&self.awaited).take().into_iter().flat_map(|(_, channels)| channels).collect()
    }
}
