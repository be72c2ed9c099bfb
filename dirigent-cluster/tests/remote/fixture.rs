//! Processes in which agents live, beside those of the fleet that act for channels.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

use dirigent::host::Builder;
use dirigent::ports::HistoryRequest;
use dirigent::{Agent, AgentError, Clock, Config, DiscordApi, Reply, Turn, UserId, async_trait};
use dirigent_cluster::{Guests, Hosting};
use dirigent_relay::{Client, Relay, Server};
use futures_util::future::BoxFuture;
use tokio::task::JoinHandle;

use crate::fleet::{AGENTS, Fleet, Process, SECOND, host, secret};

/// Which agents run, and whether two that have the floor ran at once.
#[derive(Default)]
pub(crate) struct Floor {
    state: Mutex<FloorState>,
}

#[derive(Default)]
struct FloorState {
    running: Vec<Entry>,
    next: u64,
    overlaps: Vec<String>,
}

/// An agent that runs.
struct Entry {
    number: u64,
    agent: String,
    turn: Turn,
    /// Its process stands still: it does nothing until it is polled again.
    is_frozen: bool,
}

impl FloorState {
    /// This one runs: no other may, unless its turn was taken away.
    fn check(&mut self, number: u64, agent: &str) {
        let others = self.running.iter().filter(|entry| {
            entry.number != number && !entry.is_frozen && !entry.turn.is_cancelled()
        });
        let overlaps: Vec<_> =
            others.map(|other| format!("{agent} beside {}", other.agent)).collect();
        self.overlaps.extend(overlaps);
    }
}

impl Floor {
    fn begin(self: &Arc<Self>, agent: &str, turn: &Turn) -> OnFloor {
        let mut state = self.state.lock().unwrap();
        state.next += 1;
        let number = state.next;
        state.check(number, agent);
        let (agent, turn) = (agent.to_owned(), turn.clone());
        state.running.push(Entry { number, agent, turn, is_frozen: false });
        OnFloor { floor: Arc::clone(self), number }
    }

    fn freeze(&self, agents: &[String]) {
        let mut state = self.state.lock().unwrap();
        let of_agents = state.running.iter_mut().filter(|entry| agents.contains(&entry.agent));
        of_agents.for_each(|entry| entry.is_frozen = true);
    }

    fn polled(&self, number: u64) {
        let mut state = self.state.lock().unwrap();
        let entry = state.running.iter_mut().find(|entry| entry.number == number).unwrap();
        if std::mem::take(&mut entry.is_frozen) && !entry.turn.is_cancelled() {
            let agent = entry.agent.clone();
            state.check(number, &agent);
        }
    }

    /// Which agents run now.
    pub(crate) fn running(&self) -> Vec<String> {
        self.state.lock().unwrap().running.iter().map(|entry| entry.agent.clone()).collect()
    }

    /// Which agents ran at once.
    pub(crate) fn overlaps(&self) -> Vec<String> {
        self.state.lock().unwrap().overlaps.clone()
    }
}

struct OnFloor {
    floor: Arc<Floor>,
    number: u64,
}

impl Drop for OnFloor {
    fn drop(&mut self) {
        self.floor.state.lock().unwrap().running.retain(|entry| entry.number != self.number);
    }
}

type Speak = dyn Fn(Turn) -> BoxFuture<'static, Result<Reply, AgentError>> + Send + Sync;

/// An agent that does this in each turn, on the floor.
#[derive(Clone)]
pub(crate) struct Speaker {
    name: String,
    floor: Arc<Floor>,
    speak: Arc<Speak>,
}

#[async_trait]
impl Agent for Speaker {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let on_floor = self.floor.begin(&self.name, &turn);
        let mut speaking = (self.speak)(turn);
        std::future::poll_fn(|cx| {
            self.floor.polled(on_floor.number);
            speaking.as_mut().poll(cx)
        })
        .await
    }
}

/// A process in which agents live.
pub(crate) struct Home {
    pub(crate) hosting: Hosting,
    floor: Arc<Floor>,
    agents: Vec<String>,
    still: Arc<Still>,
    task: JoinHandle<()>,
}

/// Whether a process stands still.
#[derive(Default)]
struct Still {
    state: Mutex<(bool, Option<Waker>)>,
}

impl Still {
    /// Is polled only while the process does not stand still.
    async fn run(self: Arc<Self>, work: impl Future<Output = ()>) {
        let mut work = std::pin::pin!(work);
        std::future::poll_fn(|cx| {
            {
                let mut state = self.state.lock().unwrap();
                state.1 = Some(cx.waker().clone());
                if state.0 {
                    return Poll::Pending;
                }
            }
            work.as_mut().poll(cx)
        })
        .await;
    }
}

impl Home {
    /// Its agents and its announcements stand still, or go on.
    pub(crate) fn stand_still(&self, still: bool) {
        if still {
            self.floor.freeze(&self.agents);
        }
        let waker = {
            let mut state = self.still.state.lock().unwrap();
            state.0 = still;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// It is gone at once.
    pub(crate) fn kill(&self) {
        self.task.abort();
    }
}

/// A process that acts for channels, and what it knows of the others.
pub(crate) struct Owner {
    pub(crate) process: Process,
    pub(crate) guests: Guests,
}

/// The fleet, and a floor for its agents.
pub(crate) struct Hall {
    pub(crate) fleet: Fleet,
    pub(crate) floor: Arc<Floor>,
    /// The rules of the processes that are started from now on.
    pub(crate) rules: Config,
}

impl Hall {
    pub(crate) async fn new() -> Self {
        let mut rules = Config::default();
        rules.order.auto_requeue = true;
        Self { fleet: Fleet::new().await, floor: Arc::default(), rules }
    }

    /// A process that acts for channels and calls agents elsewhere.
    pub(crate) fn owner(&mut self, name: &str) -> Owner {
        let way = Arc::new(self.fleet.relay.clone());
        self.owner_by(name, way, |builder| builder)
    }

    pub(crate) fn owner_by(
        &mut self,
        name: &str,
        way: Arc<dyn Relay>,
        more: impl FnOnce(Builder) -> Builder,
    ) -> Owner {
        let keys = Fleet::keys(name);
        let client = Client::new(keys.clone(), way, Arc::new(self.fleet.clock.clone()));
        let (guests, link) = Guests::new(client.clone());
        let rules = self.rules.clone();
        let hosted = AGENTS.map(|agent| (agent, guests.agent(agent), guests.account(agent)));
        let build = |builder: Builder| {
            hosted
                .into_iter()
                .fold(more(builder.config(rules)), |builder, (name, agent, account)| {
                    builder.host(name, agent, account)
                })
        };
        let services = vec![Arc::new(guests.clone()) as _];
        let mut process = self.fleet.start_as(name, keys, client, services, build);
        process.run(link.run(process.dirigent.clone()));
        Owner { process, guests }
    }

    /// A process in which these agents live.
    pub(crate) fn home(&mut self, name: &str, agents: &[Speaker]) -> Home {
        let way = Arc::new(self.fleet.relay.clone());
        self.home_by(name, way, agents)
    }

    pub(crate) fn home_by(&mut self, name: &str, way: Arc<dyn Relay>, agents: &[Speaker]) -> Home {
        let keys = Fleet::keys(name);
        let client = Client::new(keys.clone(), way, Arc::new(self.fleet.clock.clone()));
        let (hosting, link) = Hosting::new(client, Arc::clone(&self.fleet.table) as _);
        for agent in agents {
            let account = self.fleet.discord.account(self.user(&agent.name));
            hosting.host(agent.name.as_str(), agent.clone(), account);
        }
        let server = Server::new(keys, secret(self.fleet.next_start()));
        self.fleet.relay.connect(Arc::new(server.with(Arc::new(hosting.clone()))));
        let still = Arc::<Still>::default();
        let task = tokio::spawn(Arc::clone(&still).run(link.run()));
        let agents = agents.iter().map(|agent| agent.name.clone()).collect();
        Home { hosting, floor: Arc::clone(&self.floor), agents, still, task }
    }

    /// An agent that does this in each turn.
    pub(crate) fn speaker<F, R>(&self, name: &str, speak: F) -> Speaker
    where
        F: Fn(Turn) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Reply, AgentError>> + Send + 'static,
    {
        let speak: Arc<Speak> = Arc::new(move |turn| Box::pin(speak(turn)));
        Speaker { name: name.to_owned(), floor: Arc::clone(&self.floor), speak }
    }

    /// An agent that says these texts, a turn each, and passes then.
    pub(crate) fn sayer(&self, name: &str, texts: &[&str], takes: Duration) -> Speaker {
        let left =
            Arc::new(Mutex::new(texts.iter().map(ToString::to_string).rev().collect::<Vec<_>>()));
        let clock = self.fleet.clock.clone();
        self.speaker(name, move |_turn| {
            let (left, clock) = (Arc::clone(&left), clock.clone());
            async move {
                clock.sleep_until(clock.now() + takes).await;
                Ok(left.lock().unwrap().pop().map_or(Reply::Pass, Reply::from))
            }
        })
    }

    pub(crate) fn user(&self, agent: &str) -> UserId {
        self.fleet.agents.iter().find(|(name, _)| name.as_str() == agent).unwrap().1
    }

    /// What the agents posted, in order: who, and what.
    pub(crate) async fn posts(&self) -> Vec<(String, String)> {
        let request = HistoryRequest { channel: self.fleet.channel, after: None, limit: 100 };
        let moderator = self.fleet.discord.account(self.fleet.moderator);
        let mut messages = moderator.history(request).await.unwrap();
        messages.sort_by_key(|message| message.id);
        let of = |user| self.fleet.agents.iter().find(|(_, of)| *of == user).map(|(name, _)| name);
        let by_agents = messages.iter().filter_map(|message| {
            Some((of(message.author)?.as_str().to_owned(), message.content.to_string()))
        });
        by_agents.collect()
    }

    /// Until the agents are known and the channel takes turns.
    pub(crate) async fn chat(&self, owner: &Owner) {
        self.fleet.pass(SECOND).await;
        self.fleet.chat(&owner.process).await;
    }
}

/// The name of a process.
pub(crate) fn named(name: &str) -> dirigent_relay::HostId {
    host(name)
}
