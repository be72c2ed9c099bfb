//! Limits the memory of the messages of all channels, and chooses the channel that drops its messages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::room::Room;

/// The memory of all channels together for messages that agents still have to get.
#[derive(Debug)]
pub(crate) struct TextBudget {
    bytes: AtomicUsize,
    most: usize,
}

/// The share of one channel, for as long as the channel is in memory.
#[derive(Debug)]
pub(super) struct TextShare {
    budget: Arc<TextBudget>,
    bytes: usize,
}

impl TextBudget {
    pub(super) fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { bytes: AtomicUsize::new(0), most })
    }

    /// Returns whether it is more than allowed.
    pub(super) fn is_spent(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.most
    }

    /// Returns whether there is room again.
    pub(super) fn is_low(&self) -> bool {
        // Otherwise each message would have to make room for the next one.
        self.bytes.load(Ordering::Relaxed) <= self.most / 4 * 3
    }

    /// Records how much memory the room's texts take.
    pub(super) fn note(self: &Arc<Self>, share: &mut Option<TextShare>, room: &Room) {
        let bytes = room.look().text_bytes();
        if bytes != share.as_ref().map_or(0, |share| share.bytes) {
            let budget = Arc::clone(self);
            let share = share.get_or_insert(TextShare { budget, bytes: 0 });
            // Added first, so that the sum does not fall below zero in between.
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
            self.bytes.fetch_sub(share.bytes, Ordering::Relaxed);
            share.bytes = bytes;
        }
    }
}

impl Drop for TextShare {
    fn drop(&mut self) {
        self.budget.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_leaves_memory_leaves_none_behind() {
        let budget = TextBudget::new(100);
        budget.bytes.fetch_add(90, Ordering::Relaxed);
        let share = TextShare { budget: Arc::clone(&budget), bytes: 90 };
        assert!(!budget.is_spent() && !budget.is_low());
        drop(share);
        assert!(budget.is_low());
    }
}
