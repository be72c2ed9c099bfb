//! What a stage is built from.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use dirigent::host::Orchestrator;
use dirigent::ports::{Identity, Ownership};
use dirigent::replay::Recorder;
use dirigent::settings::{ObservedBot, Pacing};
use dirigent::{AgentId, Config, IdentityStore, MemoryIdentities, Settings};
use dirigent_testkit::memory_discord::Faults;
use dirigent_testkit::scripted_agent::{Line, ScriptedAgent};
use dirigent_testkit::{ManualClock, MemoryDiscord};

use super::clock::StageClock;
use super::points::Points;
use super::store::StageStore;
use super::{Cast, Place, Plan, Runs, Stage};

/// Puts a [`Stage`] together.
///
/// ```
/// use dirigent_verify::stage::Setup;
///
/// let mut stage = Setup::new()
///     .hosted("a", ["Good morning".into()])
///     .hosted("b", [])
///     .stage();
/// stage.chat();
/// stage.say("Hello");
/// stage.until_dormant();
/// assert_eq!(stage.words(), ["Hello", "Good morning"]);
/// ```
#[derive(Debug)]
pub struct Setup {
    agents: Vec<(AgentId, Vec<Line>, Runs)>,
    rooms: usize,
    plan: Plan,
    faults: Option<Faults>,
    starts: bool,
}

impl Setup {
    /// One channel, one person, a moderator, no agent; no pacing, no looking out, and everything is
    /// pushed.
    pub fn new() -> Self {
        let mut settings = Settings::default();
        settings.limits.pacing = Pacing::off();
        settings.time_limits.backfill = None;
        let plan = Plan {
            config: Config::default(),
            settings,
            seed: 7,
            recorder: None,
            pumps: true,
            direct: false,
            orchestrator: None,
            ownership: None,
            registry: None,
            post_first: false,
            receipts: false,
            post_delay: Duration::ZERO,
            downtime: Duration::from_secs(1),
            reads_history: None,
        };
        Self { agents: Vec::new(), rooms: 1, plan, faults: None, starts: true }
    }

    /// An agent that the library calls.
    #[must_use]
    pub fn hosted(mut self, name: &str, lines: impl IntoIterator<Item = Line>) -> Self {
        self.agents.push((name.into(), lines.into_iter().collect(), Runs::Hosted));
        self
    }

    /// An agent that the host runs when a trigger message addresses it.
    #[must_use]
    pub fn hooked(mut self, name: &str, lines: impl IntoIterator<Item = Line>) -> Self {
        self.agents.push((name.into(), lines.into_iter().collect(), Runs::Hooked));
        self
    }

    /// A bot that asks nobody before it runs: the test does for it what it does in the chat.
    #[must_use]
    pub fn observed(mut self, name: &str, bot: ObservedBot) -> Self {
        self.agents.push((name.into(), Vec::new(), Runs::Observed(bot)));
        self
    }

    /// Sets the number of channels (1 unless set), each with every agent in it.
    #[must_use]
    pub const fn rooms(mut self, rooms: usize) -> Self {
        self.rooms = rooms;
        self
    }

    /// Changes the rules.
    #[must_use]
    pub fn config(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.plan.config);
        self
    }

    /// Changes how decisions are carried out.
    #[must_use]
    pub fn settings(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.plan.settings);
        self
    }

    /// Decides every shuffle.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// What goes wrong in the chat.
    #[must_use]
    pub fn faults(mut self, faults: Faults) -> Self {
        self.faults = Some(faults);
        self
    }

    /// Writes every input down.
    #[must_use]
    pub fn recorder(mut self, recorder: impl Recorder + Clone) -> Self {
        self.plan.recorder = Some(Arc::new(recorder));
        self
    }

    /// Who answers people that speak during a turn.
    #[must_use]
    pub fn orchestrator(mut self, orchestrator: impl Orchestrator) -> Self {
        self.plan.orchestrator = Some(Arc::new(orchestrator));
        self
    }

    /// Which channels this process acts for.
    #[must_use]
    pub fn ownership(mut self, ownership: Arc<dyn Ownership>) -> Self {
        self.plan.ownership = Some(ownership);
        self
    }

    /// The library is given this registry, made of the one in memory.
    #[must_use]
    pub fn registry(
        mut self,
        registry: impl Fn(MemoryIdentities) -> Arc<dyn IdentityStore> + Send + Sync + 'static,
    ) -> Self {
        self.plan.registry = Some(Arc::new(registry));
        self
    }

    /// Nothing is pushed to the library.
    #[must_use]
    pub const fn without_pump(mut self) -> Self {
        self.plan.pumps = false;
        self
    }

    /// The host's agents are called directly, without trigger messages.
    #[must_use]
    pub const fn direct(mut self) -> Self {
        self.plan.direct = true;
        self
    }

    /// The host's agents post before the end of their run is told.
    #[must_use]
    pub const fn post_first(mut self) -> Self {
        self.plan.post_first = true;
        self
    }

    /// The host tells which messages its agents' replies became.
    #[must_use]
    pub const fn receipts(mut self) -> Self {
        self.plan.receipts = true;
        self
    }

    /// The posts of the host's agents take this long to arrive after the run's end was told.
    #[must_use]
    pub const fn post_delay(mut self, delay: Duration) -> Self {
        self.plan.post_delay = delay;
        self
    }

    /// How long the process is down after a crash. Default one second.
    #[must_use]
    pub const fn downtime(mut self, downtime: Duration) -> Self {
        self.plan.downtime = downtime;
        self
    }

    /// The accounts know that they may read what was posted.
    #[must_use]
    pub const fn sure_of_history(mut self) -> Self {
        self.plan.reads_history = Some(true);
        self
    }

    /// The driver is not started yet; [`Stage::restart`] does.
    #[must_use]
    pub const fn not_started(mut self) -> Self {
        self.starts = false;
        self
    }

    /// Builds it all and starts the driver.
    pub fn stage(self) -> Stage {
        self.stage_with(Points::default())
    }

    /// The same, with crash points that may be struck during the start already.
    pub fn stage_with(self, points: Points) -> Stage {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()))
            .with_post_log(1_000_000)
            .with_history_max(10_000);
        let (moderator, person) = (discord.add_bot(), discord.add_human());
        let guild = discord.add_guild(person);
        let store = StageStore::new(clock.clone(), points.clone());
        let watched = Arc::new(StageClock::new(clock.clone(), points.clone()));
        let identities = MemoryIdentities::new();
        let agents = self.agents.into_iter().map(|(name, lines, runs)| {
            let user = discord.add_bot();
            let agent_name = name.as_str().to_owned();
            let identity = Identity { discord_user_id: user, agent_id: name.clone(), agent_name };
            let added = identities.add(identity);
            debug_assert!(added.is_ok(), "each has an account of its own");
            let watched = Arc::clone(&watched) as _;
            let agent = ScriptedAgent::new(name, user, discord.clone(), watched);
            for line in lines {
                agent.then(line);
            }
            Cast { agent, runs }
        });
        let cast: Vec<Cast> = agents.collect();
        let mut members = vec![moderator, person];
        members.extend(cast.iter().map(|cast| cast.agent.user()));
        let rooms = (0..self.rooms.max(1))
            .map(|at| discord.add_channel(guild, &format!("room-{at}"), &members))
            .collect();
        if let Some(faults) = self.faults {
            discord.inject(|plan| *plan = faults);
        }
        let place = Place {
            clock,
            discord,
            store,
            identities,
            points,
            guild,
            moderator,
            person,
            rooms,
            numbers: Arc::new(AtomicU64::new(1)),
            gateway_cut: Arc::default(),
            agents_cut: Arc::default(),
        };
        let mut stage = Stage::new(place, cast, self.plan);
        if self.starts {
            stage.restart();
        }
        stage
    }
}

impl Default for Setup {
    fn default() -> Self {
        Self::new()
    }
}
