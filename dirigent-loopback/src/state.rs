//! What all connections share.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent::UserId;
use dirigent::ports::AuthorKind;
use tokio::sync::mpsc;

use super::alterations::Alterations;
use super::door::Door;
use super::faults::RestFaults;
use super::gateway::Gateway;
use super::limits::{Counters, ServerLimits};
use super::outage::Outages;
use super::parts::AllParts;
use super::token;
use super::traffic::Traffic;
use super::user_agents::UserAgents;
use dirigent_testkit::memory_discord::MemoryDiscord;

/// Something that runs until it ends or the server does.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What all connections share.
pub(crate) struct ServerContext {
    pub(crate) discord: MemoryDiscord,
    /// The port for everything.
    pub(super) door: Door,
    /// What is away.
    pub(super) outages: Outages,
    /// What the gateway's sessions share.
    pub(crate) gateway: Gateway,
    /// What a test changes on its way.
    pub(crate) alterations: Arc<Alterations>,
    /// The parts of messages that the world does not keep. The world's lock is taken before theirs.
    pub(crate) parts: Arc<AllParts>,
    tasks: mpsc::UnboundedSender<Task>,
    counters: Mutex<Counters>,
    faults: Mutex<RestFaults>,
    traffic: Mutex<Traffic>,
    user_agents: Mutex<UserAgents>,
}

impl ServerContext {
    pub(super) fn new(
        discord: MemoryDiscord,
        door: Door,
        tasks: mpsc::UnboundedSender<Task>,
    ) -> Self {
        discord.world().web_address = format!("http://{}", door.address);
        Self {
            discord,
            door,
            outages: Outages::none(),
            gateway: Gateway::default(),
            alterations: Arc::default(),
            parts: Arc::default(),
            tasks,
            counters: Mutex::new(Counters::new(ServerLimits::default())),
            faults: Mutex::new(RestFaults::new(0)),
            traffic: Mutex::default(),
            user_agents: Mutex::default(),
        }
    }

    /// What was asked so far, as far as limits go.
    pub(super) fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is to go wrong.
    pub(super) fn faults(&self) -> MutexGuard<'_, RestFaults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked and answered.
    pub(super) fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which clients are served.
    pub(super) fn user_agents(&self) -> MutexGuard<'_, UserAgents> {
        self.user_agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets something run beside the connections, until the server ends.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        // It is dropped when the server is ending.
        let _ = self.tasks.send(Box::pin(task));
    }

    /// The address of the gateway.
    pub(crate) fn gateway_url(&self) -> String {
        format!("ws://{}", self.door.address)
    }

    /// Whose token it is, with or without `Bot ` before it; none for one that is not valid.
    pub(crate) fn holder(&self, token: &str) -> Option<UserId> {
        let bot = token::holder(token.strip_prefix("Bot ").unwrap_or(token))?;
        let world = self.discord.world();
        let account = world.accounts.get(bot)?;
        (account.kind == AuthorKind::Bot && !account.revoked).then_some(bot)
    }

    /// The privileged intents that are switched on for a bot, as bits of its identification.
    pub(crate) fn privileged_intents(&self, bot: UserId) -> u64 {
        let world = self.discord.world();
        world.accounts.get(bot).map_or(0, |account| {
            let content = if account.content_hidden { 0 } else { super::wire::intent::CONTENT };
            let members = if account.members_hidden { 0 } else { super::wire::intent::MEMBERS };
            content | members | super::wire::intent::PRESENCES
        })
    }
}
