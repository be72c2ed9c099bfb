//! Agents that are closures.

use std::fmt;
use std::future::Future;

use async_trait::async_trait;

use super::agent::{Agent, AgentError, Reply};
use super::turn::Turn;

/// Makes a hosted agent from a closure that gets a [`Turn`] and returns a reply. If your agent needs state or methods
/// of its own, implement [`Agent`] instead.
///
/// ```
/// use dirigent::{Agent, Reply, Turn, agent_fn};
///
/// let echo = agent_fn(|turn: Turn| async move {
///     Ok(turn.missed().last().map_or(Reply::Pass, |message| Reply::from(&*message.content)))
/// });
/// # async fn ask(echo: impl Agent, turn: Turn) {
/// let reply = echo.speak(turn).await;
/// # }
/// # drop(|turn| ask(echo, turn));
/// ```
pub fn agent_fn<F, R>(speak: F) -> AgentFn<F>
where
    F: Fn(Turn) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Reply, AgentError>> + Send,
{
    AgentFn { speak }
}

/// The agent that [`agent_fn`] returns.
#[derive(Clone, Copy)]
pub struct AgentFn<F> {
    speak: F,
}

#[async_trait]
impl<F, R> Agent for AgentFn<F>
where
    F: Fn(Turn) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Reply, AgentError>> + Send,
{
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        (self.speak)(turn).await
    }
}

impl<F> fmt::Debug for AgentFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentFn").finish_non_exhaustive()
    }
}
