//! The processes in which agents live, as the process that calls them knows them.

mod link;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use dirigent::ports::{ApiError, ErrorKind};
use dirigent::{AgentId, Turn};
use tokio::sync::{Notify, oneshot};

use self::state::{LiveCall, State};
use super::rules::{Announce, AnnounceAnswer, CallId, CallTranscript, EndCall, Start, WireEnd};
use super::wire::{WireError, newest_of};
use super::{RemoteAccount, RemoteAgent, RemoteCallError};
use crate::rule::{read, write};
use crate::{ANSWER_MAX, Asker, Client, HostId, Question, Refused, Role, Service};

pub use link::GuestsLink;
pub use state::{AgentConflict, GuestStatus};

/// Knows the agents that live in other processes, and lets this one call them: each process that acts for channels has one,
/// given to its [`Server`](crate::Server), and runs its [link](GuestsLink) beside the driver. Clones share it.
///
/// An agent is [hosted](dirigent::Dirigent::host) here when its process announces it. Agents that are known before are better named
/// while the library is put together, as below: a channel that wakes before the announcement comes waits for it then, and does not take the
/// agent for one that is called by a message.
///
/// A process that was not heard of for 3 s is lost: its agents are [offline](dirigent::Dirigent::agent_offline), and its calls have
/// failed. When it is back they are online; with [`Config::auto_requeue`](dirigent::Config::auto_requeue), which is to
/// be chosen here, they have turns again at once.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_relay::{Client, Guests, Keyring, Secret, Server};
///
/// # fn example(discord: Arc<dyn DiscordApi>, client: Client, keys: Keyring, start: Secret) -> Result<(), Box<dyn std::error::Error>> {
/// let (guests, link) = Guests::new(client);
/// let (dirigent, driver) = Dirigent::builder(discord)
///     .host("poet", guests.agent("poet"), guests.account("poet"))
///     .build()?;
/// let server = Server::new(keys, start).with(Arc::new(guests));
/// tokio::spawn(link.run(dirigent.clone()));
/// tokio::spawn(driver.run());
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Guests {
    pub(super) shared: Arc<Shared>,
}

pub(super) struct Shared {
    pub(super) client: Client,
    pub(super) start: Start,
    state: Mutex<State>,
    /// An agent is to be hosted, or is online or offline.
    changed: Notify,
}

impl Guests {
    /// Calls agents by this client, of which the process has one.
    pub fn new(client: Client) -> (Self, GuestsLink) {
        let start = Start::new(client.clock().now());
        let state = Mutex::new(State::new(client.clock().now()));
        let shared = Arc::new(Shared { client, start, state, changed: Notify::new() });
        (Self { shared: Arc::clone(&shared) }, GuestsLink { shared })
    }

    /// Returns the agent of this name, wherever it lives, to be [hosted](dirigent::host::Builder::host) before it is announced.
    pub fn agent(&self, agent: impl Into<AgentId>) -> RemoteAgent {
        let agent = agent.into();
        self.shared.state().expect(&agent);
        RemoteAgent { shared: Arc::clone(&self.shared), agent }
    }

    /// Returns the account of this agent.
    pub fn account(&self, agent: impl Into<AgentId>) -> RemoteAccount {
        RemoteAccount::new(Arc::clone(&self.shared), agent.into())
    }

    /// Returns the processes that announced agents since the start, lost ones included.
    pub fn processes(&self) -> Vec<GuestStatus> {
        self.shared.state().status()
    }

    /// Returns the agents that two processes announce at once.
    pub fn conflicts(&self) -> Vec<AgentConflict> {
        self.shared.state().conflicts()
    }
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a call in the process in which the agent lives now; `None` where there is none.
    pub(super) fn open(
        self: &Arc<Self>,
        agent: &AgentId,
        turn: &Turn,
    ) -> Option<(OpenCall, oneshot::Receiver<Ended>)> {
        let mut state = self.state();
        let host = state.host_of(agent)?;
        let (done, ended) = oneshot::channel();
        let number = state.next_call();
        let call = CallId { start: self.start, number };
        state.calls.insert(number, LiveCall::new(host.clone(), turn.clone(), done));
        drop(state);
        Some((OpenCall { shared: Arc::clone(self), call, host }, ended))
    }

    fn heard(&self, host: &HostId, announce: Announce) -> AnnounceAnswer {
        let now = self.client.clock().now();
        let mut state = self.state();
        let (answer, is_news) = state.heard(host, announce, self.start, now);
        drop(state);
        if is_news {
            self.changed.notify_one();
        }
        answer
    }

    fn end(&self, host: &HostId, end: EndCall) -> bool {
        let EndCall { call, end, taken, cost } = end;
        let mut state = self.state();
        if !state.is_known(host, call, self.start) {
            return false;
        }
        let Some(live) = state.calls.remove(&call.number) else {
            return false;
        };
        drop(state);
        live.end(end, taken, cost);
        true
    }

    async fn transcript(
        &self,
        host: &HostId,
        asked: CallTranscript,
    ) -> Result<Vec<crate::event::WireMessage>, WireError> {
        let turn = {
            let state = self.state();
            let is_known = state.is_known(host, asked.call, self.start);
            state.calls.get(&asked.call.number).filter(|_| is_known).map(|live| live.turn.clone())
        };
        let gone = || WireError::from(&ApiError::new(ErrorKind::Gone));
        let messages = turn.ok_or_else(gone)?.transcript(asked.limit).await;
        let messages = messages.map_err(|error| WireError::from(&error))?;
        Ok(newest_of(messages.iter(), ANSWER_MAX / 2).0)
    }
}

#[async_trait]
impl Service for Guests {
    fn rules(&self) -> &'static [&'static str] {
        &[Announce::RULE, EndCall::RULE, CallTranscript::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        if asker.role != Role::Peer {
            return Err(Refused::OnlyPeers);
        }
        let (shared, host) = (&self.shared, &asker.host);
        match rule {
            Announce::RULE => Ok(write(&shared.heard(host, read(question)?))),
            EndCall::RULE => Ok(write(&shared.end(host, read(question)?))),
            CallTranscript::RULE => Ok(write(&shared.transcript(host, read(question)?).await)),
            _ => Err(Refused::UnknownRule),
        }
    }
}

/// A call under way. Dropped, it is forgotten: the other process hears of that by the answer to its next announcement.
pub(super) struct OpenCall {
    shared: Arc<Shared>,
    call: CallId,
    host: HostId,
}

impl OpenCall {
    pub(super) const fn call(&self) -> CallId {
        self.call
    }

    /// The process in which it runs.
    pub(super) const fn host(&self) -> &HostId {
        &self.host
    }

    /// The other process took the call: announcements after this one name it.
    pub(super) fn begun(&self, announced: u64) {
        if let Some(live) = self.shared.state().calls.get_mut(&self.call.number) {
            live.begun_at = Some(announced);
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.shared.state().calls.remove(&self.call.number);
    }
}

/// How a call ended.
pub(super) enum Ended {
    /// By the agent, which took this number of the messages that it was handed.
    There { end: WireEnd, taken: usize },
    /// Its process was lost, or runs it no more.
    Lost(RemoteCallError),
}

impl fmt::Debug for Guests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guests").field("host", self.shared.client.me()).finish_non_exhaustive()
    }
}
