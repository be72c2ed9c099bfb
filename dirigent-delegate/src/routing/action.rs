//! The actions of a message.

use std::time::Duration;

use super::job::JobId;
use crate::delegate::TaskParts;
use crate::model::{ModelErrorKind, Question};
use crate::result::{AgentKind, DelegationStatus};

/// An action of a message. Actions are performed in order.
#[derive(Debug)]
pub(crate) enum Action {
    /// Ask this model. The answer carries the number of the attempt.
    Ask { attempt: u32, model: String, question: Question<'static> },
    /// Drop the question.
    StopAsking,
    /// Report to listeners that a model failed.
    TellModelFailed { model: String, kind: ModelErrorKind },
    /// Ask for a place.
    Claim { job: JobId },
    /// Start the agent. `agent` is its index in the registry.
    Start { job: JobId, agent: usize, kind: AgentKind, parts: TaskParts },
    /// Drop the agent's call, or the wait for its place.
    Stop { job: JobId },
    /// Report to listeners that a job ended.
    TellEnded { agent: AgentKind, status: DelegationStatus, took: Duration },
}
