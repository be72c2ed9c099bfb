//! What a message wants done.

use std::time::Duration;

use super::job::JobId;
use crate::delegate::TaskParts;
use crate::model::{ModelErrorKind, Question};
use crate::result::{AgentKind, DelegationStatus};

/// Something to do for a message. Actions are carried out in their order.
#[derive(Debug)]
pub(crate) enum Action {
    /// Ask this model; the answer bears the attempt's number.
    Ask { attempt: u32, model: String, question: Question<'static> },
    /// Drop the question.
    StopAsking,
    /// Tell listeners that a model failed.
    TellModelFailed { model: String, kind: ModelErrorKind },
    /// Ask for a place.
    Claim { job: JobId },
    /// Let the agent begin; `agent` is its place in the registry.
    Start { job: JobId, agent: usize, kind: AgentKind, parts: TaskParts },
    /// Drop the agent's call, or the wait for its place.
    Stop { job: JobId },
    /// Tell listeners that a job ended.
    TellEnded { agent: AgentKind, status: DelegationStatus, took: Duration },
}
