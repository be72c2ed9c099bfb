//! Turns an agent that gets work into one of a channel.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::{Agent, AgentError, Clock, Reply, SystemClock, Turn};

use super::text_of;
use crate::delegate::{Delegate, Task};
use crate::request::UserRequest;
use crate::result::DelegationStatus;

/// Makes a hosted agent from a [`Delegate`]. The task is what was said since the agent's last turn, and the result is
/// its reply. If the task runs out of time, the text so far is the reply, and a last line says so. The channel is the
/// session.
///
/// ```
/// use dirigent_delegate::{DelegateAgent, OpenCode};
///
/// let coder = DelegateAgent::new(OpenCode::new().workspace("/srv/bot/workspace"));
/// # let _: Box<dyn dirigent::Agent> = Box::new(coder);
/// ```
#[derive(Clone)]
pub struct DelegateAgent {
    delegate: Arc<dyn Delegate>,
}

/// Returned if the delegate failed or ran out of time. The text is the delegate's own and may contain anything.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(String);

impl DelegateAgent {
    /// Creates a hosted agent.
    pub fn new(delegate: impl Delegate) -> Self {
        Self { delegate: Arc::new(delegate) }
    }
}

#[async_trait]
impl Agent for DelegateAgent {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        if turn.missed().is_empty() {
            return Ok(Reply::Pass);
        }
        let message = text_of(turn.missed());
        let request = UserRequest::new(turn.channel().to_string(), message.clone());
        let mut task = Task::new(message).with_request(request);
        if let Some(left) = turn.time_left() {
            task = task.with_deadline(SystemClock::new().now() + left.mul_f32(0.9));
        }
        let outcome = tokio::select! {
            outcome = self.delegate.run(task) => outcome.plain(),
            () = turn.cancelled() => return Ok(Reply::Pass),
        };
        match outcome.status {
            DelegationStatus::Success | DelegationStatus::Partial
                if outcome.output.trim().is_empty() =>
            {
                Ok(Reply::Pass)
            }
            DelegationStatus::Success | DelegationStatus::Partial => Ok(Reply::Say(outcome.output)),
            DelegationStatus::Error | DelegationStatus::Timeout => {
                let message = outcome.error_message.unwrap_or_else(|| "it failed".to_owned());
                // Late work is not lost, but the text of a failed task is no reply.
                if outcome.status == DelegationStatus::Timeout && !outcome.output.trim().is_empty()
                {
                    return Ok(Reply::Say(format!("{}\n*Partial: {message}*", outcome.output)));
                }
                Err(Failed(message).into())
            }
        }
    }
}

impl std::fmt::Debug for DelegateAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DelegateAgent").finish_non_exhaustive()
    }
}
