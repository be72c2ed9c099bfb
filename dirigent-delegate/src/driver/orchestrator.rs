//! A router that answers people, during an agent's turn or as an agent of its own.

use std::sync::Arc;

use async_trait::async_trait;
use dirigent::host::{Consultation, Orchestrator};
use dirigent::{Agent, AgentError, ChatMessage, Reply, Turn};

use super::text_of;
use crate::request::UserRequest;
use crate::response::Response;
use crate::result::{AgentResult, DelegationStatus};
use crate::router::{OWN_QUESTION, Off, Router};

/// A [`dirigent::host::Orchestrator`] that answers people who speak during an agent's turn. The channel is the session.
///
/// While the router is off, the agent gets the messages, as it would without an orchestrator. The agent also gets them
/// if all delegations failed, unless one of them ran out of time with some text.
///
/// Dirigent waits for the answer for
/// [`PeopleRules::consult_deadline`](dirigent::settings::PeopleRules::consult_deadline), by default 30 s. Then it
/// cancels the agents, so set a longer one if yours need more time.
///
/// ```no_run
/// use dirigent_delegate::{Router, RouterOrchestrator};
///
/// fn with(builder: dirigent::host::Builder, router: Router) -> dirigent::host::Builder {
///     builder.orchestrator(RouterOrchestrator::new(router))
/// }
/// ```
#[derive(Clone, Debug)]
pub struct RouterOrchestrator {
    router: Router,
}

impl RouterOrchestrator {
    /// Creates an orchestrator that asks this router.
    pub const fn new(router: Router) -> Self {
        Self { router }
    }
}

#[async_trait]
impl Orchestrator for RouterOrchestrator {
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
        if !self.router.is_enabled() {
            return Err(Off.into());
        }
        let request = UserRequest::new(asked.channel.to_string(), text_of(&asked.messages));
        let response = self.router.answer(request).await?;
        // The text of an agent that ran out of time is shown.
        let is_late = |result: &AgentResult| {
            result.status == DelegationStatus::Timeout && !result.output.trim().is_empty()
        };
        let is_all_errors = response.payloads.iter().all(|payload| payload.is_error);
        if is_all_errors && !response.agent_results.iter().any(is_late) {
            return Err(NothingButFailures.into());
        }
        Ok(reply(&response))
    }
}

/// Every payload reports a failure.
#[derive(Debug, thiserror::Error)]
#[error("all agents that were asked failed")]
struct NothingButFailures;

/// A hosted agent that puts a router in front of a channel. It answers people by asking the router. While the router is
/// off, the agent behind it takes the turn, unchanged. If only agents have spoken, it passes, because otherwise two
/// routers could keep each other busy.
///
/// ```
/// use dirigent::{Reply, Turn, agent_fn};
/// use dirigent_delegate::{Router, RouterAgent};
///
/// fn front(router: Router) -> RouterAgent {
///     let usual = agent_fn(|_: Turn| async { Ok(Reply::from("The router is off.")) });
///     RouterAgent::new(router, usual)
/// }
/// ```
#[derive(Clone)]
pub struct RouterAgent {
    router: Router,
    behind: Arc<dyn Agent>,
}

impl RouterAgent {
    /// Creates an agent that asks this router. While the router is off, it asks `behind`.
    pub fn new(router: Router, behind: impl Agent) -> Self {
        Self { router, behind: Arc::new(behind) }
    }
}

#[async_trait]
impl Agent for RouterAgent {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        if self.router.is_answering_here() {
            return Err(OWN_QUESTION.into());
        }
        if !self.router.is_enabled() {
            return self.behind.speak(turn).await;
        }
        let is_by_person = |message: &&Arc<ChatMessage>| message.is_by_person();
        let said: Vec<Arc<ChatMessage>> =
            turn.missed().iter().filter(is_by_person).cloned().collect();
        if said.is_empty() {
            return Ok(Reply::Pass);
        }
        let mut request = UserRequest::new(turn.channel().to_string(), text_of(&said));
        request.timeout = turn.time_left().map(before_the_end);
        match self.router.answer_until(request, turn.cancelled()).await {
            Ok(response) => Ok(reply(&response)),
            // The router was switched off at this moment.
            Err(Off) => self.behind.speak(turn).await,
        }
    }

    fn failure_class(&self, error: &AgentError) -> Option<String> {
        self.behind.failure_class(error)
    }
}

/// Returns a turn's time without the part that is needed to hand over and post the answer.
fn before_the_end(left: std::time::Duration) -> std::time::Duration {
    left.mul_f32(0.9)
}

fn reply(response: &Response) -> Reply {
    match response.text() {
        text if text.trim().is_empty() => Reply::Pass,
        text => Reply::Say(text),
    }
}

impl std::fmt::Debug for RouterAgent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RouterAgent").field("router", &self.router).finish_non_exhaustive()
    }
}
