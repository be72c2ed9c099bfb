//! One of several processes that share a store. It answers for any channel, because it asks the owner.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::hooks::{RunId, RunReport};
use dirigent::ports::{ChannelAnswer, ChannelRequest, ExplainAnswer, Timestamp};
use dirigent::{AgentId, ChannelId, Dirigent, IdentityStore, Settings};
use dirigent_relay::parts::{Asking, ChannelRule, WAY, Way, bound, read, refused, write};
use dirigent_relay::rules::{
    ChannelState, CheckAnswer, CheckTurn, CompleteAnswer, GetChannelState, TurnComplete,
};
use dirigent_relay::{
    Asker, Client, Denied, HostId, Master, Permission, ProcessRole, Refused, RelayError,
    RelayQuestion, Service,
};

use crate::Owners;
use crate::forwarding::Heard;
use crate::rules::{AskChannel, Explained};

/// The wait before a question is repeated while the channel changes hands.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// One of several processes that share a store. It answers for any channel: it decides for its own, and asks the owner
/// about others within the client's [time limit](Client::TIME_LIMIT). While a channel changes hands, it asks again
/// within that time. Clones share it.
///
/// Give it to the [`Server`](dirigent_relay::Server) of this process, too, because it also answers the other processes.
/// A slave knows only one process. If a slave asks about another process's channel, the instance checks that the slave
/// may act for the agent, and then asks the owner. It never passes a peer's question on.
///
/// Choose [`LostRuns::Keep`](dirigent::settings::LostRuns::Keep) and a [deadline](dirigent::settings::Deadlines::run)
/// in every process, so that an agent's run goes on when the process that granted it ends.
///
/// ```no_run
/// use std::sync::Arc;
/// use dirigent::{AgentId, ChannelId, Dirigent, IdentityStore, Settings};
/// use dirigent::hooks::RunReport;
/// use dirigent_cluster::{Instance, Owners};
/// use dirigent_relay::{Client, Keyring, Server};
///
/// # async fn model() -> String { String::new() }
/// # async fn example(
/// #     dirigent: Dirigent, registry: Arc<dyn IdentityStore>, client: Client, owners: Arc<dyn Owners>,
/// #     keys: Keyring, channel: ChannelId,
/// # ) -> Result<(), Box<dyn std::error::Error>> {
/// let instance = Instance::new(dirigent, registry, client, owners, Settings::default());
/// let server = Server::new(keys)?.with(Arc::new(instance.clone()));
/// // In whatever process an agent with a gateway of its own lives:
/// let permission = instance.may_speak(channel, &"poet".into(), None).await?;
/// let text = model().await;
/// if permission.end(RunReport::Text(&text)).await?.accepted {
///     println!("{text}");
/// }
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Instance {
    shared: Arc<InstanceParts>,
    asking: Asking,
}

struct InstanceParts {
    dirigent: Dirigent,
    client: Client,
    owners: Arc<dyn Owners>,
    master: Master,
    heard: Heard,
    time_limit: Duration,
}

impl Instance {
    /// Creates an instance. The settings decide which texts of its agents are silence, and which are complete.
    pub fn new(
        dirigent: Dirigent,
        identities: Arc<dyn IdentityStore>,
        client: Client,
        owners: Arc<dyn Owners>,
        settings: Settings,
    ) -> Self {
        let master = Master::new(dirigent.clone(), identities);
        let heard = Heard { dirigent: dirigent.clone() };
        let time_limit = client.time_limit();
        let shared =
            Arc::new(InstanceParts { dirigent, client, owners, master, heard, time_limit });
        let asking = Asking::new(Arc::clone(&shared) as _, &shared.client, settings);
        Self { shared, asking }
    }

    /// Returns the library of this process.
    pub fn dirigent(&self) -> &Dirigent {
        &self.shared.dirigent
    }

    /// Returns the channel's owner, as far as this process knows.
    pub fn owner(&self, channel: ChannelId) -> Option<HostId> {
        self.shared.owners.owner(channel)
    }

    /// Asks whether the agent may run now. Call it before you call the agent's model, in whichever process that is. You
    /// may repeat it with the same run, which changes no state.
    ///
    /// # Errors
    ///
    /// The reason why the agent must be silent. [`Denied::RelayUnavailable`] means that the channel has no known owner,
    /// or that the owner did not answer in time. Ask again later.
    pub async fn may_speak(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<Permission, Denied> {
        self.asking.may_speak(channel, agent, run, |_| false).await
    }

    /// Reports the end of an agent's run. Use it if your host learns of the end elsewhere than where it asked;
    /// otherwise call [`Permission::end`]. You may repeat it with the same run, which changes no state.
    ///
    /// # Errors
    ///
    /// The owner's refusal, or a failure on the way to the owner. Report it again, with the same run.
    pub async fn turn_ended(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: RunId,
        report: RunReport<'_>,
    ) -> Result<CompleteAnswer, RelayError> {
        self.asking.turn_ended(channel, agent, run, report).await
    }

    /// Returns the channel's mode, state and current speaker.
    ///
    /// # Errors
    ///
    /// The owner's refusal, or a failure on the way to the owner. You may ask again.
    pub async fn channel_state(&self, channel: ChannelId) -> Result<ChannelState, RelayError> {
        self.shared.ask_rule(&GetChannelState { channel_id: channel }, self.shared.time_limit).await
    }

    /// Explains why the agent may, or may not, speak now, and names the channel's owner.
    ///
    /// # Errors
    ///
    /// The owner's refusal, or a failure on the way to the owner. You may ask again.
    pub async fn explain(
        &self,
        channel: ChannelId,
        agent: &AgentId,
    ) -> Result<Explained, RelayError> {
        let request = ChannelRequest::Explain { agent_id: agent.clone() };
        let (owner, answer) =
            self.shared.ask_owner(channel, request, self.shared.time_limit).await?;
        let ChannelAnswer::Explained(ExplainAnswer { allows, text }) = answer else {
            return Err(RelayError::BadAnswer { host: owner });
        };
        Ok(Explained { owner, allows, text })
    }
}

/// Returns whether the request was surely not carried out, and another process may answer it in a moment.
fn changes_hands(error: &RelayError) -> bool {
    let is_away = matches!(error, RelayError::NoOwner | RelayError::Carry { .. });
    (is_away && error.is_certain()) || error.refused() == Some(&Refused::Elsewhere)
}

impl InstanceParts {
    /// Asks the channel's owner, which may be this process, until the limit is over. Returns the owner and its answer.
    async fn ask_owner(
        &self,
        channel: ChannelId,
        request: ChannelRequest,
        limit: Duration,
    ) -> Result<(HostId, ChannelAnswer), RelayError> {
        let clock = self.client.clock();
        let until = clock.now() + limit;
        let mut asked = AskChannel::new(channel, request, limit);
        loop {
            let error = match self.ask_here(&asked).await {
                Err(Refused::Elsewhere) => match self.ask_other(&asked, until).await {
                    Err(error) if changes_hands(&error) => error,
                    answer => return answer,
                },
                answer => {
                    let host = self.client.me().clone();
                    return match answer {
                        Ok(answer) => Ok((host, answer)),
                        Err(source) => Err(RelayError::Refused { host, source }),
                    };
                }
            };
            let again = clock.now() + ASK_AGAIN;
            if again >= until {
                return Err(error);
            }
            clock.sleep_until(again).await;
            asked = AskChannel::new(channel, asked.request, until.since(clock.now()));
        }
    }

    /// Answers from this process, if it owns the channel.
    async fn ask_here(&self, asked: &AskChannel) -> Result<ChannelAnswer, Refused> {
        let AskChannel { channel_id, request, .. } = asked;
        let answer = self.dirigent.request_here(*channel_id, request, asked.within()).await;
        answer.and_then(ChannelAnswer::into_result).map_err(|error| refused(&error))
    }

    async fn ask_other(
        &self,
        asked: &AskChannel,
        until: Timestamp,
    ) -> Result<(HostId, ChannelAnswer), RelayError> {
        let client = &self.client;
        let owner = self.owners.owner(asked.channel_id);
        let host = owner.filter(|host| host != client.me()).ok_or(RelayError::NoOwner)?;
        let answer = client.ask_within(&host, asked, until.since(client.clock().now())).await?;
        match answer.into_result() {
            Ok(answer) => Ok((host, answer)),
            Err(error) => Err(RelayError::Refused { host, source: refused(&error) }),
        }
    }

    async fn ask_rule<Q: ChannelRule>(
        &self,
        question: &Q,
        limit: Duration,
    ) -> Result<Q::Answer, RelayError> {
        let (host, answer) = self.ask_owner(question.channel(), question.request(), limit).await?;
        Q::answer(answer).ok_or(RelayError::BadAnswer { host })
    }

    async fn serve_slave(
        &self,
        asker: &Asker,
        rule: &str,
        body: &[u8],
    ) -> Result<Vec<u8>, Refused> {
        match rule {
            CheckTurn::RULE => self.pass_on::<CheckTurn>(asker, body).await,
            TurnComplete::RULE => self.pass_on::<TurnComplete>(asker, body).await,
            GetChannelState::RULE => self.pass_on::<GetChannelState>(asker, body).await,
            _ => self.master.serve(asker, rule, body).await,
        }
    }

    /// Asks the owner on behalf of the slave that asked this process.
    async fn pass_on<Q: ChannelRule>(
        &self,
        asker: &Asker,
        body: &[u8],
    ) -> Result<Vec<u8>, Refused> {
        let question: Q = read(body)?;
        bound(asker, question.agent())?;
        // The slave waits as long as this process would. End earlier, so that it reads the owner's error.
        let limit = self.time_limit.saturating_sub(WAY).max(self.time_limit / 2);
        let answer = self.ask_rule(&question, limit).await;
        answer.map(|answer| write(&answer)).map_err(|error| {
            let may_be_done = !error.is_certain();
            error.refused().cloned().unwrap_or(Refused::OwnerUnavailable { may_be_done })
        })
    }
}

#[async_trait]
impl Way for InstanceParts {
    async fn check(&self, question: CheckTurn) -> Result<CheckAnswer, RelayError> {
        self.ask_rule(&question, self.time_limit).await
    }

    async fn complete(&self, end: TurnComplete) -> Result<CompleteAnswer, RelayError> {
        self.ask_rule(&end, self.time_limit).await
    }
}

#[async_trait]
impl Service for Instance {
    fn rules(&self) -> &'static [&'static str] {
        &[
            "check-turn",
            "turn-complete",
            "get-identity",
            "get-channel-state",
            "gateway-events",
            "channel-request",
        ]
    }

    async fn serve(&self, asker: &Asker, rule: &str, question: &[u8]) -> Result<Vec<u8>, Refused> {
        let shared = &self.shared;
        match rule {
            "gateway-events" | "channel-request" => shared.heard.serve(asker, rule, question).await,
            // A peer asks the owner itself, so a question is passed on at most once.
            _ if asker.role == ProcessRole::Peer => {
                shared.master.serve(asker, rule, question).await
            }
            _ => shared.serve_slave(asker, rule, question).await,
        }
    }
}

impl fmt::Debug for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Instance").field("host", self.shared.client.me()).finish_non_exhaustive()
    }
}
