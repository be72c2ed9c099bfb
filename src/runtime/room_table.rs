//! Which channels there are, and which of them are in memory.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use dirigent_core::{MessageId, Timestamp};
use rustc_hash::FxHashMap;

use super::Runtime;
use super::cell::{Epochs, RoomCell};
use crate::room::Room;
use crate::room::context::Context;
use crate::room::record::Origin;
use crate::{Barred, CallError, ChannelId, Input, LoadError, Revision};

/// Every channel that has a record, or is about to have one.
#[derive(Debug, Default)]
pub(crate) struct RoomTable {
    slots: Mutex<FxHashMap<ChannelId, Slot>>,
    loading: Mutex<HashMap<ChannelId, Weak<tokio::sync::Mutex<()>>>>,
}

/// A channel that the store knows.
#[derive(Debug)]
enum Slot {
    /// Only in the store, as an earlier process, or another one, left it.
    Stored,
    /// Only in the store, as this process left it.
    Parked(Parked),
    /// In memory, with the number of its users.
    Awake { cell: Arc<RoomCell>, pins: usize },
    /// Its record cannot be used: everything is denied until an operator decides.
    Barred(Bar),
}

/// Why a record cannot be used.
#[derive(Clone, Copy, Debug)]
struct Bar {
    why: Barred,
    /// The record's revision, where the store takes it for a sound one.
    sound: Option<Revision>,
}

/// What is known of a parked channel beyond its record.
#[derive(Clone, Copy, Debug, Default)]
struct Parked {
    /// It keeps no turns: what is said there does not matter.
    is_closed: bool,
    /// The newest message, 0 for none: where no turns are kept, it alone is no reason to store anything. (A
    /// number takes less room than an option.)
    newest: u64,
    /// Up to what it was told of what concerns all channels.
    epochs: Epochs,
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
        // Released while the table is locked: of two who do so at once, one is the last.
        drop(std::mem::take(&mut self.lock));
        if loading.get(&self.channel).is_some_and(|lock| lock.strong_count() == 0) {
            loading.remove(&self.channel);
        }
    }
}

impl RoomTable {
    fn slots(&self) -> MutexGuard<'_, FxHashMap<ChannelId, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock to hold while a room for this channel is made, so that there is never a second one.
    pub(crate) fn load_guard(&self, channel: ChannelId) -> LoadGuard<'_> {
        let mut loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loading.get(&channel).and_then(Weak::upgrade);
        let lock = known.unwrap_or_else(|| {
            let lock = Arc::default();
            loading.insert(channel, Arc::downgrade(&lock));
            lock
        });
        LoadGuard { table: self, channel, lock }
    }

    /// Takes note of what the store knows.
    pub(crate) fn know(&self, channels: Vec<ChannelId>) {
        let mut slots = self.slots();
        slots.reserve(channels.len());
        for channel in channels {
            slots.entry(channel).or_insert(Slot::Stored);
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
        let is_asleep = |slot: &Slot| match slot {
            Slot::Stored => true,
            Slot::Parked(parked) => !parked.is_closed,
            Slot::Awake { .. } | Slot::Barred(_) => false,
        };
        let slots = self.slots();
        slots.iter().filter(|(_, slot)| is_asleep(slot)).map(|(channel, _)| *channel).collect()
    }

    fn bar(&self, channel: ChannelId) -> Option<Bar> {
        match self.slots().get(&channel)? {
            Slot::Barred(bar) => Some(*bar),
            Slot::Stored | Slot::Parked(_) | Slot::Awake { .. } => None,
        }
    }

    fn parked(&self, channel: ChannelId) -> Option<Parked> {
        match self.slots().get(&channel)? {
            Slot::Parked(parked) => Some(*parked),
            Slot::Stored | Slot::Awake { .. } | Slot::Barred(_) => None,
        }
    }
}

impl Runtime {
    /// The channel in memory, if it is there.
    pub(crate) fn awake(self: &Arc<Self>, channel: ChannelId) -> Option<RoomRef> {
        self.rooms.slots().get_mut(&channel).and_then(|slot| self.pin(slot))
    }

    /// The channels in memory.
    pub(crate) fn all_awake(self: &Arc<Self>) -> Vec<RoomRef> {
        self.rooms.slots().values_mut().filter_map(|slot| self.pin(slot)).collect()
    }

    fn pin(self: &Arc<Self>, slot: &mut Slot) -> Option<RoomRef> {
        match slot {
            Slot::Awake { cell, pins } => {
                *pins += 1;
                Some(RoomRef { runtime: Arc::clone(self), cell: Arc::clone(cell) })
            }
            Slot::Stored | Slot::Parked(_) | Slot::Barred(_) => None,
        }
    }

    /// The channel, taken into memory if it must be; `None` when it was never given a mode. However many wait
    /// for the same channel, each waits no longer than a call may.
    pub(crate) async fn room(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<Option<RoomRef>, CallError> {
        match self.rooms.slots().get_mut(&channel) {
            None => return Ok(None),
            Some(Slot::Barred(bar)) => return Err(bar.why.into()),
            Some(slot) => {
                if let Some(room) = self.pin(slot) {
                    return Ok(Some(room));
                }
            }
        }
        self.within(self.settings.call_deadline, self.load(channel)).await?
    }

    /// The channel, made if there is none. An operator's act ends a bar: the new record takes the place
    /// of the damaged one.
    pub(crate) async fn room_or_new(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<RoomRef, CallError> {
        match self.room(channel).await {
            Ok(Some(room)) => return Ok(room),
            Ok(None) | Err(CallError::Barred(Barred::Damaged)) => {}
            Err(error) => return Err(error),
        }
        let guard = self.rooms.load_guard(channel);
        let limit = self.settings.call_deadline;
        let _one_at_a_time = self.within(limit, guard.lock.lock()).await?;
        if let Some(room) = self.awake(channel) {
            return Ok(room);
        }
        let now = self.clock.now();
        let seed = self.seed_of(channel);
        let mut room = Room::new(channel, self.config(), seed, self.process, now);
        if let Some(bar) = self.rooms.bar(channel) {
            room.replace_damaged(bar.sound);
        }
        let epochs = Epochs { gap: self.gap_epoch.load(Ordering::Acquire), presence: 0 };
        Ok(self.publish_room(room, epochs, |_, _, _| {}))
    }

    async fn load(self: &Arc<Self>, channel: ChannelId) -> Result<Option<RoomRef>, CallError> {
        let guard = self.rooms.load_guard(channel);
        let _one_at_a_time = guard.lock.lock().await;
        if let Some(room) = self.awake(channel) {
            return Ok(Some(room));
        }
        let stored = match self.store.load(channel).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(None),
            Err(LoadError::Barred { barred, .. }) => return Err(self.bar(channel, barred, None)),
            Err(error) => return Err(error.into()),
        };
        let parked = self.rooms.parked(channel);
        let revision = stored.revision;
        let restored =
            Room::restore(channel, self.config(), self.process, self.clock.now(), stored);
        let mut room = match restored {
            Ok(room) => room,
            Err(error) => return Err(self.bar(channel, Barred::from(&error), Some(revision))),
        };
        let origin = if parked.is_some() { Origin::Parked } else { Origin::EarlierProcess };
        let parked = parked.unwrap_or_default();
        room.know_newest(Some(MessageId::new(parked.newest)).filter(|id| id.get() > 0));
        let gap = self.gap_epoch.load(Ordering::Acquire);
        let is_behind = parked.epochs.gap != gap;
        let epochs = Epochs { gap, ..parked.epochs };
        let room = self.publish_room(room, epochs, |room, cx, now| {
            room.take_up(cx, now, origin, is_behind);
        });
        Ok(Some(room))
    }

    fn bar(&self, channel: ChannelId, why: Barred, sound: Option<Revision>) -> CallError {
        tracing::error!(%channel, %why, "a channel is barred");
        self.rooms.slots().insert(channel, Slot::Barred(Bar { why, sound }));
        why.into()
    }

    /// Takes the room up and puts it into the table: from now on every task can get hold of it.
    pub(super) fn publish_room(
        self: &Arc<Self>,
        mut room: Room,
        epochs: Epochs,
        take_up: impl FnOnce(&mut Room, &Context<'_>, Timestamp),
    ) -> RoomRef {
        if let Some(recorder) = &self.recorder {
            recorder.began(room.id(), &self.config(), room.snapshot());
        }
        // Taken up while it is a bare value: no other task sees it half done, and the driver is not called
        // for a room that the table does not have.
        self.with_context(|cx| take_up(&mut room, cx, self.clock.now()));
        let cell = Arc::new(RoomCell::new(room, epochs));
        let slot = Slot::Awake { cell: Arc::clone(&cell), pins: 1 };
        self.publish_and_tell_lost(&cell, || {
            self.rooms.slots().insert(cell.id, slot);
        });
        self.tell_rules(&cell);
        // What is said from now on reaches the channel here. Also performs what `take_up` asked for.
        self.tell_news(&cell);
        RoomRef { runtime: Arc::clone(self), cell }
    }

    /// The rules may have changed after the room was made with them, before the table had it.
    fn tell_rules(self: &Arc<Self>, cell: &Arc<RoomCell>) {
        let config = self.config();
        let is_old = !Arc::ptr_eq(cell.lock().room.machine().config(), &config);
        if is_old {
            // They were accepted when they were given.
            let _ = self.submit(cell, &Input::Reconfigure(config));
        }
    }

    /// One holder fewer of the channel. Once there is none and it rests, it leaves memory. All that happens
    /// under the table's lock, so that of two who release it at once, one is the last.
    fn park(&self, cell: &Arc<RoomCell>) {
        let mut slots = self.rooms.slots();
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
            Slot::Awake { .. } | Slot::Stored | Slot::Parked(_) | Slot::Barred(_) => return,
        }
        // There is no other user: the lock is not waited for.
        let mut state = cell.lock();
        let is_taken_over = state.room.commit().is_taken_over();
        if !is_taken_over && !state.is_at_rest() {
            return;
        }
        // A room that left memory has no deadline: the driver would wake for it again and again.
        self.timers.set(cell.id, state.due.take(), None);
        if is_taken_over {
            *slot = Slot::Stored;
            return;
        }
        if state.room.commit().is_damaged() {
            // No operator gave it a mode.
            let sound = state.room.commit().stored();
            *slot = Slot::Barred(Bar { why: Barred::Damaged, sound });
            return;
        }
        let newest = state.room.machine().view().newest().map_or(0, MessageId::get);
        let is_closed = !state.room.machine().view().mode().keeps_turns();
        *slot = Slot::Parked(Parked { is_closed, newest, epochs: state.epochs });
        if state.room.commit().is_unstored() {
            // It was never given anything to remember.
            slots.remove(&cell.id);
        }
    }

    /// The channel is not in the table any more; those who hold its room cannot change anything. Returns whether
    /// it was there.
    pub(crate) fn forget(&self, channel: ChannelId) -> bool {
        let forgotten = self.rooms.slots().remove(&channel);
        if let Some(Slot::Awake { cell, .. }) = &forgotten {
            self.timers.set(channel, cell.lock().due.take(), None);
        }
        forgotten.is_some()
    }

    /// Another process has taken the channel over: its next event reads it anew.
    pub(crate) fn release_taken_over(&self, cell: &Arc<RoomCell>) {
        // Before the table: a room asks the adapter, and the adapter may ask the table.
        let mut state = cell.lock();
        let mut slots = self.rooms.slots();
        if let Some(slot @ Slot::Awake { .. }) = slots.get_mut(&cell.id) {
            let is_it = matches!(slot, Slot::Awake { cell: known, .. } if Arc::ptr_eq(known, cell));
            if is_it {
                tracing::error!(channel = %cell.id, "another process has taken the channel over");
                *slot = Slot::Stored;
                self.timers.set(cell.id, state.due.take(), None);
            }
        }
    }
}

/// A channel that is held in memory. When the last one who holds it drops this, and it rests, it leaves
/// memory.
pub(crate) struct RoomRef {
    runtime: Arc<Runtime>,
    cell: Arc<RoomCell>,
}

impl Deref for RoomRef {
    type Target = Arc<RoomCell>;

    fn deref(&self) -> &Arc<RoomCell> {
        &self.cell
    }
}

impl Drop for RoomRef {
    fn drop(&mut self) {
        self.runtime.park(&self.cell);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use dirigent_core::Mode;

    use super::*;
    use crate::MemoryChannels;
    use crate::runtime::fixture::built;

    #[test]
    fn rules_that_are_given_while_a_channel_is_taken_up_are_those_it_follows() {
        let (dirigent, _driver) = built(Arc::default(), &MemoryChannels::default());
        let runtime = &dirigent.runtime;
        let room = Room::new(ChannelId::new(7), runtime.config(), 0, 0, runtime.clock.now());
        let newer = Arc::new(crate::Config::default());
        let room = runtime.publish_room(room, Epochs::default(), |_, _, _| {
            *runtime.config.write().unwrap() = Arc::clone(&newer);
        });
        assert!(Arc::ptr_eq(room.lock().room.machine().config(), &newer));
    }

    #[test]
    fn the_driver_is_not_called_for_a_room_that_the_table_does_not_have() {
        let (dirigent, mut driver) = built(Arc::default(), &MemoryChannels::default());
        let runtime = &dirigent.runtime;
        let now = runtime.clock.now();
        let room = Room::new(ChannelId::new(7), runtime.config(), 0, 0, now);
        // Nothing can be put into the table while the test holds it.
        let slots = runtime.rooms.slots();
        thread::scope(|scope| {
            let publishing = scope.spawn(|| {
                runtime.publish_room(room, Epochs::default(), |room, cx, now| {
                    let (answer, _) = room.input(cx, now, &Input::SetMode(Mode::Chat), true);
                    assert!(answer.is_ok());
                })
            });
            let until = now + Duration::from_millis(200);
            while runtime.clock.now() < until {
                assert!(driver.ready.try_recv().is_err(), "the driver would find no room");
            }
            drop(slots);
            let room = publishing.join().unwrap();
            assert!(driver.ready.try_recv().is_ok(), "there is something to store");
            drop(room);
        });
    }
}
