//! Agents that the library calls.

use dirigent::{Agent, AgentError, Reply, Turn};

use crate::soak::minutes::Minutes;

pub(crate) struct Talker {
    pub(crate) minutes: Minutes,
}

#[dirigent::async_trait]
impl Agent for Talker {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let said = self.minutes.take(turn.channel(), turn.turn().get(), turn.agent().as_str());
        Ok(said.map_or(Reply::Pass, Reply::from))
    }
}
