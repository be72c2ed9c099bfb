//! All channels together: gives rooms their events, performs what they ask for, and keeps the time.
//!
//! It makes no decision about a channel, because that is the room's task.
//! [`admission`](crate::admission), a value too, decides which action may start now.
//!
//! | files | what they do |
//! | --- | --- |
//! | `room_table`, `loading`, `cell` | keep channels in memory, load them, lock them |
//! | `driver`, `startup`, `lifecycle` | the one loop, what is read before it, how it ends |
//! | `perform`, `request`, `typing`, `callback`, `retry` | make each action one request with a time limit |
//! | `signals` | perform what takes no time, under the room's lock |
//! | `schedule`, `timers` | one queue with the deadlines of all channels |
//! | `lost`, `connections`, `catch_up`, `backfill` | lost gateway connections, and what is read afterwards |
//! | `registry`, `registry_news`, `presence`, `rights`, `recognition` | who is registered, hosted and online, and who may write |
//! | `ownership`, `arrivals`, `leaving`, `carry`, `twins` | channels of several processes that come, go and are elsewhere; processes that know nothing of each other |
//! | `events`, `tally`, `workers`, `run_error` | what listeners and metrics see |
//! | `creations`, `texts`, `leftovers`, `surroundings`, `host_code`, `steps` | limits of tools, texts in memory, what a turn may ask, calls of the host's code |

mod arrivals;
pub(crate) mod backfill;
pub(crate) mod callback;
pub(crate) mod carry;
pub(crate) mod catch_up;
pub(crate) mod cell;
pub(crate) mod connections;
pub(crate) mod creations;
pub(crate) mod driver;
pub(crate) mod events;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod host_code;
mod leaving;
mod leftovers;
pub(crate) mod lifecycle;
mod loading;
mod lost;
mod ownership;
mod pastes;
pub(crate) mod perform;
pub(crate) mod presence;
mod recognition;
pub(crate) mod registry;
mod registry_news;
mod request;
pub(crate) mod retry;
pub(crate) mod rights;
pub(crate) mod room_table;
pub(crate) mod run_error;
mod schedule;
mod sight;
mod signals;
mod startup;
mod steps;
pub(crate) mod store_trouble;
mod surroundings;
pub(crate) mod tally;
mod texts;
pub(crate) mod timers;
pub(crate) mod twins;
mod typing;
pub(crate) mod workers;

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU32, AtomicU64};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};

use dirigent_core::{Answer, Config, Input, MessageId, Refusal, Timestamp};
use tokio::sync::{broadcast, mpsc};

use self::arrivals::Arrivals;
use self::catch_up::CatchUp;
use self::cell::{CellState, RoomCell};
use self::creations::Creations;
use self::leaving::Leaving;
use self::lost::LostConnections;
use self::pastes::Pastes;
use self::perform::Performer;
use self::recognition::Recognition;
use self::registry::{Hosted, Registry};
use self::room_table::RoomTable;
use self::schedule::Schedule;
use self::sight::Sight;
use self::signals::Signals;
pub(crate) use self::steps::SpawnCalls;
use self::store_trouble::StoreTrouble;
use self::tally::Counts;
use self::texts::TextBudget;
use self::timers::Timers;
use self::twins::Twins;
use self::workers::Workers;
use crate::ports::neighbours::Neighbours;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::ownership::Ownership;
use crate::ports::recorder::Recorder;
use crate::ports::store::ChannelStore;
use crate::ports::waker::AgentWaker;
use crate::ports::write_bar::OwnLacks;
use crate::room::Room;
use crate::room::context::{ChatFacts, Context};
use crate::runtime::events::{AgentErrorHook, EventOrLag};
use crate::runtime::lifecycle::Lifecycle;
use crate::runtime::presence::PresenceBoard;
use crate::settings::ObservedBot;
use crate::settings::limits::TRANSITIONS_KEPT;
use crate::text::split::LIMIT;
use crate::values::error::ApiError;
use crate::values::message::snowflake_time;
use crate::{AgentId, ChannelId, Clock, DiscordApi, IdentityStore, Settings};

/// Everything that lives as long as the library runs.
pub(crate) struct Runtime {
    pub(crate) discord: Arc<dyn DiscordApi>,
    pub(crate) identities: Arc<dyn IdentityStore>,
    /// Whether the registry is the library's own: hosted agents are registered when the driver starts.
    pub(crate) registers_hosts: bool,
    pub(crate) store: Arc<dyn ChannelStore>,
    /// Which channels this process acts for; all of them where there is none.
    pub(crate) ownership: Option<Arc<dyn Ownership>>,
    arrivals: Arrivals,
    /// Where events of channels go that are not this process's.
    pub(crate) neighbours: Option<Arc<dyn Neighbours>>,
    pub(crate) clock: Arc<dyn Clock>,
    /// Set when the library is put together, or later, once.
    pub(crate) waker: Arc<OnceLock<Arc<dyn AgentWaker>>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) on_agent_error: Option<AgentErrorHook>,
    /// Runs the calls of agents; the driver does where there is none.
    spawn_calls: Option<SpawnCalls>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) rules: Rules,
    /// Names this process in the records that it writes.
    pub(crate) process: u64,
    pub(crate) registry: Arc<Registry>,
    pub(crate) presence: PresenceBoard,
    pastes: Arc<Pastes>,
    /// Whether people's messages can be seen.
    pub(crate) sight: Arc<Sight>,
    /// Whether the store takes records.
    pub(crate) store_trouble: Arc<StoreTrouble>,
    /// Whether another process posts with the same accounts.
    pub(crate) twins: Twins,
    /// What the log has said that the library's own account lacks, by channel.
    pub(crate) lacks: Mutex<HashMap<ChannelId, OwnLacks>>,
    /// Names runs that were put off.
    pub(crate) deferrals: AtomicU64,
    pub(crate) timers: Arc<Timers>,
    pub(crate) events: broadcast::Sender<EventOrLag>,
    pub(crate) life: Lifecycle,
    pub(crate) catch_up: CatchUp,
    /// Rises with each gap that concerns all channels.
    pub(crate) gap_epoch: AtomicU32,
    /// How many transitions of a channel the store keeps.
    pub(crate) history_max: usize,
    pub(crate) rooms: Arc<RoomTable>,
    pub(crate) lost: LostConnections,
    leaving: Leaving,
    /// Which channels agents created of late.
    pub(crate) creations: Creations,
    pub(crate) recognition: Recognition,
    /// What has happened since the process began.
    pub(crate) counts: Arc<Counts>,
    /// What works for channels, as the host told last.
    pub(crate) workers: Workers,
    /// How much memory the messages of all channels take.
    texts: Arc<TextBudget>,
    schedule: Schedule,
}

/// The rules that channels follow, and the chance in them.
pub(crate) struct Rules {
    pub(crate) config: RwLock<Arc<Config>>,
    /// Which channels have rules of their own.
    own: Option<OwnRules>,
    seed: u64,
}

/// The rules of a channel, where it has some of its own.
pub(crate) type OwnRules = Arc<dyn Fn(ChannelId) -> Option<Arc<Config>> + Send + Sync>;

impl Rules {
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The rules of a channel. Its own are left aside where they cannot be obeyed.
    pub(crate) fn config_of(&self, channel: ChannelId) -> Arc<Config> {
        let asked = |own: &OwnRules| host_code::caught("a channel's own rules", || own(channel));
        let own = self.own.as_ref().and_then(asked).flatten();
        let obeyed = own.filter(|config| match config.validate() {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%channel, %error, "a channel's own settings are invalid: the general settings are used");
                false
            }
        });
        obeyed.unwrap_or_else(|| self.config())
    }

    /// The seed of a channel's shuffles.
    pub(crate) const fn seed_of(&self, channel: ChannelId) -> u64 {
        self.seed ^ channel.get()
    }
}

/// What a [`Runtime`] is made of.
pub(crate) struct Parts {
    pub(crate) discord: Arc<dyn DiscordApi>,
    pub(crate) identities: Arc<dyn IdentityStore>,
    pub(crate) registers_hosts: bool,
    pub(crate) store: Arc<dyn ChannelStore>,
    pub(crate) ownership: Option<Arc<dyn Ownership>>,
    pub(crate) neighbours: Option<Arc<dyn Neighbours>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) waker: Option<Arc<dyn AgentWaker>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) on_agent_error: Option<AgentErrorHook>,
    pub(crate) orchestrator: Option<Arc<dyn Orchestrator>>,
    pub(crate) spawn_calls: Option<SpawnCalls>,
    pub(crate) settings: Settings,
    pub(crate) config: Arc<Config>,
    pub(crate) own_rules: Option<OwnRules>,
    pub(crate) seed: u64,
    pub(crate) hosts: HashMap<AgentId, Hosted>,
    pub(crate) observed: HashMap<AgentId, Arc<ObservedBot>>,
    pub(crate) ready: mpsc::UnboundedSender<Arc<RoomCell>>,
}

impl Runtime {
    pub(crate) fn new(parts: Parts) -> Self {
        let timers = Arc::<Timers>::default();
        let texts = TextBudget::new(parts.settings.limits.texts_bytes_max);
        let up_since = parts.clock.now();
        Self {
            process: process_number(up_since),
            history_max: parts.store.history_max(),
            events: broadcast::Sender::new(TRANSITIONS_KEPT),
            pastes: Arc::new(Pastes::new(
                Arc::clone(&parts.discord),
                Arc::clone(&parts.clock),
                parts.settings.time_limits.request,
            )),
            sight: Arc::default(),
            store_trouble: Arc::default(),
            twins: Twins::new(up_since),
            lacks: Mutex::default(),
            presence: PresenceBoard::new(parts.settings.hooks.heartbeat, Arc::clone(&parts.clock)),
            discord: parts.discord,
            identities: parts.identities,
            registers_hosts: parts.registers_hosts,
            store: parts.store,
            ownership: parts.ownership,
            arrivals: Arrivals::default(),
            neighbours: parts.neighbours,
            clock: parts.clock,
            waker: Arc::new(parts.waker.map_or_else(OnceLock::new, OnceLock::from)),
            recorder: parts.recorder,
            on_agent_error: parts.on_agent_error,
            spawn_calls: parts.spawn_calls,
            settings: Arc::new(parts.settings),
            rules: Rules {
                config: RwLock::new(parts.config),
                own: parts.own_rules,
                seed: parts.seed,
            },
            registry: Arc::new(Registry::new(parts.hosts, parts.observed, parts.orchestrator)),
            deferrals: AtomicU64::default(),
            rooms: Arc::new(RoomTable::new(Arc::clone(&timers))),
            life: Lifecycle::default(),
            catch_up: CatchUp::default(),
            gap_epoch: AtomicU32::default(),
            lost: LostConnections::default(),
            leaving: Leaving::default(),
            creations: Creations::default(),
            recognition: Recognition::default(),
            counts: Counts::new(),
            workers: Workers::default(),
            schedule: Schedule::new(Arc::clone(&timers), parts.ready, Arc::clone(&texts)),
            texts,
            timers,
        }
    }

    /// Gives a room an event, now: performs its signals, moves its deadline, and calls the driver where
    /// the room may have something to do.
    pub(crate) fn update<T>(
        &self,
        cell: &Arc<RoomCell>,
        event: impl FnOnce(&mut Room, &Context<'_>, Timestamp) -> T,
    ) -> T {
        self.update_cell(cell, None, |state, cx, now| event(&mut state.room, cx, now))
    }

    /// The same, for an event that also concerns what is kept beside the room; at a time that has passed
    /// where one is given. All of it happens under one lock of the cell.
    pub(crate) fn update_cell<T>(
        &self,
        cell: &Arc<RoomCell>,
        at: Option<Timestamp>,
        event: impl FnOnce(&mut CellState, &Context<'_>, Timestamp) -> T,
    ) -> T {
        self.with_context(|cx| {
            let mut state = cell.lock();
            let now = at.unwrap_or_else(|| self.clock.now());
            let answer = event(&mut state, cx, now);
            self.signals().perform(&mut state, cx, now);
            self.schedule.after_event(cell, &mut state);
            answer
        })
    }

    /// Gives a room an input that may be stored behind.
    pub(crate) fn submit(&self, cell: &Arc<RoomCell>, input: &Input) -> Result<Answer, Refusal> {
        self.update(cell, |room, cx, now| room.input(cx, now, input, false).0)
    }

    /// Does something with what a room looks at and does not own, as it is now.
    #[inline]
    pub(crate) fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> T) -> T {
        let (directory, has_orchestrator) = self.registry.directory_and_orchestrator();
        let record = self.recorder.as_ref().map(|recorder| {
            |channel, at, input: &Input| {
                host_code::caught("a recorder", || recorder.recorded(channel, at, input));
            }
        });
        work(&Context {
            settings: &self.settings,
            directory: &directory,
            chat: self,
            record: record.as_ref().map(|record| record as _),
            history_max: self.history_max,
            up_since: self.twins.own(),
            stage: self.life.stage(),
            has_waker: self.waker.get().is_some(),
            has_orchestrator,
        })
    }

    /// Waits for something, but not for ever.
    pub(crate) async fn within<T>(
        &self,
        limit: std::time::Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        host_code::within(self.clock.as_ref(), limit, work).await
    }

    fn signals(&self) -> Signals<'_> {
        Signals {
            events: &self.events,
            recognition: &self.recognition,
            counts: &self.counts,
            leaving: &self.leaving,
            timers: &self.timers,
        }
    }

    /// What performs the actions of rooms.
    fn performer(self: &Arc<Self>) -> Performer {
        let around = Arc::<Self>::downgrade(self);
        Performer {
            around,
            discord: Arc::clone(&self.discord),
            store: Arc::clone(&self.store),
            clock: Arc::clone(&self.clock),
            waker: Arc::clone(&self.waker),
            registry: Arc::clone(&self.registry),
            settings: Arc::clone(&self.settings),
            counts: Arc::clone(&self.counts),
            pastes: Arc::clone(&self.pastes),
            sight: Arc::clone(&self.sight),
            store_trouble: Arc::clone(&self.store_trouble),
            spawn_calls: self.spawn_calls.clone(),
        }
    }
}

impl ChatFacts for Runtime {
    fn sent_at(&self, message: MessageId) -> Timestamp {
        let sent_at = || self.discord.sent_at(message);
        host_code::caught("the time of a message", sent_at)
            .unwrap_or_else(|| snowflake_time(message))
    }

    fn id_before(&self, moment: Timestamp) -> Option<MessageId> {
        host_code::caught("the ids before a moment", || self.discord.id_before(moment)).flatten()
    }

    fn reads_history(&self, channel: ChannelId) -> Option<bool> {
        let reads = || self.discord.reads_history(channel);
        host_code::caught("a permission", reads).flatten()
    }

    fn longest_message(&self) -> usize {
        let longest = || self.discord.longest_message();
        host_code::caught("the longest message", longest).unwrap_or(LIMIT)
    }
}

/// Draws the number that tells this driver's records from those of other processes: a hash with a random
/// key. The time of the start, the process id and a count of the drivers in this process go into it, in
/// case the system's randomness is poor.
fn process_number(now: Timestamp) -> u64 {
    use std::sync::atomic::Ordering;
    static DRIVERS: AtomicU64 = AtomicU64::new(0);
    let driver = DRIVERS.fetch_add(1, Ordering::Relaxed);
    RandomState::new().hash_one((now.as_millis(), std::process::id(), driver))
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("stage", &self.life.stage()).finish_non_exhaustive()
    }
}
