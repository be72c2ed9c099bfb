//! The state that all connections share.

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

/// A task that runs until it ends or the server does.
pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The state that all connections share.
pub(crate) struct ServerContext {
    pub(crate) discord: MemoryDiscord,
    /// The port for everything.
    pub(super) door: Door,
    /// The parts that are away.
    pub(super) outages: Outages,
    /// The state that the gateway's sessions share.
    pub(crate) gateway: Gateway,
    /// The changes of a test.
    pub(crate) alterations: Arc<Alterations>,
    /// The parts of messages that the world does not store. The world's lock is taken before
    /// theirs.
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

    /// Returns the counts for the limits.
    pub(super) fn counters(&self) -> MutexGuard<'_, Counters> {
        self.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the plan of faults.
    pub(super) fn faults(&self) -> MutexGuard<'_, RestFaults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the requests and their answers.
    pub(super) fn traffic(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the rules for the `User-Agent` of clients.
    pub(super) fn user_agents(&self) -> MutexGuard<'_, UserAgents> {
        self.user_agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs a task beside the connections, until the server ends.
    pub(crate) fn run(&self, task: impl Future<Output = ()> + Send + 'static) {
        // If the server is ending, the task is dropped.
        let _ = self.tasks.send(Box::pin(task));
    }

    /// Returns the address of the gateway.
    pub(crate) fn gateway_url(&self) -> String {
        format!("ws://{}", self.door.address)
    }

    /// Returns the account of a token, with or without `Bot ` before it, or `None` if the token is
    /// invalid.
    pub(crate) fn holder(&self, token: &str) -> Option<UserId> {
        let bot = token::holder(token.strip_prefix("Bot ").unwrap_or(token))?;
        let world = self.discord.world();
        let account = world.accounts.get(bot)?;
        (account.kind == AuthorKind::Bot && !account.revoked).then_some(bot)
    }

    /// Returns the privileged intents that are switched on for a bot, as bits of IDENTIFY.
    pub(crate) fn privileged_intents(&self, bot: UserId) -> u64 {
        let world = self.discord.world();
        world.accounts.get(bot).map_or(0, |account| {
            let content = if account.content_hidden { 0 } else { super::wire::intent::CONTENT };
            let members = if account.members_hidden { 0 } else { super::wire::intent::MEMBERS };
            content | members | super::wire::intent::PRESENCES
        })
    }
}
