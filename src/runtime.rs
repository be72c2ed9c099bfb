//! All channels together. The runtime gives rooms their events, performs their actions, and keeps the time.
//!
//! It makes no decision about a channel, because that is the room's task. [`admission`](crate::admission) decides which
//! action may start now, and is a value, too.
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
use self::recognition::Recognition;
use self::registry::{Hosted, Registry};
use self::room_table::RoomTable;
use self::sight::EventsSeen;
pub(crate) use self::steps::SpawnCalls;
use self::store_trouble::StoreTrouble;
use self::tally::Counts;
use self::texts::TextBudget;
use self::timers::Timers;
use self::twins::SecondProcesses;
use self::workers::Workers;
use crate::memory::MemoryIdentities;
use crate::ports::neighbours::OtherProcesses;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::ownership::Ownership;
use crate::ports::recorder::Recorder;
use crate::ports::store::ChannelStore;
use crate::ports::waker::AgentWaker;
use crate::ports::write_bar::ModeratorLacks;
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

pub(crate) struct Runtime {
    pub(crate) discord: Arc<dyn DiscordApi>,
    pub(crate) identities: Arc<dyn IdentityStore>,
    /// `true` if the registry is the library's own, so that hosted agents are registered when the driver starts.
    pub(crate) registers_hosts: bool,
    pub(crate) store: Arc<dyn ChannelStore>,
    /// The channels that this process acts for. `None` means all of them.
    pub(crate) ownership: Option<Arc<dyn Ownership>>,
    arrivals: Arrivals,
    /// Takes events of channels that belong to other processes.
    pub(crate) neighbours: Option<Arc<dyn OtherProcesses>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) waker: OnceLock<Arc<dyn AgentWaker>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) on_agent_error: Option<AgentErrorHook>,
    /// Runs the calls of agents. Without it the driver runs them.
    spawn_calls: Option<SpawnCalls>,
    pub(crate) settings: Settings,
    pub(crate) rules: Rules,
    /// Identifies this process in the records that it writes.
    pub(crate) process: u64,
    pub(crate) registry: Arc<Registry>,
    pub(crate) presence: PresenceBoard,
    pastes: Pastes,
    pub(crate) sight: EventsSeen,
    pub(crate) store_trouble: StoreTrouble,
    /// Knows whether another process posts with the same accounts.
    pub(crate) twins: SecondProcesses,
    /// The permissions that the library's own account lacks, by channel, as the log has said them.
    pub(crate) lacks: Mutex<HashMap<ChannelId, ModeratorLacks>>,
    pub(crate) deferrals: AtomicU64,
    pub(crate) timers: Arc<Timers>,
    pub(crate) events: broadcast::Sender<EventOrLag>,
    pub(crate) life: Lifecycle,
    pub(crate) catch_up: CatchUp,
    /// Rises with each gap that concerns all channels.
    pub(crate) gap_epoch: AtomicU32,
    pub(crate) history_max: usize,
    pub(crate) rooms: Arc<RoomTable>,
    pub(crate) lost: LostConnections,
    leaving: Leaving,
    pub(crate) creations: Creations,
    pub(crate) recognition: Recognition,
    pub(crate) counts: Arc<Counts>,
    pub(crate) workers: Workers,
    texts: Arc<TextBudget>,
    /// Calls the driver for rooms.
    ready: mpsc::UnboundedSender<Arc<RoomCell>>,
}

pub(crate) struct Rules {
    pub(crate) config: RwLock<Arc<Config>>,
    own: Option<OwnRules>,
    seed: u64,
}

/// The function that returns a channel's own rules, if it has any.
pub(crate) type OwnRules = Arc<dyn Fn(ChannelId) -> Option<Arc<Config>> + Send + Sync>;

impl Rules {
    pub(crate) fn config(&self) -> Arc<Config> {
        Arc::clone(&self.config.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the rules of a channel. Its own rules are ignored if they cannot work.
    pub(crate) fn config_of(&self, channel: ChannelId) -> Arc<Config> {
        // The function is the host's. Neither a panic in it nor rules that cannot work may stop a channel.
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

    /// Returns the rules of a channel, and the seed of its chances.
    pub(crate) fn of(&self, channel: ChannelId) -> (Arc<Config>, u64) {
        (self.config_of(channel), self.seed ^ channel.get())
    }
}

/// The parts that the host gives.
pub(crate) struct Parts {
    pub(crate) discord: Arc<dyn DiscordApi>,
    /// `None` means a registry in memory with the hosted agents.
    pub(crate) identities: Option<Arc<dyn IdentityStore>>,
    pub(crate) store: Arc<dyn ChannelStore>,
    pub(crate) ownership: Option<Arc<dyn Ownership>>,
    pub(crate) neighbours: Option<Arc<dyn OtherProcesses>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) waker: Option<Arc<dyn AgentWaker>>,
    pub(crate) recorder: Option<Arc<dyn Recorder>>,
    pub(crate) on_agent_error: Option<AgentErrorHook>,
    pub(crate) orchestrator: Option<Arc<dyn Orchestrator>>,
    pub(crate) spawn_calls: Option<SpawnCalls>,
    pub(crate) settings: Settings,
    pub(crate) config: Config,
    pub(crate) own_rules: Option<OwnRules>,
    pub(crate) seed: u64,
    pub(crate) hosts: HashMap<AgentId, Hosted>,
    pub(crate) observed: HashMap<AgentId, Arc<ObservedBot>>,
}

impl Runtime {
    pub(crate) fn new(parts: Parts, ready: mpsc::UnboundedSender<Arc<RoomCell>>) -> Self {
        let timers = Arc::<Timers>::default();
        let texts = TextBudget::new(parts.settings.limits.texts_bytes_max);
        let up_since = parts.clock.now();
        Self {
            process: process_number(up_since),
            history_max: parts.store.history_max(),
            events: broadcast::Sender::new(TRANSITIONS_KEPT),
            pastes: Pastes::new(
                Arc::clone(&parts.discord),
                Arc::clone(&parts.clock),
                parts.settings.time_limits.request,
            ),
            sight: EventsSeen::default(),
            store_trouble: StoreTrouble::default(),
            twins: SecondProcesses::new(up_since),
            lacks: Mutex::default(),
            presence: PresenceBoard::new(parts.settings.hooks.heartbeat, Arc::clone(&parts.clock)),
            discord: parts.discord,
            registers_hosts: parts.identities.is_none(),
            identities: parts.identities.unwrap_or_else(|| Arc::new(MemoryIdentities::new())),
            store: parts.store,
            ownership: parts.ownership,
            arrivals: Arrivals::default(),
            neighbours: parts.neighbours,
            clock: parts.clock,
            waker: parts.waker.map_or_else(OnceLock::new, OnceLock::from),
            recorder: parts.recorder,
            on_agent_error: parts.on_agent_error,
            spawn_calls: parts.spawn_calls,
            settings: parts.settings,
            rules: Rules {
                config: RwLock::new(Arc::new(parts.config)),
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
            ready,
            texts,
            timers,
        }
    }

    /// Gives a room an event, now. It performs the room's signals, moves its deadline, and calls the driver if the room
    /// may have an action.
    pub(crate) fn update<T>(
        &self,
        cell: &Arc<RoomCell>,
        event: impl FnOnce(&mut Room, &Context<'_>, Timestamp) -> T,
    ) -> T {
        self.update_cell(cell, None, |state, cx, now| event(&mut state.room, cx, now))
    }

    /// Gives a room an event that also concerns the data beside the room. The event may have a time in the past. All of
    /// it happens under one lock of the cell.
    pub(crate) fn update_cell<T>(
        &self,
        cell: &Arc<RoomCell>,
        at: Option<Timestamp>,
        event: impl FnOnce(&mut CellState, &Context<'_>, Timestamp) -> T,
    ) -> T {
        self.with_context(|cx| {
            let mut state = cell.lock();
            // Under the lock, so that two events of a channel cannot swap their times.
            let now = at.unwrap_or_else(|| self.clock.now());
            let answer = event(&mut state, cx, now);
            // Still under the lock, so that signals keep the order in which the room decided them.
            self.perform_signals(&mut state, cx, now);
            self.after_event(cell, &mut state);
            answer
        })
    }

    /// Gives a room an input. The new state may be stored after the call returns.
    pub(crate) fn submit(&self, cell: &Arc<RoomCell>, input: &Input) -> Result<Answer, Refusal> {
        self.update(cell, |room, cx, now| room.input(cx, now, input, false).0)
    }

    /// Runs a function with the things that a room sees and does not own, as they are now.
    #[inline]
    pub(crate) fn with_context<T>(&self, work: impl FnOnce(&Context<'_>) -> T) -> T {
        let (directory, has_orchestrator) = self.registry.directory_and_orchestrator();
        // A recorder is the host's code, so a panic in it must not end the driver.
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

    pub(crate) async fn within<T>(
        &self,
        limit: std::time::Duration,
        work: impl Future<Output = T>,
    ) -> Result<T, ApiError> {
        host_code::within(self.clock.as_ref(), limit, work).await
    }
}

impl ChatFacts for Runtime {
    fn sent_at(&self, message: MessageId) -> Timestamp {
        let sent_at = || self.discord.sent_at(message);
        // If the adapter panics, Discord's form of ids is the best guess.
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

/// Draws the number that distinguishes this driver's records from those of other processes. It is a hash with a random
/// key. It also contains the time of the start, the process id and a count of the drivers in this process, in case the
/// system's randomness is poor.
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
