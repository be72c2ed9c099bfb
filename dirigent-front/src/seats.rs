//! Hosted agents with words from outside.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use dirigent::{Agent, AgentError, AgentId, ChannelId, Reply, Turn};
use tokio::sync::{oneshot, watch};

/// The most pairs of an agent and a channel with a known last run. With one more all are forgotten.
const TAKEN_MAX: usize = 10_000;

/// Seats for agents without a bot of their own: Dirigent posts for them. Give each seat to
/// [`Builder::host`](dirigent::host::Builder::host) with the account or the persona that speaks for it, and all of them
/// to [`FrontBuilder::seats`](crate::FrontBuilder::seats). Clones share them.
///
/// An agent in a seat takes its turn by `POST /v1/begin`. If no program does so, the turn lasts until its deadline, and
/// the next agent is called.
#[derive(Clone, Debug, Default)]
pub struct Seats {
    desk: Arc<Mutex<Desk>>,
}

#[derive(Debug, Default)]
struct Desk {
    /// All agents with a seat.
    seated: Vec<AgentId>,
    turns: HashMap<(AgentId, ChannelId), Seated>,
    /// The last finished run of each, because a program may repeat its end.
    taken: HashMap<(AgentId, ChannelId), String>,
    /// Changes when a turn comes.
    news: watch::Sender<()>,
}

impl Desk {
    /// Adds a turn, and wakes what waits for one.
    fn seat(&mut self, key: (AgentId, ChannelId), seated: Seated) {
        self.turns.insert(key, seated);
        self.news.send_replace(());
    }
}

/// A turn of an agent in a seat.
#[derive(Debug)]
struct Seated {
    turn: Arc<Turn>,
    /// The run that has begun.
    run: Option<String>,
    answer: oneshot::Sender<Result<Reply, AgentError>>,
}

/// The seat's answer to the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Now,
    Before,
    /// The run does not have the floor.
    Not,
}

impl Seats {
    /// Creates an empty set of seats.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the seat of an agent.
    pub fn seat(&self, agent: impl Into<AgentId>) -> SeatedAgent {
        let agent = agent.into();
        self.desk().seated.push(agent.clone());
        SeatedAgent { seats: self.clone(), agent }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn has(&self, agent: &AgentId) -> bool {
        self.desk().seated.contains(agent)
    }

    /// Returns a receiver that changes when a turn comes.
    pub(crate) fn news(&self) -> watch::Receiver<()> {
        self.desk().news.subscribe()
    }

    /// Returns a turn of one of these agents. One that has begun comes first, because its end is due.
    #[cfg(feature = "mcp")]
    pub(crate) fn turn_of(
        &self,
        agents: &std::collections::BTreeSet<AgentId>,
    ) -> Option<(AgentId, ChannelId, dirigent::hooks::TurnId)> {
        let desk = self.desk();
        let own = desk.turns.iter().filter(|((agent, _), _)| agents.contains(agent));
        let first = own.min_by_key(|((_, channel), seated)| (seated.run.is_none(), *channel))?;
        let ((agent, channel), seated) = first;
        Some((agent.clone(), *channel, seated.turn.turn()))
    }

    /// Begins a run. Returns the turn, and whether a run had begun in it before. A newer run replaces an older one.
    pub(crate) fn begin(
        &self,
        agent: &AgentId,
        channel: ChannelId,
        run: &str,
    ) -> Option<(Arc<Turn>, bool)> {
        let mut desk = self.desk();
        let seated = desk.turns.get_mut(&(agent.clone(), channel))?;
        let was_running = seated.run.replace(run.to_owned()).is_some();
        Some((Arc::clone(&seated.turn), was_running))
    }

    /// Ends a run with this answer.
    pub(crate) fn end(
        &self,
        (agent, channel, run): (&AgentId, ChannelId, &str),
        answer: Result<Reply, AgentError>,
    ) -> Taken {
        let mut desk = self.desk();
        let key = (agent.clone(), channel);
        let is_running = |it: &Seated| it.run.as_deref() == Some(run);
        if desk.turns.get(&key).is_some_and(is_running) {
            let Some(seated) = desk.turns.remove(&key) else { return Taken::Not };
            if seated.answer.send(answer).is_ok() {
                if desk.taken.len() >= TAKEN_MAX {
                    desk.taken.clear();
                }
                desk.taken.insert(key, run.to_owned());
                return Taken::Now;
            }
            return Taken::Not;
        }
        match desk.taken.get(&key) {
            Some(last) if last == run => Taken::Before,
            _ => Taken::Not,
        }
    }
}

/// The seat of one agent. Dirigent calls it when the agent's turn comes.
#[derive(Debug)]
pub struct SeatedAgent {
    seats: Seats,
    agent: AgentId,
}

#[async_trait]
impl Agent for SeatedAgent {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let (answer, answered) = oneshot::channel();
        let turn = Arc::new(turn);
        let key = (self.agent.clone(), turn.channel());
        let seated = Seated { turn: Arc::clone(&turn), run: None, answer };
        self.seats.desk().seat(key.clone(), seated);
        let leaves = Leaves { seat: self, key, turn: Arc::clone(&turn) };
        let said = tokio::select! {
            biased;
            said = answered => said.unwrap_or_else(|_| Err("the turn began anew".into())),
            () = turn.cancelled() => Err("the turn was taken away".into()),
        };
        drop(leaves);
        said
    }
}

/// Removes the turn from the desk when it is over, also when its call is dropped.
struct Leaves<'a> {
    seat: &'a SeatedAgent,
    key: (AgentId, ChannelId),
    turn: Arc<Turn>,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        let mut desk = self.seat.seats.desk();
        if desk.turns.get(&self.key).is_some_and(|it| Arc::ptr_eq(&it.turn, &self.turn)) {
            desk.turns.remove(&self.key);
        }
    }
}
