//! A small world for tests of the driver: chat, store, clock, agents, a person and the process that
//! runs the library, polled by hand on one thread. The same steps give the same run.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dirigent::hooks::WakeCall;
use dirigent::host::{Consultation, Orchestrator, RunError};
use dirigent::ports::{GuildId, Ownership, Timestamp};
use dirigent::replay::Recorder;
use dirigent::settings::ObservedBot;
use dirigent::{
    AgentError, ChannelId, Config, Dirigent, IdentityStore, MemoryIdentities, Reply, Settings,
    UserId,
};
use dirigent_testkit::scripted_agent::ScriptedAgent;
use dirigent_testkit::{ManualClock, MemoryDiscord};

mod acting;
mod agent;
mod begun;
mod chat;
mod clock;
mod executor;
mod points;
mod pump;
mod setup;
mod store;

pub use begun::Begun;
pub use points::Points;
pub use setup::Setup;
pub use store::{Committed, StageStore, StoreFault};

use agent::StageAgent;
use chat::StageAccount;
use clock::StageClock;
use executor::Executor;
use pump::{DirectWaker, Hooks, pump};

/// What outlives the process.
struct Place {
    clock: ManualClock,
    discord: MemoryDiscord,
    store: StageStore,
    identities: MemoryIdentities,
    points: Points,
    guild: GuildId,
    moderator: UserId,
    person: UserId,
    rooms: Vec<ChannelId>,
    numbers: Arc<AtomicU64>,
    /// Whether the library hears nothing of what happens.
    gateway_cut: Arc<AtomicBool>,
    /// Whether agents that the host owns see no trigger.
    agents_cut: Arc<AtomicBool>,
}

/// An agent, and who runs it.
struct Cast {
    agent: ScriptedAgent,
    runs: Runs,
}

/// Who runs an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Runs {
    /// The library calls it.
    Hosted,
    /// The host runs it when a trigger addresses it.
    Hooked,
    /// It is a bot that asks nobody: the test does for it what it does in the chat.
    Observed(ObservedBot),
}

/// Makes the registry that the library is given of the one in memory.
type RegistryOf = Arc<dyn Fn(MemoryIdentities) -> Arc<dyn IdentityStore> + Send + Sync>;

/// How the process is set up.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
struct Plan {
    config: Config,
    settings: Settings,
    seed: u64,
    recorder: Option<Arc<dyn Recorder>>,
    pumps: bool,
    direct: bool,
    orchestrator: Option<Arc<dyn Orchestrator>>,
    ownership: Option<Arc<dyn Ownership>>,
    registry: Option<RegistryOf>,
    post_first: bool,
    receipts: bool,
    post_delay: Duration,
    downtime: Duration,
    reads_history: Option<bool>,
}

/// A world with a driver in it. Built by [`Setup`].
///
/// Nothing happens unless a method here lets it; each lets everything happen that can happen
/// without time passing, and those that name a time or a goal let time pass too. If the process is
/// killed at one of its [`points`](Self::points), it is started again after a while, as a
/// supervisor would.
///
/// ```
/// use dirigent_verify::stage::Setup;
///
/// let mut stage = Setup::new().hosted("a", ["one".into()]).hosted("b", []).stage();
/// stage.chat();
/// stage.say("Hello");
/// stage.crash();
/// stage.restart();
/// stage.until_dormant();
/// assert!(stage.points().breaches().is_empty());
/// ```
pub struct Stage {
    place: Place,
    cast: Vec<Cast>,
    plan: Plan,
    executor: Executor,
    dirigent: Option<Dirigent>,
    ended: Arc<Mutex<Option<Result<(), RunError>>>>,
    wake_calls: Arc<Mutex<Vec<WakeCall>>>,
    lives: u32,
}

impl Stage {
    fn new(place: Place, cast: Vec<Cast>, plan: Plan) -> Self {
        Self {
            place,
            cast,
            plan,
            executor: Executor::default(),
            dirigent: None,
            ended: Arc::default(),
            wake_calls: Arc::default(),
            lives: 0,
        }
    }

    /// The chat.
    pub const fn discord(&self) -> &MemoryDiscord {
        &self.place.discord
    }

    /// The clock.
    pub const fn clock(&self) -> &ManualClock {
        &self.place.clock
    }

    /// The store.
    pub const fn store(&self) -> &StageStore {
        &self.place.store
    }

    /// The registry.
    pub const fn identities(&self) -> &MemoryIdentities {
        &self.place.identities
    }

    /// The crash points.
    pub const fn points(&self) -> &Points {
        &self.place.points
    }

    /// The first channel.
    pub fn channel(&self) -> ChannelId {
        self.rooms().first().copied().unwrap_or(ChannelId::new(0))
    }

    /// All channels.
    pub fn rooms(&self) -> &[ChannelId] {
        &self.place.rooms
    }

    /// The guild.
    pub const fn guild(&self) -> GuildId {
        self.place.guild
    }

    /// The person.
    pub const fn person(&self) -> UserId {
        self.place.person
    }

    /// The library's own account.
    pub const fn moderator(&self) -> UserId {
        self.place.moderator
    }

    /// How often the process was started.
    pub const fn lives(&self) -> u32 {
        self.lives
    }

    /// An agent.
    ///
    /// # Panics
    ///
    /// When there is none of this name.
    #[track_caller]
    pub fn agent(&self, name: &str) -> &ScriptedAgent {
        let found = self.cast.iter().find(|cast| cast.agent.name().as_str() == name);
        match found {
            Some(cast) => &cast.agent,
            None => panic!("there is no agent {name} on the stage"),
        }
    }

    /// All agents.
    pub fn agents(&self) -> impl Iterator<Item = &ScriptedAgent> {
        self.cast.iter().map(|cast| &cast.agent)
    }

    /// What direct calls brought, oldest first.
    pub fn wake_calls(&self) -> Vec<WakeCall> {
        self.wake_calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Cuts the gateway, or restores it as a new session: what happens while it is cut is never pushed to
    /// the library, requests are carried out as ever, and agents that the host owns still see their
    /// triggers. The library is not told of the cut; that is what
    /// [`Dirigent::reconnected`] is for.
    pub fn cut_gateway(&self, is_cut: bool) {
        self.place.gateway_cut.store(is_cut, Ordering::Release);
    }

    /// The same for the agents that the host owns: while they are cut off, they see no trigger, and none
    /// of that time afterwards.
    pub fn cut_agents_off(&self, is_cut: bool) {
        self.place.agents_cut.store(is_cut, Ordering::Release);
    }

    /// The library.
    ///
    /// # Panics
    ///
    /// While the process is down.
    #[track_caller]
    pub fn dirigent(&self) -> Dirigent {
        match &self.dirigent {
            Some(dirigent) => dirigent.clone(),
            None => panic!("the process is down"),
        }
    }

    /// The end of the process, at once: its futures are dropped; chat and store stay.
    pub fn crash(&mut self) {
        for cast in &self.cast {
            cast.agent.attach(None);
        }
        self.executor = Executor::default();
        self.dirigent = None;
    }

    /// Starts the process, and lets it get going.
    ///
    /// # Panics
    ///
    /// When the library cannot be put together.
    pub fn restart(&mut self) {
        self.crash();
        self.place.points.revive();
        self.start();
        self.settle();
    }

    fn start(&mut self) {
        let hooks = self.hooks();
        let place = &self.place;
        let clock = StageClock::new(place.clock.clone(), place.points.clone());
        let identities: Arc<dyn IdentityStore> = match &self.plan.registry {
            Some(registry) => registry(place.identities.clone()),
            None => Arc::new(place.identities.clone()),
        };
        let own = Arc::new(self.account(place.moderator));
        let mut builder = Dirigent::builder(own)
            .identities(identities)
            .clock(clock)
            .channels(place.store.clone())
            .config(self.plan.config.clone())
            .settings(self.plan.settings.clone())
            .seed(self.plan.seed);
        if let Some(recorder) = &self.plan.recorder {
            builder = builder.recorder(SharedRecorder(Arc::clone(recorder)));
        }
        for cast in &self.cast {
            if let Runs::Observed(bot) = &cast.runs {
                builder = builder.observe(cast.agent.name().clone(), bot.clone());
            }
        }
        for cast in self.cast.iter().filter(|cast| cast.runs == Runs::Hosted) {
            let account = Arc::new(self.account(cast.agent.user()));
            let agent = StageAgent::new(cast.agent.clone(), place.points.clone());
            builder = builder.host(cast.agent.name().clone(), agent, account);
        }
        if let Some(orchestrator) = &self.plan.orchestrator {
            builder = builder.orchestrator(SharedOrchestrator(Arc::clone(orchestrator)));
        }
        if let Some(ownership) = &self.plan.ownership {
            builder = builder.ownership(Arc::clone(ownership));
        }
        if self.plan.direct {
            let (calls, starts) = (Arc::clone(&self.wake_calls), self.plan.pumps);
            builder = builder.waker(DirectWaker { hooks: hooks.clone(), starts, calls });
        }
        let (dirigent, driver) = match builder.build() {
            Ok(built) => built,
            Err(error) => panic!("the library cannot be put together: {error}"),
        };
        for cast in &self.cast {
            cast.agent.attach(Some(dirigent.clone()));
        }
        self.ended = Arc::default();
        let ended = Arc::clone(&self.ended);
        let running = driver.run();
        self.executor.spawner().spawn(async move {
            let end = running.await;
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(end);
        });
        if self.plan.pumps {
            // As an adapter says that it is connected.
            dirigent.resumed(0);
            let events = place.discord.events();
            let cut = Arc::clone(&place.gateway_cut);
            self.executor.spawner().spawn(pump(events, dirigent.clone(), hooks, cut));
        }
        let discord = place.discord.clone();
        self.executor.spawner().spawn(async move { discord.land_late_posts().await });
        self.dirigent = Some(dirigent);
        self.lives += 1;
    }

    fn account(&self, user: UserId) -> StageAccount {
        let place = &self.place;
        let (account, store) = (place.discord.account(user), place.store.clone());
        let chat = (account, place.discord.clone());
        StageAccount::new(chat, store, place.points.clone(), self.plan.reads_history)
    }

    fn hooks(&self) -> Hooks {
        let owned = self.cast.iter().filter(|cast| cast.runs == Runs::Hooked);
        Hooks {
            agents: owned.map(|cast| cast.agent.clone()).collect(),
            discord: self.place.discord.clone(),
            moderator: self.place.moderator,
            points: self.place.points.clone(),
            spawner: self.executor.spawner().clone(),
            numbers: Arc::clone(&self.place.numbers),
            post_first: self.plan.post_first,
            receipts: self.plan.receipts,
            post_delay: self.plan.post_delay,
            agents_cut: Arc::clone(&self.place.agents_cut),
        }
    }
}

/// Agents hold the library, and the library holds them: without an end neither would ever be freed.
impl Drop for Stage {
    fn drop(&mut self) {
        self.crash();
    }
}

/// An orchestrator that outlives the process.
struct SharedOrchestrator(Arc<dyn Orchestrator>);

#[dirigent::async_trait]
impl Orchestrator for SharedOrchestrator {
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
        self.0.answer(asked).await
    }
}

/// A recorder that outlives the process.
struct SharedRecorder(Arc<dyn Recorder>);

impl Recorder for SharedRecorder {
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: dirigent_core::Snapshot) {
        self.0.began(channel, config, snapshot);
    }

    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &dirigent_core::Input) {
        self.0.recorded(channel, at, input);
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("config", &self.config)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stage")
            .field("clock", &self.place.clock)
            .field("executor", &self.executor)
            .field("lives", &self.lives)
            .finish_non_exhaustive()
    }
}
