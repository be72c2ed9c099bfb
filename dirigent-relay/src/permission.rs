//! The permission of a run, from the process that acts for the channel, and the report of the run's end.

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
    /// Asks whether the agent may run.
    async fn check(&self, question: CheckTurn) -> Result<CheckAnswer, RelayError>;

    /// Reports that the run ended.
    async fn complete(&self, end: TurnComplete) -> Result<CompleteAnswer, RelayError>;
}

/// Asks for permissions, and reports the ends of runs. Clones share their state.
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
    /// Creates it with this way, for the process of this client. The settings say what an agent's text means.
    pub fn new(way: Arc<dyn Way>, client: &Client, settings: Settings) -> Self {
        let runs = Runs::new(client.me());
        Self { shared: Arc::new(PermissionDesk { way, settings, runs }) }
    }

    /// Asks whether this agent may run. If there is no answer and `unanswered` returns true, that counts as a
    /// permission.
    ///
    /// # Errors
    ///
    /// Returns why the agent must stay silent.
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

    /// Reports that an agent's run ended.
    ///
    /// # Errors
    ///
    /// Returns the error of the way.
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

/// The permission of a run, from the process that acts for the channel. [`Slave::may_speak`](crate::Slave::may_speak)
/// and the `Instance` of `dirigent-cluster` return it. [Report](Self::end) the run's end. If you do not, the channel
/// waits until that process ends the run by its deadline.
#[must_use = "the run's end is to be told, or the channel waits for the run's deadline"]
pub struct Permission {
    asking: Asking,
    channel: ChannelId,
    agent: AgentId,
    run: RunId,
    floor: Floor,
}

/// The knowledge about the floor while an agent may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Floor {
    /// The run has the floor.
    Held,
    /// The channel keeps no turns.
    NotNeeded,
    /// There was no answer, so the run may have the floor although this process does not know it.
    Unknown,
}

impl Permission {
    /// Returns the name of the run.
    pub const fn run(&self) -> RunId {
        self.run
    }

    /// Returns true if the run has the floor. It returns false if the channel keeps no turns. It also does if the
    /// master did not answer and the slave [allows](crate::WhenUnavailable::Allow) its agents to run then.
    pub const fn holds_floor(&self) -> bool {
        matches!(self.floor, Floor::Held)
    }

    /// Reports that the run ended. Post its text only if the answer is `accepted`.
    ///
    /// If the run was allowed for want of an answer, this reports the end to the master once, within the [time
    /// limit](Client::TIME_LIMIT). It does so because the master may have given the run the floor, and would wait for
    /// its deadline. The answer is then `accepted`, even if the report failed.
    ///
    /// # Errors
    ///
    /// Returns the error of the process that acts for the channel, or of the way to it. You may report the end again,
    /// with [`Slave::turn_ended`](crate::Slave::turn_ended) or `Instance::turn_ended`.
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
