//! Several processes in one, on one chat, one store and one clock: each with a library of its own, and a lease table that the test
//! writes.

use std::collections::{BTreeMap, HashMap};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dirigent::host::Builder;
use dirigent::operate::Transition;
use dirigent::ports::{ApiError, ErrorKind, Ownership, Standing};
use dirigent::settings::LostRuns;
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision, StoredChannel,
};
use dirigent::{AgentId, ChannelId, Clock, Dirigent, IdentityStore, Settings, async_trait};
use dirigent_cluster::{Forwarding, Instance, Owners};
use dirigent_relay::{Client, HostId, Keyring, Relay, Server, Service};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;

use super::place::Place;
pub(crate) use super::place::{AGENTS, SECOND, host, secret};

/// Who acts for which channel: all that are not named are the first process's.
#[derive(Default)]
pub(crate) struct Table {
    state: Mutex<TableState>,
    changed: Mutex<HashMap<HostId, Arc<Notify>>>,
}

#[derive(Default)]
struct TableState {
    hosts: Vec<HostId>,
    resigned: Vec<HostId>,
    named: BTreeMap<ChannelId, Option<HostId>>,
    /// Who acted for a channel and does not know that another does, and how it stands to the channel as far as it knows.
    believed: BTreeMap<ChannelId, (HostId, Standing)>,
    /// What came to each process since it was told.
    came: HashMap<HostId, Vec<ChannelId>>,
}

impl Table {
    pub(crate) fn give(&self, channel: ChannelId, to: Option<&HostId>) {
        let mut state = self.state.lock().unwrap();
        state.named.insert(channel, to.cloned());
        if let Some(to) = to {
            state.came.entry(to.clone()).or_default().push(channel);
        }
        drop(state);
        self.changed.lock().unwrap().values().for_each(|changed| changed.notify_one());
    }

    /// The same, but the process that had the channel does not know yet: only the store does. To that process its lease stands as given.
    pub(crate) fn give_unheard(&self, channel: ChannelId, to: &HostId, stands: Standing) {
        let before = self.of(channel).filter(|before| before != to);
        let mut state = self.state.lock().unwrap();
        state.believed.extend(before.map(|before| (channel, (before, stands))));
        state.named.insert(channel, Some(to.clone()));
        state.came.entry(to.clone()).or_default().push(channel);
        drop(state);
        self.changed.lock().unwrap()[to].notify_one();
    }

    /// The process that acts for the channel could not renew its lease.
    pub(crate) fn lapse(&self, channel: ChannelId) {
        let owner = self.of(channel).map(|owner| (channel, (owner, Standing::Lapsed)));
        self.state.lock().unwrap().believed.extend(owner);
    }

    /// The process that had the channel knows now how it stands to it.
    pub(crate) fn hear_of(&self, channel: ChannelId) {
        self.state.lock().unwrap().believed.remove(&channel);
        self.changed.lock().unwrap().values().for_each(|changed| changed.notify_one());
    }

    fn standing(&self, channel: ChannelId, host: &HostId) -> Standing {
        let is_owner = self.of(channel).as_ref() == Some(host);
        match self.state.lock().unwrap().believed.get(&channel) {
            Some((believed, stands)) if believed == host => *stands,
            _ if is_owner => Standing::Held,
            _ => Standing::Elsewhere,
        }
    }

    /// The process is about to end: it is a member no more, and acts for its channels still.
    pub(crate) fn resign(&self, host: &HostId) {
        self.state.lock().unwrap().resigned.push(host.clone());
    }

    /// The process is a member again.
    pub(crate) fn come_back(&self, host: &HostId) {
        self.state.lock().unwrap().resigned.retain(|resigned| resigned != host);
    }

    fn of(&self, channel: ChannelId) -> Option<HostId> {
        let state = self.state.lock().unwrap();
        state.named.get(&channel).cloned().unwrap_or_else(|| state.hosts.first().cloned())
    }
}

impl Owners for Table {
    fn owner(&self, channel: ChannelId) -> Option<HostId> {
        self.of(channel)
    }

    fn all(&self) -> Vec<HostId> {
        let state = self.state.lock().unwrap();
        state.hosts.iter().filter(|host| !state.resigned.contains(host)).cloned().collect()
    }
}

/// The table as one process sees it.
struct Lease {
    me: HostId,
    table: Arc<Table>,
    changed: Arc<Notify>,
}

#[async_trait]
impl Ownership for Lease {
    fn standing(&self, channel: ChannelId) -> Standing {
        self.table.standing(channel, &self.me)
    }

    fn owner(&self, channel: ChannelId) -> Option<Arc<str>> {
        self.table.of(channel).map(|host| host.as_str().into())
    }

    async fn changed(&self) -> Vec<ChannelId> {
        self.changed.notified().await;
        self.table.state.lock().unwrap().came.remove(&self.me).unwrap_or_default()
    }
}

/// The store that all share: it refuses the commits of a process that does not act for the channel.
struct Fenced {
    me: HostId,
    table: Arc<Table>,
    all: MemoryChannels,
    /// Whether commits are taken, or wait.
    open: watch::Sender<bool>,
    fails: Arc<AtomicBool>,
}

impl Fenced {
    fn works(&self) -> Result<(), ApiError> {
        let fails = self.fails.load(Ordering::Relaxed);
        if fails { Err(ApiError::new(ErrorKind::Store)) } else { Ok(()) }
    }
}

#[async_trait]
impl ChannelStore for Fenced {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.all.channels().await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.works()?;
        self.all.load(channel).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        if self.table.of(commit.channel).as_ref() != Some(&self.me) {
            return Err(CommitError::Elsewhere);
        }
        self.works()?;
        let mut open = self.open.subscribe();
        open.wait_for(|open| *open).await.unwrap();
        self.all.commit(commit).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.all.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.all.add_agent(agent).await
    }

    fn history_max(&self) -> usize {
        self.all.history_max()
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        self.all.history(channel).await
    }
}

/// One of the processes.
pub(crate) struct Process {
    pub(crate) host: HostId,
    pub(crate) dirigent: Dirigent,
    pub(crate) instance: Instance,
    /// The same, as what answers.
    pub(crate) answers: Arc<dyn Service>,
    pub(crate) forwarding: Forwarding,
    /// What the others reach it by.
    pub(crate) server: Arc<Server>,
    tasks: Vec<JoinHandle<()>>,
}

impl Process {
    /// It is gone at once.
    pub(crate) fn kill(&mut self) {
        self.tasks.drain(..).for_each(|task| task.abort());
    }
}

/// The place with its processes, what they store, and who acts for which channel.
pub(crate) struct Fleet {
    place: Place,
    pub(crate) table: Arc<Table>,
    store: MemoryChannels,
    open: watch::Sender<bool>,
    fails: Arc<AtomicBool>,
    starts: u8,
}

impl Deref for Fleet {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl DerefMut for Fleet {
    fn deref_mut(&mut self) -> &mut Place {
        &mut self.place
    }
}

impl AsRef<Dirigent> for Process {
    fn as_ref(&self) -> &Dirigent {
        &self.dirigent
    }
}

impl Fleet {
    pub(crate) async fn new() -> Self {
        Self {
            place: Place::new().await,
            table: Arc::default(),
            store: MemoryChannels::default(),
            open: watch::Sender::new(true),
            fails: Arc::default(),
            starts: 10,
        }
    }

    /// The keys of a process that acts for channels.
    pub(crate) fn keys(name: &str) -> Keyring {
        Place::keys(name)
    }

    /// Starts a process, or starts it anew.
    pub(crate) fn start(&mut self, name: &str) -> Process {
        self.start_with(name, Self::keys(name), Arc::new(self.relay.clone()), Vec::new())
    }

    /// The same, with other keys, another way to the others, and more that it answers.
    pub(crate) fn start_with(
        &mut self,
        name: &str,
        keys: Keyring,
        way: Arc<dyn Relay>,
        more: Vec<Arc<dyn Service>>,
    ) -> Process {
        let client = Client::new(keys.clone(), way, Arc::new(self.clock.clone()));
        self.start_as(name, keys, client, more, |builder| builder)
    }

    /// The same, with a client that others of the process share, and a library of another making.
    pub(crate) fn start_as(
        &mut self,
        name: &str,
        keys: Keyring,
        client: Client,
        more: Vec<Arc<dyn Service>>,
        build: impl FnOnce(Builder) -> Builder,
    ) -> Process {
        let host = host(name);
        let changed = Arc::new(Notify::new());
        self.table.changed.lock().unwrap().insert(host.clone(), Arc::clone(&changed));
        {
            let mut state = self.table.state.lock().unwrap();
            if !state.hosts.contains(&host) {
                state.hosts.push(host.clone());
            }
        }
        let (clock, table) = (Arc::new(self.clock.clone()), Arc::clone(&self.table));
        let (forwarding, link) = Forwarding::new(client.clone(), Arc::clone(&table) as _);
        let (all, open, fails) = (self.store.clone(), self.open.clone(), Arc::clone(&self.fails));
        let store = Fenced { me: host.clone(), table: Arc::clone(&table), all, open, fails };
        // A run outlives the process that granted it.
        let settings =
            Settings::default().with(|settings| settings.hooks.lost_runs = LostRuns::Keep);
        let lease = Lease { me: host.clone(), table: Arc::clone(&table), changed };
        let builder = Dirigent::builder(self.discord.account(self.moderator))
            .clock(clock as Arc<dyn Clock>)
            .identities(Arc::clone(&self.registry))
            .channels(store)
            .ownership(lease)
            .neighbours(forwarding.clone())
            .settings(settings.clone());
        let (dirigent, driver) = build(builder).build().unwrap();
        let registry = Arc::clone(&self.registry) as Arc<dyn IdentityStore>;
        let instance = Instance::new(dirigent.clone(), registry, client, table, settings);
        let answers: Arc<dyn Service> = Arc::new(instance.clone());
        let server = Server::with_start(keys, secret(self.next_start())).with(Arc::clone(&answers));
        let server = Arc::new(more.into_iter().fold(server, Server::with));
        self.relay.connect(Arc::clone(&server));
        let driver = tokio::spawn(async move { driver.run().await.unwrap() });
        let link = tokio::spawn(link.run(dirigent.clone()));
        Process { host, dirigent, instance, answers, forwarding, server, tasks: vec![driver, link] }
    }

    /// Commits wait from now on, or are taken.
    pub(crate) fn hold_commits(&self, hold: bool) {
        self.open.send_replace(!hold);
    }

    /// The store fails from now on, or works.
    pub(crate) fn fail_store(&self, fail: bool) {
        self.fails.store(fail, Ordering::Relaxed);
    }

    /// Something that no other start of a process has.
    pub(crate) const fn next_start(&mut self) -> u8 {
        self.starts += 1;
        self.starts
    }
}
