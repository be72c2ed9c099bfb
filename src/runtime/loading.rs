//! Loads channels into memory.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dirigent_core::{MessageId, Timestamp};

use super::Runtime;
use super::cell::{Epochs, RoomCell};
use super::host_code::caught;
use super::room_table::{Found, Need, RoomRef};
use crate::ports::ownership::Standing;
use crate::room::Room;
use crate::room::context::Context;
use crate::room::record::Origin;
use crate::values::load_error::{Barred, LoadError};
use crate::{CallError, ChannelId, Config};
use dirigent_core::Input;

impl Runtime {
    /// Returns the channel, and loads it if it is not in memory. `None` if it never had a mode. All callers of one
    /// channel together wait no longer than one of them.
    pub(crate) async fn room(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<Option<RoomRef>, CallError> {
        loop {
            // Read before the table. If a channel came in between, this number has changed, and the table is asked
            // again.
            let before = self.arrivals.over();
            if self.standing(channel) == Standing::Elsewhere {
                return Err(CallError::Elsewhere);
            }
            match self.rooms.find(channel)? {
                Found::Awake(room) => return Ok(Some(room)),
                Found::Asleep => break,
                Found::Unknown if before.is_some() && before == self.arrivals.over() => {
                    return Ok(None);
                }
                // The channel may just be coming, held by this process and not known yet. An agent was once allowed to
                // speak in such a moment, as in a channel without turns.
                Found::Unknown => tokio::task::yield_now().await,
            }
        }
        self.within(self.settings.time_limits.call, self.load(channel)).await?
    }

    /// Returns whether a person, a turn or a message waits in this channel. One in memory counts as busy. Of one in the
    /// store only the record is read, once. If the store does not return it, the answer is `false`.
    pub(super) async fn is_busy(self: &Arc<Self>, channel: ChannelId) -> bool {
        match self.rooms.need(channel) {
            Need::Busy => return true,
            Need::Rests => return false,
            Need::Unknown => {}
        }
        let looking = async { self.store.load(channel).await };
        let looking = self.within(self.settings.time_limits.call, looking).await;
        let Ok(Ok(Some(stored))) = looking else {
            return false;
        };
        let (config, now) = (self.rules.config_of(channel), self.clock.now());
        // A million idle channels may be asked, so none of them stays in memory for it.
        let restored = Room::restore(channel, config, self.process, now, stored);
        let is_busy = restored.is_ok_and(|room| room.look().is_busy());
        if !is_busy {
            self.rooms.rests(channel);
        }
        is_busy
    }

    /// Returns the channel, and creates it if there is none. This is an operator's act, so a new record may replace a
    /// damaged one.
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
        let _one_at_a_time = match guard.lock().try_lock() {
            // A free lock is taken without a timer, which is a part of what creating a channel costs.
            Ok(lock) => lock,
            Err(_) => self.within(self.settings.time_limits.call, guard.lock().lock()).await?,
        };
        // Another caller may have made it while this one waited.
        if let Some(room) = self.rooms.awake(channel) {
            return Ok(room);
        }
        let now = self.clock.now();
        let general = self.rules.config();
        let (config, seed) = self.rules.of(channel);
        let mut room = Room::new(channel, config, seed, self.process, now);
        // The damaged record is replaced in the commit that gives the channel its mode, and not before.
        if let Some(bar) = self.rooms.barred(channel) {
            room.replace_damaged(bar.sound);
        }
        let epochs = Epochs { gap: self.gap_epoch.load(Ordering::Acquire), presence: 0 };
        Ok(self.publish_room(room, &general, epochs, |_, _, _| {}))
    }

    /// Returns the channel that an event is for. `None` also if another process acts for it, because that one gets the
    /// same event.
    pub(crate) async fn room_of_event(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<Option<RoomRef>, CallError> {
        match self.room(channel).await {
            Err(CallError::Elsewhere) => Ok(None),
            found => found,
        }
    }

    async fn load(self: &Arc<Self>, channel: ChannelId) -> Result<Option<RoomRef>, CallError> {
        let guard = self.rooms.load_guard(channel);
        let _one_at_a_time = guard.lock().lock().await;
        // It may have come into memory while this call waited for the lock.
        if let Some(room) = self.rooms.awake(channel) {
            return Ok(Some(room));
        }
        let stored = match self.store.load(channel).await {
            Ok(Some(stored)) => stored,
            Ok(None) => return Ok(None),
            Err(LoadError::Barred { barred, .. }) => {
                // The table remembers the bar, so that each event does not read the damaged record again.
                return Err(self.rooms.bar(channel, barred, None));
            }
            Err(error) => return Err(error.into()),
        };
        let parked = self.rooms.parked(channel);
        let revision = stored.revision;
        let general = self.rules.config();
        let restored = Room::restore(
            channel,
            self.rules.config_of(channel),
            self.process,
            self.clock.now(),
            stored,
        );
        let mut room = match restored {
            Ok(room) => room,
            Err(error) => {
                return Err(self.rooms.bar(channel, Barred::from(&error), Some(revision)));
            }
        };
        // Only an earlier process can have lost runs and missed messages.
        let origin = if parked.is_some() { Origin::Parked } else { Origin::EarlierProcess };
        let parked = parked.unwrap_or_default();
        // The record of a channel without turns does not have its newest message, behind which a new mode begins.
        room.know_newest(Some(MessageId::new(parked.newest)).filter(|id| id.get() > 0));
        let gap = self.gap_epoch.load(Ordering::Acquire);
        // A gap that was told while the channel was away concerns it, too.
        let is_behind = parked.epochs.gap != gap;
        let epochs = Epochs { gap, ..parked.epochs };
        if let Some(leftovers) = self.rooms.leftovers(channel) {
            room.keep_leftovers(leftovers);
        }
        let room = self.publish_room(room, &general, epochs, |room, cx, now| {
            room.resume_after_restart(cx, now, origin, is_behind);
        });
        Ok(Some(room))
    }

    /// Puts the room into the table, and lets it resume. From now on every task can use it. `general` is the rules of
    /// all channels from the moment when those of the room were read.
    pub(super) fn publish_room(
        self: &Arc<Self>,
        mut room: Room,
        general: &Arc<Config>,
        epochs: Epochs,
        resume_after_restart: impl FnOnce(&mut Room, &Context<'_>, Timestamp),
    ) -> RoomRef {
        if let Some(recorder) = &self.recorder {
            let (config, snapshot) = (room.look().machine().config(), room.snapshot());
            caught("a recorder", || recorder.began(room.id(), config, snapshot));
        }
        // It resumes as a bare value, so no other task sees it half done. A driver on another thread was once called
        // for a room that the table did not have, and the channel stood still until the next start.
        self.with_context(|cx| resume_after_restart(&mut room, cx, self.clock.now()));
        let cell = Arc::new(RoomCell::new(room, epochs));
        let room = self.publish_and_tell_lost(&cell, || self.rooms.publish(&cell));
        // Rules that were set in between reached neither the room nor the table.
        if !Arc::ptr_eq(general, &self.rules.config()) {
            self.tell_rules(&cell);
        }
        // Every event from now on reaches the channel. This call also performs the signals of `resume_after_restart`.
        self.tell_news(&cell);
        self.tell_rights(&cell);
        self.tell_lacks(cell.id);
        room
    }

    /// Gives a room its rules again, because they changed after it was made with them.
    fn tell_rules(self: &Arc<Self>, cell: &Arc<RoomCell>) {
        let config = self.rules.config_of(cell.id);
        let is_old = {
            let state = cell.lock();
            let known = state.room.look().machine().config();
            !Arc::ptr_eq(known, &config) && **known != *config
        };
        if is_old {
            // They were checked when the host set them.
            let _ = self.submit(cell, &Input::Reconfigure(config));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use dirigent_core::Mode;

    use super::*;
    use crate::memory::MemoryChannels;
    use crate::runtime::fixture::built;

    #[test]
    fn rules_that_are_given_while_a_channel_is_taken_up_are_those_it_follows() {
        let (dirigent, _driver) = built(Arc::default(), &MemoryChannels::default());
        let runtime = &dirigent.runtime;
        let room = Room::new(ChannelId::new(7), runtime.rules.config(), 0, 0, runtime.clock.now());
        let newer = Arc::new(Config::default());
        let room =
            runtime.publish_room(room, &runtime.rules.config(), Epochs::default(), |_, _, _| {
                *runtime.rules.config.write().unwrap() = Arc::clone(&newer);
            });
        assert!(Arc::ptr_eq(room.lock().room.look().machine().config(), &newer));
    }

    #[test]
    fn a_channel_that_leaves_memory_leaves_no_deadline_behind() {
        let (dirigent, _driver) = built(Arc::default(), &MemoryChannels::default());
        let runtime = &dirigent.runtime;
        let (channel, now) = (ChannelId::new(7), runtime.clock.now());
        let room = Room::new(channel, runtime.rules.config(), 0, 0, now);
        let room =
            runtime.publish_room(room, &runtime.rules.config(), Epochs::default(), |_, _, _| {});
        runtime.timers.set(channel, None, Some(now));
        room.lock().due = Some(now);
        drop(room);
        assert!(runtime.rooms.awake(channel).is_none());
        assert_eq!(runtime.timers.earliest(), None, "the driver would wake for it without end");
    }

    #[test]
    fn the_driver_is_not_called_for_a_room_that_the_table_does_not_have() {
        let (dirigent, mut driver) = built(Arc::default(), &MemoryChannels::default());
        let runtime = &dirigent.runtime;
        let now = runtime.clock.now();
        let room = Room::new(ChannelId::new(7), runtime.rules.config(), 0, 0, now);
        // Nothing can be put into the table while the test holds it.
        let slots = runtime.rooms.slots();
        thread::scope(|scope| {
            let publishing = scope.spawn(|| {
                runtime.publish_room(
                    room,
                    &runtime.rules.config(),
                    Epochs::default(),
                    |room, cx, now| {
                        let (answer, _) = room.input(cx, now, &Input::SetMode(Mode::Chat), true);
                        assert!(answer.is_ok());
                    },
                )
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
