//! Builds the library.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use dirigent_core::Config;
use dirigent_core::config::ConfigError;
use tokio::sync::mpsc;

use crate::host::handle::Dirigent;
use crate::memory::MemoryChannels;
use crate::ports::clock::SystemClock;
use crate::ports::into_shared::IntoShared;
use crate::ports::neighbours::OtherProcesses;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::ownership::Ownership;
use crate::ports::recorder::Recorder;
use crate::ports::store::ChannelStore;
use crate::ports::waker::AgentWaker;
use crate::runtime::driver::Driver;
use crate::runtime::events::AgentFailure;
use crate::runtime::registry::Hosted;
use crate::runtime::{Parts, Runtime};
use crate::settings::ObservedBot;
use crate::{Agent, AgentId, ChannelId, Clock, DiscordApi, IdentityStore, Settings};

/// Builds the library. You get it from [`Dirigent::builder`].
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
    parts: Parts,
    /// The first agent that was added twice.
    hosted_twice: Option<AgentId>,
}

/// The reason why [`Builder::build`] failed. Its `Debug` text is the same sentence as its `Display` text, because a
/// `main` that returns the error prints `Debug`.
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
    /// The rules have a setting that cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// You gave two agents to [`Builder::host`] or [`Builder::observe`] under one id.
    #[error("the agent {agent} is given twice; give each agent an id of its own")]
    HostedTwice {
        /// The id of both agents.
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
        let parts = Parts {
            discord,
            identities: None,
            store: Arc::new(MemoryChannels::default()),
            ownership: None,
            neighbours: None,
            clock: Arc::new(SystemClock::new()),
            waker: None,
            recorder: None,
            on_agent_error: None,
            orchestrator: None,
            spawn_calls: None,
            settings: Settings::default(),
            config: Config::default(),
            own_rules: None,
            seed: 0,
            hosts: HashMap::new(),
            observed: HashMap::new(),
        };
        Self { parts, hosted_twice: None }
    }

    /// Sets the registry of agents. The default is a registry in memory. It contains each agent that you gave to
    /// [`host`](Self::host), under its id and its account, once the driver starts. The start fails if two of these
    /// agents have one account, or if an agent has the account of the library.
    #[must_use]
    pub fn identities(mut self, registry: impl IntoShared<dyn IdentityStore>) -> Self {
        self.parts.identities = Some(registry.into_shared());
        self
    }

    /// Sets the source of time. The default is the [`SystemClock`].
    #[must_use]
    pub fn clock(mut self, clock: impl IntoShared<dyn Clock>) -> Self {
        self.parts.clock = clock.into_shared();
        self
    }

    /// Sets the store, so that channels survive a restart. By default channels are in memory only.
    #[must_use]
    pub fn channels(mut self, store: impl IntoShared<dyn ChannelStore>) -> Self {
        self.parts.store = store.into_shared();
        self
    }

    /// Sets the channels that this process acts for. You need it if several processes share one store. Each process
    /// leaves the channels of the others alone: it ignores their events, and refuses calls with
    /// [`CallError::Elsewhere`](crate::CallError::Elsewhere). By default this process acts for all channels.
    #[must_use]
    pub fn ownership(mut self, ownership: impl IntoShared<dyn Ownership>) -> Self {
        self.parts.ownership = Some(ownership.into_shared());
        self
    }

    /// Sets where events go if another process acts for their channel. You need it if your processes hear different
    /// events, for example because each one has some of the gateway's shards. By default such events are dropped.
    #[must_use]
    pub fn neighbours(mut self, neighbours: impl IntoShared<dyn OtherProcesses>) -> Self {
        self.parts.neighbours = Some(neighbours.into_shared());
        self
    }

    /// Sets the rules of all channels.
    #[must_use]
    pub fn config(mut self, config: Config) -> Self {
        self.parts.config = config;
        self
    }

    /// Gives single channels their own rules. The library calls the function when it loads a channel, and at
    /// [`Dirigent::reconfigure`]. `None` means the rules of all channels.
    ///
    /// The function must return quickly, and must return the same rules for the same channel until you want them to
    /// change. Rules that cannot work are ignored, and the log says so.
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
        self.parts.own_rules = Some(Arc::new(rules));
        self
    }

    /// Sets how decisions are carried out.
    #[must_use]
    pub fn settings(mut self, settings: Settings) -> Self {
        self.parts.settings = settings;
        self
    }

    /// Sets the number that every shuffle depends on. It is mixed with the id of the channel, so that each channel has
    /// its own order. The default is 0. Draw a random number if you want a new order after each start.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.parts.seed = seed;
        self
    }

    /// Calls agents directly, instead of posting triggers. If your waker needs the library itself, pass it to
    /// [`Dirigent::set_waker`] after the build.
    #[must_use]
    pub fn waker(mut self, waker: impl IntoShared<dyn AgentWaker>) -> Self {
        self.parts.waker = Some(waker.into_shared());
        self
    }

    /// Sets the orchestrator that answers people who write during a turn, if you chose
    /// [`HumanInterrupt::Interrupt`](crate::settings::HumanInterrupt). Without an orchestrator the speaker gets their
    /// messages.
    #[must_use]
    pub fn orchestrator(mut self, orchestrator: impl IntoShared<dyn Orchestrator>) -> Self {
        self.parts.orchestrator = Some(orchestrator.into_shared());
        self
    }

    /// Adds an agent that the library calls, with the account it speaks through. Each agent needs its own id. If you
    /// use an id twice, [`build`](Self::build) fails.
    #[must_use]
    pub fn host(
        mut self,
        agent: impl Into<AgentId>,
        speaks: impl IntoShared<dyn Agent>,
        discord: impl IntoShared<dyn DiscordApi>,
    ) -> Self {
        let hosted = Hosted { agent: speaks.into_shared(), discord: discord.into_shared() };
        let agent = agent.into();
        let is_known = self.parts.observed.contains_key(&agent);
        // With two agents under one id the second replaced the first, and a bot with two agents in its source had one.
        if self.parts.hosts.insert(agent.clone(), hosted).is_some() || is_known {
            self.hosted_twice.get_or_insert(agent);
        }
        self
    }

    /// Adds an agent that runs without asking. This is a bot that you do not change, and that answers when it is
    /// mentioned. It takes turns like any other agent, and the library reads from its activity in the channel when a
    /// turn begins and ends. Register it in the registry of agents under this id.
    ///
    /// The agent needs its triggers ([`Hooks::notify`](crate::settings::Hooks::notify)), because a
    /// [`waker`](Self::waker) is not called for it. Report when it types with [`Dirigent::typing_started`]. Otherwise a
    /// bot that types for a long time before it writes counts as silent.
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
        let is_known = self.parts.hosts.contains_key(&agent);
        if self.parts.observed.insert(agent.clone(), Arc::new(bot)).is_some() || is_known {
            self.hosted_twice.get_or_insert(agent);
        }
        self
    }

    /// Sets a function that is called whenever a hosted agent fails. You need it to see the error of the agent, because
    /// the log of the library does not contain it. The function runs on the driver's task, between two steps, so it
    /// must not block. [`Dirigent::events`] reports the same failures.
    #[must_use]
    pub fn on_agent_error(mut self, hook: impl Fn(&AgentFailure) + Send + Sync + 'static) -> Self {
        self.parts.on_agent_error = Some(Arc::new(hook));
        self
    }

    /// Runs the calls of agents and of the orchestrator outside of the driver. Your function gets each call and starts
    /// it at once, for example as a task. The benefit is that an agent that blocks its thread delays only its own turn.
    /// Your function must return quickly. By default the driver polls all calls, and it spawns no task.
    ///
    /// The driver still decides when a call is over. If a turn is taken away, at a shutdown, or at a panic, the effect
    /// is the same as without this function. A call that is no longer needed ends at its next `await`, also if the
    /// driver was dropped. If that call blocks, it ends when it no longer blocks. Use a runtime with more than one
    /// thread, because a blocking call on the driver's own thread still stops the driver.
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
        self.parts.spawn_calls = Some(Arc::new(spawn));
        self
    }

    /// Sets a recorder, which writes every input down.
    #[must_use]
    pub fn recorder(mut self, recorder: impl IntoShared<dyn Recorder>) -> Self {
        self.parts.recorder = Some(recorder.into_shared());
        self
    }

    /// Builds the handle, and the driver that you run. It starts no task.
    ///
    /// # Errors
    ///
    /// Fails if a rule cannot work, or if you added an agent twice.
    pub fn build(self) -> Result<(Dirigent, Driver), BuildError> {
        self.parts.config.validate()?;
        if let Some(agent) = self.hosted_twice {
            return Err(BuildError::HostedTwice { agent });
        }
        let (ready, rooms) = mpsc::unbounded_channel();
        let runtime = Arc::new(Runtime::new(self.parts, ready));
        let handle = Dirigent::new(Arc::clone(&runtime));
        Ok((handle, Driver::new(runtime, rooms)))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("config", &self.parts.config)
            .field("settings", &self.parts.settings)
            .field("seed", &self.parts.seed)
            .field("hosts", &self.parts.hosts.keys())
            .finish_non_exhaustive()
    }
}
