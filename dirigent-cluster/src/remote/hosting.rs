//! The agents that live in this process, for the processes that call them.

mod calls;
mod link;
mod state;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use dirigent::host::IntoShared;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent::{Agent, AgentId, DiscordApi};
use dirigent_relay::parts::{read, write};
use dirigent_relay::{Asker, Client, HostId, ProcessRole, Refused, RelayQuestion, Service};
use tokio::sync::{Notify, mpsc};

use self::calls::{Call, call_of};
use self::state::{Begin, HostedCalls, Lives};
use super::pace::CHAT_LIMIT;
use super::rules::{
    AccountAsk, AccountDone, BeginAnswer, BeginCall, Start, SteerAnswer, SteerCall, UseAccount,
};
use crate::Owners;

pub use link::HostingLink;

/// The agents that live in this process, and their accounts, for all processes that act for channels: given to the
/// [`Server`](dirigent_relay::Server) of this process, which needs no store and no gateway. Its [link](HostingLink) announces the agents to
/// these processes and runs their calls. Clones share the agents.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{DiscordApi, Reply, Turn, agent_fn};
/// use dirigent_cluster::{Hosting, Owners};
/// use dirigent_relay::{Client, Keyring, Secret, Server};
///
/// # async fn example(poet: Arc<dyn DiscordApi>, client: Client, owners: Arc<dyn Owners>, keys: Keyring, start: Secret) {
/// let (hosting, link) = Hosting::new(client, owners);
/// hosting.host("poet", agent_fn(|turn: Turn| async move { Ok(Reply::text(turn.briefing())) }), poet);
/// let server = Server::new(keys, start).with(Arc::new(hosting.clone()));
/// tokio::spawn(link.run());
/// # let _ = server;
/// // Before the process ends:
/// hosting.drain().await;
/// # }
/// ```
#[derive(Clone)]
pub struct Hosting {
    shared: Arc<HostedAgents>,
}

pub(super) struct HostedAgents {
    client: Client,
    owners: Arc<dyn Owners>,
    start: Start,
    state: Mutex<HostedCalls>,
    begun: mpsc::UnboundedSender<Call>,
    /// The agents changed.
    changed: Notify,
    /// A call is over.
    over: Notify,
}

impl Hosting {
    /// Announces agents by this client, of which the process has one, to all other processes that act for channels.
    pub fn new(client: Client, owners: Arc<dyn Owners>) -> (Self, HostingLink) {
        let start = Start::new(client.clock().now());
        let (begun, calls) = mpsc::unbounded_channel();
        let (state, changed, over) = (Mutex::default(), Notify::new(), Notify::new());
        let shared = Arc::new(HostedAgents { client, owners, start, state, begun, changed, over });
        (Self { shared: Arc::clone(&shared) }, HostingLink { shared, calls })
    }

    /// This agent lives here from now on. Not with a persona, which speaks in its moderator's process: that is an error in the log, and
    /// the agent is not announced.
    pub fn host(
        &self,
        agent: impl Into<AgentId>,
        speaks: impl IntoShared<dyn Agent>,
        discord: impl IntoShared<dyn DiscordApi>,
    ) {
        let (agent, lives) =
            (agent.into(), Lives { agent: speaks.into_shared(), discord: discord.into_shared() });
        if lives.discord.persona().is_some() {
            return tracing::error!(%agent, "a persona speaks in its moderator's process only");
        }
        self.shared.state().agents.insert(agent, lives);
        self.shared.changed.notify_one();
    }

    /// The agent lives here no more; a call under way ends as it will. `false` if it did not live here.
    pub fn unhost(&self, agent: &AgentId) -> bool {
        let lived = self.shared.state().agents.remove(agent).is_some();
        self.shared.changed.notify_one();
        lived
    }

    /// Returns how many calls are under way.
    pub fn calls(&self) -> usize {
        self.shared.state().calls.len()
    }

    /// Takes no call any more, and returns when those under way are over and their answers have been taken. Where the process is started anew
    /// within 3 s from then, the calls that came meanwhile are made by the new one, and no turn is lost.
    ///
    /// # Cancellation
    ///
    /// When dropped, no call is taken all the same.
    pub async fn drain(&self) {
        self.shared.state().is_draining = true;
        let over = self.shared.over.notified();
        tokio::pin!(over);
        loop {
            over.as_mut().enable();
            if self.calls() == 0 {
                return;
            }
            over.as_mut().await;
            over.set(self.shared.over.notified());
        }
    }
}

impl HostedAgents {
    fn state(&self) -> MutexGuard<'_, HostedCalls> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(self: &Arc<Self>, host: &HostId, question: BeginCall) -> BeginAnswer {
        let now = self.client.clock().now();
        let mut state = self.state();
        match state.begin(host, &question, self.start, now) {
            Begin::New(lives) => {
                let (call, running) = call_of(self, host, question, lives, now);
                let injected = running.injected;
                let announced = state.add(host, running);
                // Without a link no call runs: the other process gives it up when it is not announced.
                let _ = self.begun.send(call);
                BeginAnswer::Begun { announced, injected }
            }
            Begin::Known(answer) => answer,
        }
    }

    fn steer(&self, host: &HostId, question: SteerCall) -> SteerAnswer {
        let now = self.client.clock().now();
        let mut state = self.state();
        state.prove(host, question.announced, self.start);
        let injected = state.running(host, question.call).map(|running| {
            running.steer(question.steering, now);
            running.injected
        });
        SteerAnswer { injected }
    }

    async fn use_account(&self, question: UseAccount) -> Result<AccountDone, ApiError> {
        let lives = self.state().agents.get(&question.agent_id).cloned();
        let gone = || ApiError::new(ErrorKind::Unavailable).with_certainty(Certainty::NotDone);
        let discord = lives.ok_or_else(gone)?.discord;
        let clock = self.client.clock();
        let late = clock.sleep_until(clock.now() + CHAT_LIMIT);
        tokio::select! {
            biased;
            done = ask_chat(&*discord, question.ask) => done,
            () = late => Err(ApiError::new(ErrorKind::NoAnswer)),
        }
    }
}

/// Asks the chat as this account.
async fn ask_chat(discord: &dyn DiscordApi, ask: AccountAsk) -> Result<AccountDone, ApiError> {
    Ok(match ask {
        AccountAsk::Me => AccountDone::Me(discord.me().await?),
        AccountAsk::Post(post) => AccountDone::Posted(discord.post(post).await?),
        AccountAsk::Delete { channel, message } => {
            discord.delete(channel, message).await?;
            AccountDone::Done
        }
        AccountAsk::History(request) => {
            let messages = discord.history(request).await?;
            AccountDone::History { messages, reads: discord.reads_history(request.channel) }
        }
        AccountAsk::Members { channel, among } => {
            AccountDone::Members(discord.members(channel, among).await?)
        }
        AccountAsk::Typing { channel } => {
            discord.typing(channel).await?;
            AccountDone::Done
        }
    })
}

#[async_trait]
impl Service for Hosting {
    fn rules(&self) -> &'static [&'static str] {
        &[BeginCall::RULE, SteerCall::RULE, UseAccount::RULE]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        if asker.role != ProcessRole::Peer {
            return Err(Refused::OnlyPeers);
        }
        let (shared, host) = (&self.shared, &asker.host);
        match rule {
            BeginCall::RULE => Ok(write(&shared.begin(host, read(question)?))),
            SteerCall::RULE => Ok(write(&shared.steer(host, read(question)?))),
            UseAccount::RULE => Ok(write(&shared.use_account(read(question)?).await)),
            _ => Err(Refused::UnknownRule),
        }
    }
}

impl fmt::Debug for Hosting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hosting").field("host", self.shared.client.me()).finish_non_exhaustive()
    }
}
