//! The table of all channels, and of those that are in memory.

use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent_core::MessageId;
use rustc_hash::FxHashMap;

use super::cell::{Epochs, RoomCell};
use super::leftovers::Shelf;
use super::timers::Timers;
use crate::record::channel::Revision;
use crate::room::inbox::Leftovers;
use crate::values::load_error::Barred;
use crate::{CallError, ChannelId};

/// Every channel that has a record, or is about to have one.
#[derive(Debug, Default)]
pub(crate) struct RoomTable {
    /// A channel that leaves memory leaves no deadline behind.
    timers: Arc<Timers>,
    slots: Mutex<FxHashMap<ChannelId, Slot>>,
    loading: Mutex<FxHashMap<ChannelId, Loading>>,
    /// What waits for agents in channels that left memory.
    shelf: Shelf,
}

/// A channel on its way into memory.
#[derive(Debug, Default)]
struct Loading {
    lock: Arc<tokio::sync::Mutex<()>>,
    /// How many guards share the lock. Counted under the table's lock: of two that are dropped at once, one is the last.
    guards: usize,
}

/// A channel that the store knows. Each field stands for itself, which takes less room than a value of several: there may
/// be a million of them.
#[derive(Debug)]
pub(super) enum Slot {
    /// Only in the store, as an earlier process, or another one, left it.
    Stored {
        /// Its record was looked at: nothing waits there.
        rests: bool,
    },
    /// Only in the store, as this process left it.
    Parked {
        /// It keeps no turns: what is said there does not matter.
        is_closed: bool,
        /// Something waits there for an agent that may have a turn.
        awaits_agents: bool,
        /// The newest message, 0 for none. (A number takes less room than an option.)
        newest: u64,
        /// See [`Epochs`].
        gap: u32,
        presence: u64,
    },
    /// In memory, with the number of its users.
    Awake { cell: Arc<RoomCell>, pins: usize },
    /// Its record cannot be used: everything is denied until an operator decides.
    Barred { why: Barred, sound: Option<Revision> },
}

impl Slot {
    /// Whether the channel is or could be in memory, and may keep turns.
    const fn may_keep_turns(&self) -> bool {
        match self {
            Self::Stored { .. } | Self::Awake { .. } => true,
            Self::Parked { is_closed, .. } => !*is_closed,
            Self::Barred { .. } => false,
        }
    }
}

/// That a record cannot be used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    /// The record's revision, where the store takes it for a sound one.
    pub(super) sound: Option<Revision>,
}

/// What is known of a parked channel beyond its record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parked {
    /// The newest message, 0 for none: where no turns are kept, it alone is no reason to store anything. (A
    /// number takes less room than an option.)
    pub(super) newest: u64,
    /// Up to what it was told of what concerns all channels.
    pub(super) epochs: Epochs,
}

/// The lock of a channel that is on its way into memory. It is forgotten when the last one who
/// wanted it releases it.
pub(crate) struct LoadGuard<'a> {
    table: &'a RoomTable,
    channel: ChannelId,
    lock: Arc<tokio::sync::Mutex<()>>,
}

impl LoadGuard<'_> {
    pub(crate) fn lock(&self) -> &tokio::sync::Mutex<()> {
        &self.lock
    }
}

impl Drop for LoadGuard<'_> {
    fn drop(&mut self) {
        let mut loading = self.table.loading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut entry) = loading.entry(self.channel) {
            entry.get_mut().guards -= 1;
            if entry.get().guards == 0 {
                entry.remove();
            }
        }
    }
}

impl RoomTable {
    pub(crate) fn new(timers: Arc<Timers>) -> Self {
        Self { timers, ..Self::default() }
    }

    pub(super) fn slots(&self) -> MutexGuard<'_, FxHashMap<ChannelId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock to hold while a room for this channel is made, so that there is never a second one.
    pub(crate) fn load_guard(&self, channel: ChannelId) -> LoadGuard<'_> {
        let mut loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let Loading { lock, guards } = loading.entry(channel).or_default();
        *guards += 1;
        LoadGuard { table: self, channel, lock: Arc::clone(lock) }
    }

    /// Takes note of what the store knows.
    pub(crate) fn know(&self, channels: Vec<ChannelId>) {
        let mut slots = self.slots();
        slots.reserve(channels.len());
        for channel in channels {
            slots.entry(channel).or_insert(Slot::Stored { rests: false });
        }
    }

    /// These channels came from another process: what is known of them beyond the store is of no account. Those in memory were
    /// released before.
    pub(crate) fn came(&self, channels: &[ChannelId]) {
        let mut slots = self.slots();
        for channel in channels {
            self.shelf.take(*channel);
            let slot = slots.entry(*channel).or_insert(Slot::Stored { rests: false });
            if !matches!(slot, Slot::Awake { .. }) {
                *slot = Slot::Stored { rests: false };
            }
        }
    }

    /// Whether the channel was ever given a mode.
    pub(crate) fn is_known(&self, channel: ChannelId) -> bool {
        self.slots().contains_key(&channel)
    }

    /// All channels that the store knows, in ascending order.
    pub(crate) fn known(&self) -> Vec<ChannelId> {
        let mut known: Vec<_> = self.slots().keys().copied().collect();
        known.sort_unstable();
        known
    }

    /// The channels that are not in memory, could be, and may keep turns.
    pub(crate) fn asleep(&self) -> Vec<ChannelId> {
        let slots = self.slots();
        let is_awake = |slot: &Slot| matches!(slot, Slot::Awake { .. });
        let asleep = slots.iter().filter(|(_, slot)| slot.may_keep_turns() && !is_awake(slot));
        asleep.map(|(channel, _)| *channel).collect()
    }

    /// Whether turns are kept in the channel, as far as that is known without its record.
    pub(crate) fn may_keep_turns(&self, channel: ChannelId) -> bool {
        let cell = match self.slots().get(&channel) {
            Some(Slot::Awake { cell, .. }) => Arc::clone(cell),
            slot => return slot.is_some_and(Slot::may_keep_turns),
        };
        // Outside the table's lock.
        cell.lock().room.look().machine().view().mode().keeps_turns()
    }

    /// The channels that are not in memory, and in which something waits for an agent that may have a turn.
    pub(crate) fn awaiting_agents(&self) -> Vec<ChannelId> {
        let slots = self.slots();
        let awaiting = slots
            .iter()
            .filter(|(_, slot)| matches!(slot, Slot::Parked { awaits_agents: true, .. }));
        awaiting.map(|(channel, _)| *channel).collect()
    }

    /// Whether something waits in the channel, as far as the table knows.
    pub(super) fn need(&self, channel: ChannelId) -> Need {
        match self.slots().get(&channel) {
            Some(Slot::Awake { .. } | Slot::Parked { awaits_agents: true, .. }) => Need::Busy,
            Some(Slot::Stored { rests: false }) => Need::Unknown,
            // It left memory at rest.
            Some(Slot::Stored { rests: true } | Slot::Parked { .. } | Slot::Barred { .. })
            | None => Need::Rests,
        }
    }

    /// The record of the channel was looked at, and nothing waits there.
    pub(super) fn rests(&self, channel: ChannelId) {
        if let Some(Slot::Stored { rests }) = self.slots().get_mut(&channel) {
            *rests = true;
        }
    }

    /// The channel, where it is in memory.
    ///
    /// # Errors
    ///
    /// Why its record cannot be used.
    pub(super) fn find(self: &Arc<Self>, channel: ChannelId) -> Result<Found, CallError> {
        match self.slots().get_mut(&channel) {
            None => Ok(Found::Unknown),
            Some(Slot::Barred { why, .. }) => Err((*why).into()),
            Some(slot) => Ok(self.pin(slot).map_or(Found::Asleep, Found::Awake)),
        }
    }

    /// The channel's record cannot be used.
    pub(super) fn bar(
        &self,
        channel: ChannelId,
        why: Barred,
        sound: Option<Revision>,
    ) -> CallError {
        tracing::error!(%channel, %why, "a channel is barred");
        self.slots().insert(channel, Slot::Barred { why, sound });
        why.into()
    }

    /// Why the channel's record cannot be used, if it cannot.
    pub(super) fn barred(&self, channel: ChannelId) -> Option<Bar> {
        match self.slots().get(&channel)? {
            Slot::Barred { sound, .. } => Some(Bar { sound: *sound }),
            Slot::Stored { .. } | Slot::Parked { .. } | Slot::Awake { .. } => None,
        }
    }

    /// From now on every task can get hold of this room.
    pub(super) fn publish(self: &Arc<Self>, cell: &Arc<RoomCell>) -> RoomRef {
        self.slots().insert(cell.id, Slot::Awake { cell: Arc::clone(cell), pins: 1 });
        RoomRef { table: Arc::clone(self), cell: Arc::clone(cell) }
    }

    pub(super) fn parked(&self, channel: ChannelId) -> Option<Parked> {
        match self.slots().get(&channel)? {
            Slot::Parked { newest, gap, presence, .. } => {
                let epochs = Epochs { gap: *gap, presence: *presence };
                Some(Parked { newest: *newest, epochs })
            }
            Slot::Stored { .. } | Slot::Awake { .. } | Slot::Barred { .. } => None,
        }
    }

    /// What waited for agents in the channel when it left memory.
    pub(super) fn leftovers(&self, channel: ChannelId) -> Option<Leftovers> {
        self.shelf.take(channel)
    }

    /// The channel in memory, if it is there.
    pub(crate) fn awake(self: &Arc<Self>, channel: ChannelId) -> Option<RoomRef> {
        self.slots().get_mut(&channel).and_then(|slot| self.pin(slot))
    }

    /// The channels in memory.
    pub(crate) fn all_awake(self: &Arc<Self>) -> Vec<RoomRef> {
        self.slots().values_mut().filter_map(|slot| self.pin(slot)).collect()
    }

    fn pin(self: &Arc<Self>, slot: &mut Slot) -> Option<RoomRef> {
        match slot {
            Slot::Awake { cell, pins } => {
                *pins += 1;
                Some(RoomRef { table: Arc::clone(self), cell: Arc::clone(cell) })
            }
            Slot::Stored { .. } | Slot::Parked { .. } | Slot::Barred { .. } => None,
        }
    }

    /// One holder fewer of the channel. Once there is none and it rests, it leaves memory. All that happens
    /// under the table's lock, so that of two who release it at once, one is the last.
    fn park(&self, cell: &Arc<RoomCell>) {
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&cell.id) else {
            return;
        };
        match slot {
            Slot::Awake { cell: known, pins } if Arc::ptr_eq(known, cell) => {
                *pins -= 1;
                if *pins > 0 {
                    return;
                }
            }
            Slot::Awake { .. }
            | Slot::Stored { .. }
            | Slot::Parked { .. }
            | Slot::Barred { .. } => return,
        }
        // There is no other user: the lock is not waited for.
        let mut state = cell.lock();
        let is_taken_over = state.room.look().commit().is_taken_over();
        if !is_taken_over && !state.is_at_rest() {
            return;
        }
        // A room that left memory has no deadline: the driver would wake for it again and again.
        self.timers.set(cell.id, state.due.take(), None);
        if is_taken_over {
            *slot = Slot::Stored { rests: false };
            return;
        }
        if state.room.look().commit().is_damaged() {
            // No operator gave it a mode.
            let sound = state.room.look().commit().stored();
            *slot = Slot::Barred { why: Barred::Damaged, sound };
            return;
        }
        let newest = state.room.look().machine().view().newest().map_or(0, MessageId::get);
        let is_closed = !state.room.look().machine().view().mode().keeps_turns();
        let Epochs { gap, presence } = state.epochs;
        let awaits_agents = state.room.look().awaits_agents();
        *slot = Slot::Parked { is_closed, awaits_agents, newest, gap, presence };
        if let Some(inbox) = state.room.inbox() {
            self.shelf.keep(cell.id, inbox.take_leftovers());
        }
        if state.room.look().commit().stored().is_none() {
            // It was never given anything to remember.
            slots.remove(&cell.id);
        }
    }

    /// The channel is not in the table any more; those who hold its room cannot change anything. Returns whether
    /// it was there.
    pub(crate) fn forget(&self, channel: ChannelId) -> bool {
        let forgotten = self.slots().remove(&channel);
        self.shelf.take(channel);
        if let Some(Slot::Awake { cell, .. }) = &forgotten {
            self.timers.set(channel, cell.lock().due.take(), None);
        }
        forgotten.is_some()
    }

    /// Another process has taken the channel over: its next event reads it anew. Returns whether the room was in the table.
    pub(crate) fn release_taken_over(&self, cell: &Arc<RoomCell>) -> bool {
        // Before the table: a room asks the adapter, and the adapter may ask the table.
        let mut state = cell.lock();
        let mut slots = self.slots();
        if let Some(slot @ Slot::Awake { .. }) = slots.get_mut(&cell.id) {
            let is_it = matches!(slot, Slot::Awake { cell: known, .. } if Arc::ptr_eq(known, cell));
            if is_it {
                *slot = Slot::Stored { rests: false };
                self.timers.set(cell.id, state.due.take(), None);
            }
            return is_it;
        }
        false
    }
}

/// Whether something waits in a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Busy,
    Rests,
    /// Its record says it.
    Unknown,
}

/// What the table has of a channel.
pub(super) enum Found {
    Awake(RoomRef),
    /// Only the store has it.
    Asleep,
    Unknown,
}

/// A channel that is held in memory. When the last one who holds it drops this, and it rests, it leaves
/// memory.
pub(crate) struct RoomRef {
    table: Arc<RoomTable>,
    cell: Arc<RoomCell>,
}

impl RoomRef {
    /// Holds the same room once more, also one that the table does not have any more: what it began still ends in it.
    pub(super) fn again(&self) -> Self {
        let mut slots = self.table.slots();
        if let Some(Slot::Awake { cell, pins }) = slots.get_mut(&self.cell.id) {
            *pins += usize::from(Arc::ptr_eq(cell, &self.cell));
        }
        Self { table: Arc::clone(&self.table), cell: Arc::clone(&self.cell) }
    }
}

impl Deref for RoomRef {
    type Target = Arc<RoomCell>;

    fn deref(&self) -> &Arc<RoomCell> {
        &self.cell
    }
}

impl Drop for RoomRef {
    fn drop(&mut self) {
        self.table.park(&self.cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_channel_that_left_memory_takes_three_words() {
        assert_eq!(size_of::<Slot>(), 24);
    }
}
