//! What the handle, the driver and its workers share.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};

use dirigent_core::{
    AgentKey, Author, Channel, Config, Effect, Input, Message, MessageId, MessageKind, Snapshot,
    Tail, Timestamp,
};
use tokio::sync::{broadcast, mpsc};

use crate::driver::Work;
use crate::events::ChannelEvent;
use crate::life::Life;
use crate::lookout::Lookouts;
use crate::outbox::Outbox;
use crate::pacing::Pacer;
use crate::presence::Presence;
use crate::recorder::Recorder;
use crate::registry::Registry;
use crate::room::{Active, MissedFrom, Room};
use crate::timers::Timers;
use crate::{
    Agent, AgentId, AgentWaker, ApiError, CallError, ChannelId, ChannelStore, Clock, DiscordApi,
    ErrorKind, IdentityStore, Orchestrator, Revision, Settings, StoredChannel,
};

/// Everything that lives as long as the library runs.
pub(crate) struct Shared {
    pub(crate) discord: Arc<dyn DiscordApi>,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) store: Arc<dyn ChannelStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) waker: Option<Arc<dyn AgentWaker>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) settings: Settings,
    pub(crate) config: RwLock<Arc<Config>>,
    pub(crate) seed: u64,
    pub(crate) registry: Registry,
    pub(crate) hosts: RwLock<HashMap<AgentId, Hosted>>,
    pub(crate) orchestrator: RwLock<Option<Arc<dyn Orchestrator>>>,
    pub(crate) presence: Presence,
    /// Names those that are to be called back.
    pub(crate) deferrals: AtomicU64,
    pub(crate) pacer: Pacer,
    pub(crate) timers: Timers,
    pub(crate) events: broadcast::Sender<ChannelEvent>,
    pub(crate) life: Life,
    pub(crate) lookouts: Lookouts,
    /// How many transitions of a channel the store keeps.
    pub(crate) history_max: usize,
    rooms: Mutex<HashMap<ChannelId, Slot>>,
    loading: Mutex<HashMap<ChannelId, Weak<tokio::sync::Mutex<()>>>>,
    workers: mpsc::UnboundedSender<Arc<Room>>,
    calls: mpsc::UnboundedSender<Work>,
    buffers: Mutex<Vec<Vec<Effect>>>,
}

/// An agent that the library calls, and the account it speaks with.
#[derive(Clone)]
pub(crate) struct Hosted {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) discord: Arc<dyn DiscordApi>,
}

/// A channel that the store knows.
enum Slot {
    /// Only in the store, as an earlier process left it.
    Unread,
    /// Only in the store, but for the newest message: where no turns are kept, that alone is no reason
    /// to store anything. Whatever was said of agents up to this tide was told to it.
    Parked { newest: Option<MessageId>, tide: u64 },
    /// In memory, in the hands of so many.
    Awake { room: Arc<Room>, held: usize },
}

/// The lock of a channel that is on its way into memory. It is forgotten when the last one who
/// wanted it lets go.
struct Lane<'a> {
    shared: &'a Shared,
    channel: ChannelId,
    lock: Arc<tokio::sync::Mutex<()>>,
}

impl Drop for Lane<'_> {
    fn drop(&mut self) {
        let mut loading = self.shared.loading.lock().unwrap_or_else(PoisonError::into_inner);
        // Let go while the table is locked: of two who do so at once, one is the last.
        drop(std::mem::take(&mut self.lock));
        if loading.get(&self.channel).is_some_and(|lock| lock.strong_count() == 0) {
            loading.remove(&self.channel);
        }
    }
}

/// What [`Shared`] is made of.
pub(crate) struct Parts {
    pub(crate) discord: Arc<dyn DiscordApi>,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) store: Arc<dyn ChannelStore>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) waker: Option<Arc<dyn AgentWaker>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) settings: Settings,
    pub(crate) config: Arc<Config>,
    pub(crate) seed: u64,
    pub(crate) hosts: HashMap<AgentId, Hosted>,
    pub(crate) workers: mpsc::UnboundedSender<Arc<Room>>,
    pub(crate) orchestrator: Option<Arc<dyn Orchestrator>>,
    pub(crate) calls: mpsc::UnboundedSender<Work>,
}

impl Shared {
    pub(crate) fn new(parts: Parts) -> Self {
        Self {
            pacer: Pacer::new(parts.settings.pacing),
            history_max: parts.store.history_max(),
            events: broadcast::Sender::new(parts.settings.transitions_max.clamp(1, 1 << 16)),
            discord: parts.discord,
            identities: parts.identities,
            store: parts.store,
            clock: parts.clock,
            waker: parts.waker,
            recorder: parts.recorder,
            settings: parts.settings,
            config: RwLock::new(parts.config),
            seed: parts.seed,
            registry: Registry::default(),
            hosts: RwLock::new(parts.hosts),
            orchestrator: RwLock::new(parts.orchestrator),
            presence: Presence::default(),
            deferrals: AtomicU64::default(),
            timers: Timers::default(),
            life: Life::default(),
            lookouts: Lookouts::default(),
            rooms: Mutex::default(),
            loading: Mutex::default(),
            workers: parts.workers,
            calls: parts.calls,
            buffers: Mutex::default(),
        }
    }

    /// Takes note of what the store knows.
    pub(crate) fn know(&self, channels: Vec<ChannelId>) {
        let mut rooms = self.rooms();
        rooms.reserve(channels.len());
        for channel in channels {
            rooms.entry(channel).or_insert(Slot::Unread);
        }
    }

    /// The channel in memory, if it is there.
    pub(crate) fn awake(self: &Arc<Self>, channel: ChannelId) -> Option<RoomRef> {
        self.rooms().get_mut(&channel).and_then(|slot| self.take_hold(slot))
    }

    /// Whether the channel is still as an earlier process left it.
    pub(crate) fn is_unread(&self, channel: ChannelId) -> bool {
        matches!(self.rooms().get(&channel), Some(Slot::Unread))
    }

    /// Whether the channel was ever given a mode.
    pub(crate) fn is_known(&self, channel: ChannelId) -> bool {
        self.rooms().contains_key(&channel)
    }

    /// All channels that the store knows.
    pub(crate) fn known(&self) -> Vec<ChannelId> {
        let mut known: Vec<_> = self.rooms().keys().copied().collect();
        known.sort_unstable();
        known
    }

    /// The channels in memory.
    pub(crate) fn all_awake(self: &Arc<Self>) -> Vec<RoomRef> {
        self.rooms().values_mut().filter_map(|slot| self.take_hold(slot)).collect()
    }

    /// The channel, taken into memory if it must be; `None` when it was never given a mode.
    pub(crate) async fn room(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<Option<RoomRef>, CallError> {
        match self.rooms().get_mut(&channel) {
            None => return Ok(None),
            Some(slot) => {
                if let Some(room) = self.take_hold(slot) {
                    return Ok(Some(room));
                }
            }
        }
        self.load(channel).await
    }

    fn take_hold(self: &Arc<Self>, slot: &mut Slot) -> Option<RoomRef> {
        match slot {
            Slot::Awake { room, held } => {
                *held += 1;
                Some(RoomRef { shared: Arc::clone(self), room: Arc::clone(room) })
            }
            Slot::Unread | Slot::Parked { .. } => None,
        }
    }

    /// The newest message of a channel that was in memory before.
    fn newest_parked(&self, channel: ChannelId) -> Option<MessageId> {
        match self.rooms().get(&channel)? {
            Slot::Parked { newest, .. } => *newest,
            Slot::Unread | Slot::Awake { .. } => None,
        }
    }

    /// The channel, made if there is none.
    pub(crate) async fn room_or_new(
        self: &Arc<Self>,
        channel: ChannelId,
    ) -> Result<RoomRef, CallError> {
        if let Some(room) = self.room(channel).await? {
            return Ok(room);
        }
        let lane = self.lane(channel);
        let _one_at_a_time = lane.lock.lock().await;
        if let Some(room) = self.awake(channel) {
            return Ok(room);
        }
        let machine = self.new_machine(channel);
        let heard = MissedFrom { newest: None, at: self.clock.now() };
        let room = self.record(Room::new(channel, machine, None, Revision::default(), heard));
        Ok(self.take_in(room, 0))
    }

    /// A channel's machine before anything happened in it.
    pub(crate) fn new_machine(&self, channel: ChannelId) -> Channel {
        Channel::new(self.config(), self.seed ^ channel.get())
    }

    /// What whoever makes a room for this channel must lock, so that there is never a second one.
    fn lane(&self, channel: ChannelId) -> Lane<'_> {
        let mut loading = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let known = loading.get(&channel).and_then(Weak::upgrade);
        let lock = known.unwrap_or_else(|| {
            let lock = Arc::default();
            loading.insert(channel, Arc::downgrade(&lock));
            lock
        });
        Lane { shared: self, channel, lock }
    }

    async fn load(self: &Arc<Self>, channel: ChannelId) -> Result<Option<RoomRef>, CallError> {
        let lane = self.lane(channel);
        let _one_at_a_time = lane.lock.lock().await;
        if let Some(room) = self.awake(channel) {
            return Ok(Some(room));
        }
        let loaded = self.within(self.settings.call_deadline, self.store.load(channel)).await;
        let Some(StoredChannel { revision, record }) = loaded.and_then(|result| result)? else {
            return Ok(None);
        };
        let mut machine = Channel::restore(self.config(), &record.snapshot)?;
        if let Some(newest) = self.newest_parked(channel) {
            note(&mut machine, record.snapshot.now, newest);
        }
        let (unread, tide) = (self.is_unread(channel), self.tide_of(channel));
        let heard = MissedFrom { newest: machine.view().newest(), at: record.snapshot.now };
        let is_behind = unread || self.lookouts.is_wanted(channel);
        let missed_from = is_behind.then_some(heard);
        let (outgoing, held) = (record.outgoing, record.held);
        let (has_letters, outbox) = (!record.letters.is_empty(), Outbox::left(record.letters));
        let room = Room::new(channel, machine, record.discussion, revision, heard);
        if missed_from.is_some() || outgoing.is_some() || has_letters || held.is_some() {
            let active = Active { outgoing, missed_from, outbox, held, ..Active::default() };
            room.lock().active = Some(Box::new(active));
        }
        let room = self.record(room);
        if unread {
            self.take_up(&room);
        }
        Ok(Some(self.take_in(room, tide)))
    }

    /// Tells the recorder where a channel begins.
    fn record(&self, room: Room) -> Arc<Room> {
        if let Some(recorder) = &self.recorder {
            let mut snapshot = Snapshot::default();
            room.lock().channel.snapshot_into(&mut snapshot);
            recorder.began(room.id, &self.config(), snapshot);
        }
        Arc::new(room)
    }

    /// Up to which tide a channel that is only in the store knows who is there.
    fn tide_of(&self, channel: ChannelId) -> u64 {
        match self.rooms().get(&channel) {
            Some(Slot::Parked { tide, .. }) => *tide,
            Some(Slot::Unread | Slot::Awake { .. }) | None => 0,
        }
    }

    /// From now on everybody can get hold of the channel.
    fn take_in(self: &Arc<Self>, room: Arc<Room>, tide: u64) -> RoomRef {
        room.settle_down(self, &mut room.lock());
        let mut rooms = self.rooms();
        let abandoned = room.lock().abandoned;
        let slot = if abandoned {
            Slot::Parked { newest: None, tide: 0 }
        } else {
            Slot::Awake { room: Arc::clone(&room), held: 1 }
        };
        rooms.insert(room.id, slot);
        drop(rooms);
        // What is said from now on reaches the channel here.
        self.tell_news(&room, tide);
        RoomRef { shared: Arc::clone(self), room }
    }

    /// Somebody lets go of a channel: so many hands fewer. Once nobody holds it and it rests, it
    /// leaves memory. All that happens under the table's lock, so that of two who let go at once, one
    /// is the last.
    pub(crate) fn park(&self, room: &Arc<Room>, hands: usize) {
        let mut rooms = self.rooms();
        let Some(slot) = rooms.get_mut(&room.id) else {
            return;
        };
        match slot {
            Slot::Awake { room: known, held } if Arc::ptr_eq(known, room) => {
                *held -= hands;
                if *held > 0 || !room.lock().is_at_rest() {
                    return;
                }
            }
            Slot::Awake { .. } | Slot::Unread | Slot::Parked { .. } => return,
        }
        let newest = room.lock().channel.view().newest();
        *slot = Slot::Parked { newest, tide: self.presence.tide() };
        if room.lock().stored == Revision::default() {
            // It was never given anything to remember.
            rooms.remove(&room.id);
        }
    }

    /// Lets go of a channel that another process has taken over: its next event reads it anew.
    pub(crate) fn abandon(&self, room: &Room) {
        let mut state = room.lock();
        state.abandoned = true;
        state.work.clear();
        state.tells.clear();
        self.timers.set(room.id, state.due.take(), None);
        if let Some(call) = state.active.take().and_then(|active| active.call) {
            call.link.cancel();
        }
        drop(state);
        if let Some(slot) = self.rooms().get_mut(&room.id) {
            *slot = Slot::Parked { newest: None, tide: 0 };
        }
    }

    pub(crate) fn call_worker(&self, room: Arc<Room>) {
        // The receiver is gone only when the driver is: then nothing is done any more.
        let _ = self.workers.send(room);
    }

    /// Lets a call go on beside everything else.
    pub(crate) fn run_beside(&self, call: Work) {
        let _ = self.calls.send(call);
    }

    pub(crate) fn hosted(&self, agent: AgentKey) -> Option<(AgentId, Hosted)> {
        let name = self.registry.name(agent)?;
        let hosts = self.hosts.read().unwrap_or_else(PoisonError::into_inner);
        let hosted = hosts.get(&name)?.clone();
        Some((name, hosted))
    }

    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits for something, but not for ever.
    pub(crate) async fn within<T>(
        &self,
        limit: std::time::Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        let deadline = self.clock.now() + limit;
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.clock.sleep_until(deadline) => Err(ApiError::new(ErrorKind::NoAnswer)),
        }
    }

    /// A buffer for effects, used again and again.
    pub(crate) fn take_buffer(&self) -> Vec<Effect> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&self, mut buffer: Vec<Effect>) {
        const BUFFERS_MAX: usize = 16;
        buffer.clear();
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < BUFFERS_MAX {
            buffers.push(buffer);
        }
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<ChannelId, Slot>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells a machine of a message that it knew before it left memory.
fn note(machine: &mut Channel, at: Timestamp, id: MessageId) {
    if machine.view().newest() < Some(id) {
        let kind = MessageKind::System;
        let known = Message { id, author: Author::Bot, kind, tail: Tail::EMPTY };
        // It asks for nothing, whatever the mode.
        let _ = machine.handle(at, &Input::Message(known), &mut Vec::new());
    }
}

/// A channel in somebody's hands. When the last hand lets go of a channel at rest, it leaves memory.
pub(crate) struct RoomRef {
    shared: Arc<Shared>,
    room: Arc<Room>,
}

impl Deref for RoomRef {
    type Target = Arc<Room>;

    fn deref(&self) -> &Arc<Room> {
        &self.room
    }
}

impl Drop for RoomRef {
    fn drop(&mut self) {
        self.shared.park(&self.room, 1);
    }
}
