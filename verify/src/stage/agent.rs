//! An agent that the library calls: its answer lies between two crash points.

use async_trait::async_trait;
use dirigent::{Agent, AgentError, Reply, Turn};
use dirigent_testkit::ScriptedAgent;

use super::points::Points;

/// A [`ScriptedAgent`] whose process may die before and after it answers.
pub(crate) struct StageAgent {
    agent: ScriptedAgent,
    points: Points,
}

impl StageAgent {
    pub(crate) const fn new(agent: ScriptedAgent, points: Points) -> Self {
        Self { agent, points }
    }
}

#[async_trait]
impl Agent for StageAgent {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let speaking = self.agent.begin(&turn);
        self.points.pass("before an agent answers").await;
        let reply = self.agent.perform(&turn).await;
        self.points.pass("after an agent answered").await;
        speaking.end(&turn);
        reply
    }
}
