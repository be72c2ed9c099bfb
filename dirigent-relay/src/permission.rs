//! The permission of a run, from the process that acts for the channel, and the end of the run.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::hooks::{RunId, RunReport};
use dirigent::{AgentId, ChannelId, Settings};

use crate::denied::Denied;
use crate::rules::{CheckAnswer, CheckTurn, CompleteAnswer, TurnComplete};
use crate::runs::Runs;
use crate::{Client, RelayError};

/// The way to the process that acts for a channel.
#[async_trait]
pub trait Way: Send + Sync + 'static {
    /// May the agent run?
    async fn check(&self, question: CheckTurn) -> Result<CheckAnswer, RelayError>;

    /// The run ended.
    async fn complete(&self, end: TurnComplete) -> Result<CompleteAnswer, RelayError>;
}

/// Asks for permissions, and tells the ends of runs. Clones share it.
#[derive(Clone)]
pub struct Asking {
    shared: Arc<PermissionDesk>,
}

struct PermissionDesk {
    way: Arc<dyn Way>,
    settings: Settings,
    runs: Runs,
}

impl Asking {
    /// Asks this way, for the process of this client. The settings say what an agent's text means.
    pub fn new(way: Arc<dyn Way>, client: &Client, settings: Settings) -> Self {
        let runs = Runs::new(client.me());
        Self { shared: Arc::new(PermissionDesk { way, settings, runs }) }
    }

    /// May this agent run? A question without an answer is a permission where `unanswered` says so.
    ///
    /// # Errors
    ///
    /// Why it is to be silent.
    pub async fn may_speak(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: Option<RunId>,
        unanswered: impl FnOnce(&Denied) -> bool,
    ) -> Result<Permission, Denied> {
        let run = run.unwrap_or_else(|| self.shared.runs.next());
        let question =
            CheckTurn { agent_id: agent.clone(), channel_id: channel, run_id: Some(run) };
        let permission = |floor| {
            let (asking, agent) = (self.clone(), agent.clone());
            Permission { asking, channel, agent, run, floor }
        };
        match self.shared.way.check(question).await {
            Ok(answer) if answer.allowed && answer.holds_floor => Ok(permission(Floor::Held)),
            Ok(answer) if answer.allowed => Ok(permission(Floor::NotNeeded)),
            Ok(answer) => Err(Denied::Denied {
                reason: answer.reason,
                speaker: answer.current_speaker,
                no_reply_model: answer.no_reply_model,
            }),
            Err(error) => match Denied::of(error) {
                denied if unanswered(&denied) => Ok(permission(Floor::Unknown)),
                denied => Err(denied),
            },
        }
    }

    /// An agent's run ended.
    ///
    /// # Errors
    ///
    /// As the way fails.
    pub async fn turn_ended(
        &self,
        channel: ChannelId,
        agent: &AgentId,
        run: RunId,
        report: RunReport<'_>,
    ) -> Result<CompleteAnswer, RelayError> {
        let outcome = report.outcome(&self.shared.settings);
        let end = TurnComplete {
            agent_id: agent.clone(),
            channel_id: channel,
            run_id: Some(run),
            outcome,
            delivered_message_ids: Vec::new(),
        };
        self.shared.way.complete(end).await
    }
}

impl fmt::Debug for Asking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Asking").finish_non_exhaustive()
    }
}

/// The permission of a run, from the process that acts for the channel: made by [`Slave::may_speak`](crate::Slave::may_speak) and by the `Instance` of
/// `dirigent-cluster`. The end is to be [told](Self::end): where it is not, that process ends the run by
/// its deadline, and the channel waits until then.
#[must_use = "the run's end is to be told, or the channel waits for the run's deadline"]
pub struct Permission {
    asking: Asking,
    channel: ChannelId,
    agent: AgentId,
    run: RunId,
    floor: Floor,
}

/// What is known of the floor, where an agent may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Floor {
    /// The run holds it.
    Held,
    /// No turns are kept.
    NotNeeded,
    /// There was no answer: the run may hold it, and the answer was lost.
    Unknown,
}

impl Permission {
    /// Returns the run's name.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// Returns whether it holds the floor. Not where no turns are kept, nor where the master did not answer and the slave
    /// [allows](crate::WhenUnavailable::Allow) its agents to run then.
    pub const fn holds_floor(&self) -> bool {
        matches!(self.floor, Floor::Held)
    }

    /// The run ended. What it said is posted only where the answer is `accepted`.
    ///
    /// Where the run was allowed for want of an answer, this tells the master the end once, within the [time limit](Client::TIME_LIMIT): the
    /// master may have given the run the floor, and would wait for its deadline. The answer is `accepted` whatever comes of it.
    ///
    /// # Errors
    ///
    /// As the process that acts for the channel, or the way to it, fails: it may be told again, by
    /// [`Slave::turn_ended`](crate::Slave::turn_ended), or by `Instance::turn_ended`.
    pub async fn end(&self, report: RunReport<'_>) -> Result<CompleteAnswer, RelayError> {
        let allowed = CompleteAnswer { accepted: true, duplicate: false };
        let told = match self.floor {
            Floor::NotNeeded => return Ok(allowed),
            Floor::Held | Floor::Unknown => {
                self.asking.turn_ended(self.channel, &self.agent, self.run, report).await
            }
        };
        match (self.floor, told) {
            (Floor::Unknown, Err(error)) => {
                tracing::debug!(channel = %self.channel, agent = %self.agent, %error, "the end of a run that was allowed without an answer was not told");
                Ok(allowed)
            }
            (Floor::Unknown, Ok(_)) => Ok(allowed),
            (Floor::Held | Floor::NotNeeded, told) => told,
        }
    }
}

impl fmt::Debug for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permission")
            .field("channel", &self.channel)
            .field("agent", &self.agent)
            .field("run", &self.run)
            .field("floor", &self.floor)
            .finish_non_exhaustive()
    }
}
