//! What was said when, by whom, and whether it should have been.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::ChannelId;

/// The turns that agents took. Clones are the same minutes.
#[derive(Clone, Default)]
pub(crate) struct Minutes {
    shared: Arc<MinuteCounts>,
}

#[derive(Default)]
struct MinuteCounts {
    taken: AtomicU64,
    /// How often the agents were given each of their turns, by channel and number.
    turns: Mutex<BTreeMap<(ChannelId, u64), u32>>,
    is_over: AtomicBool,
}

impl Minutes {
    /// An agent takes a turn, or runs for the trigger with this number. What it says: `None` once the talk
    /// is over.
    pub(crate) fn take(&self, channel: ChannelId, number: u64, agent: &str) -> Option<String> {
        if self.shared.is_over.load(Ordering::Relaxed) {
            return None;
        }
        self.shared.taken.fetch_add(1, Ordering::Relaxed);
        let mut turns = self.shared.turns.lock().unwrap_or_else(PoisonError::into_inner);
        *turns.entry((channel, number)).or_default() += 1;
        Some(format!("{number} is mine, says {agent}, and nobody else's."))
    }

    /// How many turns were taken with words.
    pub(crate) fn taken(&self) -> u64 {
        self.shared.taken.load(Ordering::Relaxed)
    }

    /// From now on nobody has anything to say.
    pub(crate) fn end(&self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
    }

    /// The turns of a channel, and how often each was taken.
    pub(crate) fn of(&self, channel: ChannelId) -> BTreeMap<u64, u32> {
        let turns = self.shared.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns
            .iter()
            .filter(|((of, _), _)| *of == channel)
            .map(|((_, number), times)| (*number, *times))
            .collect()
    }
}

/// The number that a reply begins with.
pub(crate) fn number_of(text: &str) -> Option<u64> {
    text.split_once(" is mine")?.0.parse().ok()
}
