//! Putting the library together.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use dirigent_core::Config;
use dirigent_core::config::ConfigError;
use tokio::sync::mpsc;

use crate::host::handle::Dirigent;
use crate::memory::{MemoryChannels, MemoryIdentities};
use crate::ports::clock::SystemClock;
use crate::ports::into_shared::IntoShared;
use crate::ports::neighbours::Neighbours;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::ownership::Ownership;
use crate::ports::recorder::Recorder;
use crate::ports::store::ChannelStore;
use crate::ports::waker::AgentWaker;
use crate::runtime::driver::Driver;
use crate::runtime::events::{AgentErrorHook, AgentFailure};
use crate::runtime::registry::Hosted;
use crate::runtime::{OwnRules, Parts, Runtime, SpawnCalls};
use crate::settings::ObservedBot;
use crate::{Agent, AgentId, ChannelId, Clock, DiscordApi, IdentityStore, Settings};

/// Puts the library together; from [`Dirigent::builder`].
///
/// ```
/// # use dirigent::{Dirigent, MemoryIdentities, SystemClock};
/// # fn with(discord: std::sync::Arc<dyn dirigent::DiscordApi>) {
/// let (dirigent, driver) =
///     Dirigent::builder(discord)
///         .seed(7)
///         .build()
///         .unwrap();
/// tokio::spawn(driver.run());
/// # let _ = dirigent;
/// # }
/// ```
pub struct Builder {
    discord: Arc<dyn DiscordApi>,
    /// `None`: in memory, with the hosted agents.
    identities: Option<Arc<dyn IdentityStore>>,
    clock: Arc<dyn Clock>,
    channels: Arc<dyn ChannelStore>,
    ownership: Option<Arc<dyn Ownership>>,
    neighbours: Option<Arc<dyn Neighbours>>,
    waker: Option<Arc<dyn AgentWaker>>,
    orchestrator: Option<Arc<dyn Orchestrator>>,
    on_agent_error: Option<AgentErrorHook>,
    spawn_calls: Option<SpawnCalls>,
    recorder: Option<Arc<dyn Recorder>>,
    hosts: HashMap<AgentId, Hosted>,
    observed: HashMap<AgentId, Arc<ObservedBot>>,
    /// The first agent that was given twice.
    hosted_twice: Option<AgentId>,
    config: Config,
    own_rules: Option<OwnRules>,
    settings: Settings,
    seed: u64,
}

/// Why the library could not be put together. `Debug` says it in words too: a `main` that returns the error prints that.
///
/// ```
/// # use dirigent::Config;
/// let mut config = Config::default();
/// config.confirmation.fingerprint_length = 1_000;
/// let error = dirigent::host::BuildError::from(config.validate().unwrap_err());
/// assert_eq!(error.to_string(), "confirmation.fingerprint_length must be at most 64");
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A setting of the rules cannot be obeyed.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Two agents were given to [`Builder::host`] or [`Builder::observe`] under one id.
    #[error("the agent {agent} is given twice; give each agent an id of its own")]
    HostedTwice {
        /// The id.
        agent: AgentId,
    },
}

impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Builder {
    pub(crate) fn new(discord: Arc<dyn DiscordApi>) -> Self {
        Self {
            discord,
            identities: None,
            clock: Arc::new(SystemClock::new()),
            channels: Arc::new(MemoryChannels::default()),
            ownership: None,
            neighbours: None,
            waker: None,
            orchestrator: None,
            on_agent_error: None,
            spawn_calls: None,
            recorder: None,
            hosts: HashMap::new(),
            observed: HashMap::new(),
            hosted_twice: None,
            config: Config::default(),
            own_rules: None,
            settings: Settings::default(),
            seed: 0,
        }
    }

    /// The registry of agents. Default: one in memory in which each agent given to [`host`](Self::host) is registered
    /// under its id and its account when the driver starts; the start fails where two of them have one account, or one
    /// has the library's own.
    #[must_use]
    pub fn identities(mut self, registry: impl IntoShared<dyn IdentityStore>) -> Self {
        self.identities = Some(registry.into_shared());
        self
    }

    /// Where time comes from. Default: the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.clock = clock.into_shared();
        self
    }

    /// Where channels survive a restart. Default: nowhere, in memory.
    #[must_use]
    pub fn channels(mut self, store: impl IntoShared<dyn ChannelStore>) -> Self {
        self.channels = store.into_shared();
        self
    }

    /// Which channels this process acts for, where several processes share the store. What happens in the others is left
    /// to their owners: events of them are ignored, and calls are refused with
    /// [`CallError::Elsewhere`](crate::CallError::Elsewhere). Default: all of them.
    #[must_use]
    pub fn ownership(mut self, ownership: impl IntoShared<dyn Ownership>) -> Self {
        self.ownership = Some(ownership.into_shared());
        self
    }

    /// Where events of channels go for which another process acts, where the processes do not all hear the same: each has some
    /// of the gateway's shards. Default: they are left aside.
    #[must_use]
    pub fn neighbours(mut self, neighbours: impl IntoShared<dyn Neighbours>) -> Self {
        self.neighbours = Some(neighbours.into_shared());
        self
    }

    /// The rules of all channels.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Gives channels rules of their own. Asked when a channel comes into memory, and at
    /// [`Dirigent::reconfigure`]; `None` leaves it with the rules of all channels. It must return soon, and give the same
    /// channel the same rules until they are to change. Rules that cannot be obeyed are left aside, and the log says so.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent::{ChannelId, Config, Dirigent};
    ///
    /// # fn with(discord: Arc<dyn dirigent::DiscordApi>) {
    /// let mut patient = Config::default();
    /// patient.ceilings.chat.turns = Some(200);
    /// let (lounge, patient) = (ChannelId::new(7), Arc::new(patient));
    /// let builder = Dirigent::builder(discord)
    ///     .config_for(move |channel| (channel == lounge).then(|| Arc::clone(&patient)));
    /// # let _ = builder;
    /// # }
    /// ```
    #[must_use]
    pub fn config_for(
        mut self,
        rules: impl Fn(ChannelId) -> Option<Arc<Config>> + Send + Sync + 'static,
    ) -> Self {
        self.own_rules = Some(Arc::new(rules));
        self
    }

    /// How decisions are carried out.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Decides every shuffle, mixed with the channel's id: the same seed gives each channel an order
    /// of its own. Default 0; a host that wants surprise draws one.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Calls agents directly instead of posting triggers. One that needs the library is given to
    /// [`Dirigent::set_waker`] once that is built.
    #[must_use]
    pub fn waker(mut self, waker: impl IntoShared<dyn AgentWaker>) -> Self {
        self.waker = Some(waker.into_shared());
        self
    }

    /// Answers people who speak during a turn, where
    /// [`HumanInterrupt::Interrupt`](crate::settings::HumanInterrupt) is chosen. Without one their messages are
    /// handed to the speaker.
    #[must_use]
    pub fn orchestrator(mut self, orchestrator: impl IntoShared<dyn Orchestrator>) -> Self {
        self.orchestrator = Some(orchestrator.into_shared());
        self
    }

    /// An agent that the library calls, and the account it speaks with. Each has an id of its own: where one comes twice,
    /// [`build`](Self::build) fails.
    #[must_use]
    pub fn host(
        mut self,
        agent: impl Into<AgentId>,
        speaks: impl IntoShared<dyn Agent>,
        discord: impl IntoShared<dyn DiscordApi>,
    ) -> Self {
        let hosted = Hosted { agent: speaks.into_shared(), discord: discord.into_shared() };
        let agent = agent.into();
        let is_known = self.observed.contains_key(&agent);
        if self.hosts.insert(agent.clone(), hosted).is_some() || is_known {
            self.hosted_twice.get_or_insert(agent);
        }
        self
    }

    /// An agent that runs without asking: a bot that you do not change, which answers when it is mentioned. It takes turns
    /// like any other: what it does in the channel says when its turn begins and ends. It is registered in the registry of
    /// agents under this id.
    ///
    /// It needs its triggers ([`Hooks::notify`](crate::settings::Hooks::notify)); a [`waker`](Self::waker) is not asked for it.
    /// Tell the driver when it types, with [`Dirigent::typing_started`]; without that a bot that only types for long counts
    /// as silent.
    ///
    /// ```
    /// # use dirigent::Dirigent;
    /// # use dirigent::settings::ObservedBot;
    /// # fn with(discord: std::sync::Arc<dyn dirigent::DiscordApi>) {
    /// let builder = Dirigent::builder(discord).observe("helper", ObservedBot::default());
    /// # let _ = builder;
    /// # }
    /// ```
    #[must_use]
    pub fn observe(mut self, agent: impl Into<AgentId>, bot: ObservedBot) -> Self {
        let agent = agent.into();
        let is_known = self.hosts.contains_key(&agent);
        if self.observed.insert(agent.clone(), Arc::new(bot)).is_some() || is_known {
            self.hosted_twice.get_or_insert(agent);
        }
        self
    }

    /// Called whenever a hosted agent fails: the library's log does not show what went wrong in it. It is called on the
    /// driver's task, between two steps, and so must not block. [`Dirigent::events`] tells the same.
    #[must_use]
    pub fn on_agent_error(mut self, hook: impl Fn(&AgentFailure) + Send + Sync + 'static) -> Self {
        self.on_agent_error = Some(Arc::new(hook));
        self
    }

    /// Runs the calls of agents, and of the orchestrator, elsewhere than in the driver: the function is given each call and begins it at
    /// once, for example as a task. Then an agent that blocks its thread keeps only its own turn waiting. It returns soon itself. Default:
    /// the driver polls all calls, and nothing is spawned.
    ///
    /// The driver still decides when a call is over. A turn that is taken away, a shutdown and a panic do what they do without this. A call
    /// that is not waited for any more, also because the driver was dropped, ends at its next `await`; one that blocks, when it no longer
    /// does. Give the function a runtime with more than one thread: on a thread that the driver shares, a call that blocks stops the driver
    /// all the same.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use dirigent::Dirigent;
    /// # fn with(discord: Arc<dyn dirigent::DiscordApi>) {
    /// let builder = Dirigent::builder(discord)
    ///     .spawn_calls(|call| _ = tokio::spawn(call));
    /// # let _ = builder;
    /// # }
    /// ```
    #[must_use]
    pub fn spawn_calls(
        mut self,
        spawn: impl Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync + 'static,
    ) -> Self {
        self.spawn_calls = Some(Arc::new(spawn));
        self
    }

    /// Writes every input down.
    #[must_use]
    pub fn recorder(mut self, recorder: impl IntoShared<dyn Recorder>) -> Self {
        self.recorder = Some(recorder.into_shared());
        self
    }

    /// The handle, and the driver that the host runs. Starts nothing.
    ///
    /// # Errors
    ///
    /// When a rule cannot be obeyed, or an agent is given twice.
    pub fn build(self) -> Result<(Dirigent, Driver), BuildError> {
        self.config.validate()?;
        if let Some(agent) = self.hosted_twice {
            return Err(BuildError::HostedTwice { agent });
        }
        let (ready, rooms) = mpsc::unbounded_channel();
        let runtime = Arc::new(Runtime::new(Parts {
            discord: self.discord,
            registers_hosts: self.identities.is_none(),
            identities: self.identities.unwrap_or_else(|| Arc::new(MemoryIdentities::new())),
            store: self.channels,
            ownership: self.ownership,
            neighbours: self.neighbours,
            clock: self.clock,
            waker: self.waker,
            orchestrator: self.orchestrator,
            recorder: self.recorder,
            on_agent_error: self.on_agent_error,
            spawn_calls: self.spawn_calls,
            settings: self.settings,
            config: Arc::new(self.config),
            own_rules: self.own_rules,
            seed: self.seed,
            hosts: self.hosts,
            observed: self.observed,
            ready,
        }));
        let handle = Dirigent::new(Arc::clone(&runtime));
        Ok((handle, Driver::new(runtime, rooms)))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("config", &self.config)
            .field("settings", &self.settings)
            .field("seed", &self.seed)
            .field("hosts", &self.hosts.keys())
            .finish_non_exhaustive()
    }
}
