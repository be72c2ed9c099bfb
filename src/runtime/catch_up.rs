//! The channels that have to read what they missed.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dirigent_core::Timestamp;
use tokio::sync::{Notify, Semaphore};

use crate::ChannelId;

/// How many channels are brought up to date at once: what each waits for is the store and the chat.
pub(super) const AT_ONCE: usize = 16;

/// Channels that are to be loaded and brought up to date.
#[derive(Debug)]
pub(crate) struct CatchUp {
    /// Channels that read what was missed if they do not know of the newest gap.
    wanted: Mutex<BTreeSet<ChannelId>>,
    /// Channels that could not be loaded when something was said: they read what was missed whatever they know.
    unloaded: Mutex<BTreeSet<ChannelId>>,
    /// Channels that are not in memory, and until when their newest message is waited for.
    awaited: Mutex<Option<(Timestamp, BTreeSet<ChannelId>)>>,
    pub(super) called: Notify,
    /// Places for channels that are brought up to date at once, of all calls together.
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
    /// Something may have been missed in these channels.
    pub(crate) fn call(&self, channels: impl IntoIterator<Item = ChannelId>) {
        locked(&self.wanted).extend(channels);
        self.called.notify_one();
    }

    /// Something was said in this channel, which could not be loaded.
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

    /// The newest message of this channel was told.
    pub(crate) fn told_newest(&self, channel: ChannelId) {
        if let Some((_, channels)) = locked(&self.awaited).as_mut() {
            channels.remove(&channel);
        }
    }

    /// The newest messages of these channels are waited for; the earliest wait counts for all.
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

    /// All channels are told of a gap: no newest message is waited for.
    pub(crate) fn forget_awaited(&self) {
        locked(&self.awaited).take();
    }

    pub(super) fn take_awaited(&self) -> Vec<ChannelId> {
        locked(&self.awaited).take().into_iter().flat_map(|(_, channels)| channels).collect()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
