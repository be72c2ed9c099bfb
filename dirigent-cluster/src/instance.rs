//! One of several processes that share a store: answers for any channel, and asks the process that acts for it.

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

/// How soon a question is asked again while the channel changes hands.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// One of several processes that share a store. It answers for any channel: for one of its own it decides, for another's
/// it asks the process that acts for it, within the client's [time limit](Client::TIME_LIMIT). While a channel changes hands it asks again within that time.
/// Clones share it.
///
/// It is also what the other processes are answered by: given to the [`Server`](dirigent_relay::Server) of this process. A slave knows one process
/// alone: what it asks about another's channel is asked of the owner on its behalf, once it is clear that the slave may act for the
/// agent. What a peer asks is not carried on.
///
/// A run goes on in the process of its agent when the process that granted it ends: all of them choose
/// [`LostRuns::Keep`](dirigent::settings::LostRuns::Keep), and a [deadline](dirigent::settings::Deadlines::run).
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
    /// Puts one together. The settings say what the texts of this process's agents mean: when one is silence, and when it is
    /// complete.
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

    /// Returns which process acts for the channel, as far as this one knows.
    pub fn owner(&self, channel: ChannelId) -> Option<HostId> {
        self.shared.owners.owner(channel)
    }

    /// May this agent run now? To be asked before its model is called, in whatever process that is. Asking again with the same run
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// Why it is to be silent; [`Denied::RelayUnavailable`] where the process that acts for the channel does not answer in
    /// time, or none does.
    pub async fn may_speak(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
    ) -> Result<Permission, Denied> {
        self.asking.may_speak(channel, agent, run, |_| false).await
    }

    /// An agent's run ended. For hosts that hear of it elsewhere than where they asked. Telling it again changes nothing.
    ///
    /// # Errors
    ///
    /// As the process that acts for the channel, or the way to it, fails: it may be told again, with the same run.
    pub async fn turn_ended(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: RunId,
        report: RunReport<'_>,
    ) -> Result<CompleteAnswer, RelayError> {
        self.asking.turn_ended(channel, agent, run, report).await
    }

    /// Returns how a channel stands.
    ///
    /// # Errors
    ///
    /// As the process that acts for the channel, or the way to it, fails.
    pub async fn channel_state(&self, channel: ChannelId) -> Result<ChannelState, RelayError> {
        self.shared.ask_rule(&GetChannelState { channel_id: channel }, self.shared.time_limit).await
    }

    /// Returns why the agent may, or may not, speak now, and which process acts for the channel.
    ///
    /// # Errors
    ///
    /// As the process that acts for the channel, or the way to it, fails.
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

/// Whether another process may answer in a moment, and nothing was done.
fn changes_hands(error: &RelayError) -> bool {
    let is_away = matches!(error, RelayError::NoOwner | RelayError::Carry { .. });
    (is_away && error.is_certain()) || error.refused() == Some(&Refused::Elsewhere)
}

impl InstanceParts {
    /// Asks the process that acts for the channel, which may be this one, for as long as the limit says. Returns which one answered.
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

    /// What the channel answers, if this process acts for it.
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

    /// Asks the owner what a rule of the relay asks.
    async fn ask_rule<Q: ChannelRule>(
        &self,
        question: &Q,
        limit: Duration,
    ) -> Result<Q::Answer, RelayError> {
        let (host, answer) = self.ask_owner(question.channel(), question.request(), limit).await?;
        Q::answer(answer).ok_or(RelayError::BadAnswer { host })
    }

    /// Answers a slave for any channel.
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

    /// The answer of the process that acts for the channel, for the slave that asked this one.
    async fn pass_on<Q: ChannelRule>(
        &self,
        asker: &Asker,
        body: &[u8],
    ) -> Result<Vec<u8>, Refused> {
        let question: Q = read(body)?;
        bound(asker, question.agent())?;
        // The slave waits as long as this process would: it is to read of the owner, and not that this one is silent.
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
            // A peer asks the owner itself: what is carried on for a slave is not carried on again.
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
