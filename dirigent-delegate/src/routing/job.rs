//! A job: one call of a tool, or a message handed to the embedded agent.

use std::time::Duration;

use dirigent::ports::Timestamp;
use serde_json::Value;

use crate::delegate::TaskOutcome;
use crate::model::ModelMessage;
use crate::plan::PlannedAgent;
use crate::result::{AgentKind, AgentResult, DelegationStatus};
use crate::terminal::plain;

/// The time after its deadline in which an agent can hand over its work.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// The index of a job among those of its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct JobId(pub(crate) usize);

#[derive(Debug)]
pub(super) struct Job {
    /// The id of the call, or empty if there was none.
    pub(super) call: String,
    /// The agent's index in the plan.
    pub(super) agent: usize,
    pub(super) message: String,
    pub(super) arguments: Value,
    /// The agent's newest report while it ran.
    pub(super) so_far: String,
    pub(super) state: JobState,
}

#[derive(Debug, PartialEq)]
pub(super) enum JobState {
    /// It has no place yet.
    Waiting,
    Running {
        since: Timestamp,
        until: Timestamp,
    },
    Ended(Box<AgentResult>),
}

impl Job {
    pub(super) fn waiting(call: String, agent: usize, message: String, arguments: Value) -> Self {
        Self { call, agent, message, arguments, so_far: String::new(), state: JobState::Waiting }
    }

    /// Returns a job for a call that cannot be performed.
    pub(super) fn refused(call: String, name: &str, kind: AgentKind, problem: &str) -> Self {
        // The name may be the model's own word.
        let name = plain(name).into_owned();
        let result = AgentResult::new(name, kind, DelegationStatus::Error).with_error(problem);
        let state = JobState::Ended(Box::new(result));
        Self { state, ..Self::waiting(call, usize::MAX, String::new(), Value::Null) }
    }

    /// Returns the time at which the job is cancelled. `all` is the deadline of the message.
    pub(super) fn deadline(&self, all: Timestamp) -> Option<Timestamp> {
        match self.state {
            JobState::Waiting => Some(all),
            JobState::Running { until, .. } => Some(until + GRACE),
            JobState::Ended(_) => None,
        }
    }

    /// Returns the text for a job that ran out of time.
    pub(super) fn late(&self) -> String {
        match &self.state {
            JobState::Running { since, until } => {
                format!("It did not end within {} s.", until.since(*since).as_secs_f32())
            }
            JobState::Waiting | JobState::Ended(_) => {
                "The message's time was over before it could begin.".to_owned()
            }
        }
    }

    pub(super) fn end(&mut self, now: Timestamp, agent: &PlannedAgent, outcome: TaskOutcome) {
        let took = match self.state {
            JobState::Running { since, .. } => now.since(since),
            JobState::Waiting | JobState::Ended(_) => Duration::ZERO,
        };
        // Agents of the host may return anything.
        let TaskOutcome { status, mut output, artifacts, error_message, model, token_usage } =
            outcome.plain();
        let is_good = matches!(status, DelegationStatus::Success | DelegationStatus::Partial);
        if !is_good && output.trim().is_empty() {
            // An agent that panicked, for example, has returned nothing.
            output = std::mem::take(&mut self.so_far);
        }
        let result = AgentResult::new(agent.card.name(), agent.card.kind().clone(), status)
            .with_output(output)
            .with_duration(took);
        let model = model.or_else(|| agent.model.clone());
        let result = AgentResult { artifacts, error_message, model, token_usage, ..result };
        self.state = JobState::Ended(Box::new(result));
    }

    pub(super) fn result(&self) -> Option<&AgentResult> {
        match &self.state {
            JobState::Ended(result) => Some(result),
            JobState::Waiting | JobState::Running { .. } => None,
        }
    }

    /// Returns the result as the routing model reads it.
    pub(super) fn answer(&self) -> ModelMessage<'static> {
        let text = self.result().map_or_else(String::new, AgentResult::told);
        ModelMessage::Tool { call: self.call.clone().into(), text: text.into() }
    }
}
