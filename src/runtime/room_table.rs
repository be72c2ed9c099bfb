//! The table of all channels, and of those that are in memory.

use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};

use dirigent_core::MessageId;
use rustc_hash::FxHashMap;

use super::cell::{Epochs, RoomCell};
use super::leftovers::LeftoverStore;
use super::timers::Timers;
use crate::record::channel::Revision;
use crate::room::inbox::Leftovers;
use crate::values::load_error::Barred;
use crate::values::sync::locked;
use crate::{CallError, ChannelId};

/// Every channel that has a record, or is about to have one.
#[derive(Debug, Default)]
pub(crate) struct RoomTable {
    /// A channel that leaves memory leaves no deadline behind.
    timers: Arc<Timers>,
    slots: Mutex<FxHashMap<ChannelId, Slot>>,
    loading: Mutex<FxHashMap<ChannelId, Loading>>,
    shelf: LeftoverStore,
}

#[derive(Debug, Default)]
struct Loading {
    lock: Arc<tokio::sync::Mutex<()>>,
    /// The number of guards that share the lock. It is counted under the table's lock, so that one of two guards that
    /// are dropped at once is the last.
    guards: usize,
}

/// A channel that the store knows. The fields are flat, because there may be a million, and nested ones take more.
#[derive(Debug)]
pub(super) enum Slot {
    /// The channel is only in the store, as an earlier process or another one left it.
    Stored {
        /// `true` if its record was read, and nothing waits there.
        rests: bool,
    },
    /// The channel is only in the store, as this process left it.
    Parked {
        /// `true` if it keeps no turns, so that messages there do not matter.
        is_closed: bool,
        /// `true` if something waits there for an agent that may have a turn.
        awaits_agents: bool,
        /// The newest message. 0 means none, because an option takes more room.
        newest: u64,
        gap: u32,
        presence: u64,
    },
    /// The channel is in memory. `pins` counts its users.
    Awake { cell: Arc<RoomCell>, pins: usize },
    /// The record cannot be used. Everything is denied until an operator decides.
    Barred { why: Barred, sound: Option<Revision> },
}

impl Slot {
    /// Returns whether the channel is or could be in memory, and may keep turns.
    const fn may_keep_turns(&self) -> bool {
        match self {
            Self::Stored { .. } | Self::Awake { .. } => true,
            Self::Parked { is_closed, .. } => !*is_closed,
            Self::Barred { .. } => false,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Bar {
    /// The record's revision, if the store considers it intact.
    pub(super) sound: Option<Revision>,
}

/// The facts about a parked channel that its record does not have.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parked {
    /// The newest message, or 0. In a channel without turns it alone is no reason to store anything.
    pub(super) newest: u64,
    pub(super) epochs: Epochs,
}

/// The lock of a channel that is being loaded. It is dropped with its last guard.
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
        let mut loading = locked(&self.table.loading);
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
        locked(&self.slots)
    }

    /// Returns the guard to hold while a room for this channel is made, so that there is never a second one.
    pub(crate) fn load_guard(&self, channel: ChannelId) -> LoadGuard<'_> {
        let mut loading = locked(&self.loading);
        let Loading { lock, guards } = loading.entry(channel).or_default();
        *guards += 1;
        LoadGuard { table: self, channel, lock: Arc::clone(lock) }
    }

    pub(crate) fn know(&self, channels: Vec<ChannelId>) {
        let mut slots = self.slots();
        slots.reserve(channels.len());
        for channel in channels {
            slots.entry(channel).or_insert(Slot::Stored { rests: false });
        }
    }

    /// Handles channels that came from another process. Everything known of them beyond the store is dropped. Those in
    /// memory were released before.
    pub(crate) fn came(&self, channels: &[ChannelId]) {
        let mut slots = self.slots();
        for channel in channels {
            // Unposted texts of an earlier term must not come back with the channel.
            self.shelf.take(*channel);
            let slot = slots.entry(*channel).or_insert(Slot::Stored { rests: false });
            // A room in memory is released by its last user.
            if !matches!(slot, Slot::Awake { .. }) {
                *slot = Slot::Stored { rests: false };
            }
        }
    }

    /// Returns whether the channel ever had a mode.
    pub(crate) fn is_known(&self, channel: ChannelId) -> bool {
        self.slots().contains_key(&channel)
    }

    /// Returns all channels that the store knows, in ascending order.
    pub(crate) fn known(&self) -> Vec<ChannelId> {
        let mut known: Vec<_> = self.slots().keys().copied().collect();
        known.sort_unstable();
        known
    }

    /// Returns the channels that are not in memory, could be, and may keep turns.
    pub(crate) fn asleep(&self) -> Vec<ChannelId> {
        let slots = self.slots();
        let is_awake = |slot: &Slot| matches!(slot, Slot::Awake { .. });
        let asleep = slots.iter().filter(|(_, slot)| slot.may_keep_turns() && !is_awake(slot));
        asleep.map(|(channel, _)| *channel).collect()
    }

    /// Returns whether turns are kept in the channel, as far as that is known without its record.
    pub(crate) fn may_keep_turns(&self, channel: ChannelId) -> bool {
        let cell = match self.slots().get(&channel) {
            Some(Slot::Awake { cell, .. }) => Arc::clone(cell),
            slot => return slot.is_some_and(Slot::may_keep_turns),
        };
        // The cell is locked outside of the table's lock.
        cell.lock().room.look().machine().view().mode().keeps_turns()
    }

    /// Returns the channels that are not in memory, and in which something waits for an agent that may have a turn.
    pub(crate) fn awaiting_agents(&self) -> Vec<ChannelId> {
        let slots = self.slots();
        let awaiting = slots
            .iter()
            .filter(|(_, slot)| matches!(slot, Slot::Parked { awaits_agents: true, .. }));
        awaiting.map(|(channel, _)| *channel).collect()
    }

    /// Returns whether something waits in the channel, as far as the table knows.
    pub(super) fn need(&self, channel: ChannelId) -> Need {
        match self.slots().get(&channel) {
            Some(Slot::Awake { .. } | Slot::Parked { awaits_agents: true, .. }) => Need::Busy,
            Some(Slot::Stored { rests: false }) => Need::Unknown,
            // Nothing waited when it left memory.
            Some(Slot::Stored { rests: true } | Slot::Parked { .. } | Slot::Barred { .. })
            | None => Need::Rests,
        }
    }

    /// Records that nothing waits in the channel, according to its record.
    pub(super) fn rests(&self, channel: ChannelId) {
        if let Some(Slot::Stored { rests }) = self.slots().get_mut(&channel) {
            *rests = true;
        }
    }

    /// Returns the channel, if it is in memory.
    ///
    /// # Errors
    ///
    /// Fails with the reason why its record cannot be used.
    pub(super) fn find(self: &Arc<Self>, channel: ChannelId) -> Result<Found, CallError> {
        match self.slots().get_mut(&channel) {
            None => Ok(Found::Unknown),
            Some(Slot::Barred { why, .. }) => Err((*why).into()),
            Some(slot) => Ok(self.pin(slot).map_or(Found::Asleep, Found::Awake)),
        }
    }

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

    pub(super) fn barred(&self, channel: ChannelId) -> Option<Bar> {
        let slots = self.slots();
        let Slot::Barred { sound, .. } = slots.get(&channel)? else { return None };
        Some(Bar { sound: *sound })
    }

    /// Adds the room to the table. From now on every task can use it.
    pub(super) fn publish(self: &Arc<Self>, cell: &Arc<RoomCell>) -> RoomRef {
        self.slots().insert(cell.id, Slot::Awake { cell: Arc::clone(cell), pins: 1 });
        RoomRef { table: Arc::clone(self), cell: Arc::clone(cell) }
    }

    pub(super) fn parked(&self, channel: ChannelId) -> Option<Parked> {
        let slots = self.slots();
        let &Slot::Parked { newest, gap, presence, .. } = slots.get(&channel)? else { return None };
        Some(Parked { newest, epochs: Epochs { gap, presence } })
    }

    pub(super) fn leftovers(&self, channel: ChannelId) -> Option<Leftovers> {
        self.shelf.take(channel)
    }

    pub(crate) fn awake(self: &Arc<Self>, channel: ChannelId) -> Option<RoomRef> {
        self.slots().get_mut(&channel).and_then(|slot| self.pin(slot))
    }

    pub(crate) fn all_awake(self: &Arc<Self>) -> Vec<RoomRef> {
        self.slots().values_mut().filter_map(|slot| self.pin(slot)).collect()
    }

    fn pin(self: &Arc<Self>, slot: &mut Slot) -> Option<RoomRef> {
        let Slot::Awake { cell, pins } = slot else { return None };
        *pins += 1;
        Some(RoomRef { table: Arc::clone(self), cell: Arc::clone(cell) })
    }

    /// Handles the end of one use of the channel. After the last one, a channel at rest leaves memory. All of it
    /// happens under the table's lock, so that one of two users that end at once is the last.
    fn park(&self, cell: &Arc<RoomCell>) {
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&cell.id) else {
            return;
        };
        let Slot::Awake { cell: known, pins } = slot else { return };
        if !Arc::ptr_eq(known, cell) {
            return;
        }
        *pins -= 1;
        if *pins > 0 {
            return;
        }
        // There is no other user, so this does not wait.
        let mut state = cell.lock();
        let is_taken_over = state.room.look().commit().is_taken_over();
        if !is_taken_over && !state.is_at_rest() {
            return;
        }
        // A deadline that stayed would wake the driver again and again.
        self.timers.set(cell.id, state.due.take(), None);
        // The record is another process's now, so no fact about it counts any more.
        if is_taken_over {
            *slot = Slot::Stored { rests: false };
            return;
        }
        if state.room.look().commit().is_damaged() {
            // It is damaged, and no operator has given it a mode.
            let sound = state.room.look().commit().stored();
            *slot = Slot::Barred { why: Barred::Damaged, sound };
            return;
        }
        let newest = state.room.look().machine().view().newest().map_or(0, MessageId::get);
        let is_closed = !state.room.look().machine().view().mode().keeps_turns();
        let Epochs { gap, presence } = state.epochs;
        let awaits_agents = state.room.look().awaits_agents();
        *slot = Slot::Parked { is_closed, awaits_agents, newest, gap, presence };
        // No record has them, and after about ten minutes of rest they were once lost.
        if let Some(inbox) = state.room.inbox() {
            self.shelf.keep(cell.id, inbox.take_leftovers());
        }
        if state.room.look().commit().stored().is_none() {
            // There was never anything to store.
            slots.remove(&cell.id);
        }
    }

    /// Removes the channel from the table. Users of its room cannot change anything. Returns whether it was there.
    pub(crate) fn forget(&self, channel: ChannelId) -> bool {
        let forgotten = self.slots().remove(&channel);
        self.shelf.take(channel);
        if let Some(Slot::Awake { cell, .. }) = &forgotten {
            // The room may still be in use, and must have no deadline any more.
            self.timers.set(channel, cell.lock().due.take(), None);
        }
        forgotten.is_some()
    }

    /// Releases a room that another process has taken over. Its next event loads it again. Returns whether it was here.
    pub(crate) fn release_taken_over(&self, cell: &Arc<RoomCell>) -> bool {
        // Locked before the table, because a room asks the adapter, and the adapter may ask the table under a lock of
        // its own. The other order once ended in a deadlock.
        let mut state = cell.lock();
        let mut slots = self.slots();
        let Some(slot) = slots.get_mut(&cell.id) else { return false };
        let is_it = matches!(slot, Slot::Awake { cell: known, .. } if Arc::ptr_eq(known, cell));
        if is_it {
            *slot = Slot::Stored { rests: false };
            self.timers.set(cell.id, state.due.take(), None);
        }
        is_it
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    Busy,
    Rests,
    /// Only its record shows it.
    Unknown,
}

pub(super) enum Found {
    Awake(RoomRef),
    Asleep,
    Unknown,
}

/// A use of a channel in memory. When the last one is dropped and the channel is at rest, it leaves memory.
pub(crate) struct RoomRef {
    table: Arc<RoomTable>,
    cell: Arc<RoomCell>,
}

impl RoomRef {
    /// Adds a use of the same room, even if the table no longer has it, because its actions still end in it.
    pub(super) fn again(&self) -> Self {
        let mut slots = self.table.slots();
        if let Some(Slot::Awake { cell, pins }) = slots.get_mut(&self.cell.id) {
            // Another room may stand at its place, for example after an erasure.
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
