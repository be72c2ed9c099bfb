//! Agents that the library calls itself.

use std::error::Error;
use std::fmt;

use async_trait::async_trait;

use super::turn::Turn;

/// A hosted agent: the host says what it answers, the library when.
///
/// ```
/// use dirigent::{Agent, AgentError, Reply, Turn};
///
/// struct Echo;
///
/// #[async_trait::async_trait]
/// impl Agent for Echo {
///     async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
///         Ok(match turn.missed().last() {
///             Some(message) => Reply::from(format!("You said: {}", message.content)),
///             None => Reply::Pass,
///         })
///     }
/// }
/// ```
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Takes a turn. The reply is posted by the library through the agent's own account.
    ///
    /// Should end soon after [`Turn::cancelled`]; what it answers then is not posted, and given back to it
    /// with its next turn in the channel ([`Turn::late_answer`]).
    ///
    /// The driver polls it on its own task, with all other agents and channels: code that blocks the thread, such as a
    /// model that computes here, freezes every channel meanwhile. It belongs into `tokio::task::spawn_blocking`, or
    /// into a thread of its own.
    ///
    /// A panic or an error ends this turn and nothing else: the agent stays online. A host that knows it
    /// to be gone says so ([`Dirigent::agent_offline`](crate::Dirigent::agent_offline)), or lets failures in a row
    /// say so ([`Settings::offline_after_failures`](crate::Settings::offline_after_failures)).
    ///
    /// # Errors
    ///
    /// Any; the turn counts as empty. The error's text is not logged, since it may hold a secret.
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError>;
}

/// Whatever went wrong inside an agent.
pub type AgentError = Box<dyn Error + Send + Sync>;

/// What an agent answers. `Debug` shows no text.
///
/// ```
/// use dirigent::Reply;
/// assert_eq!(Reply::from("hello"), Reply::Say("hello".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply {
    /// This text, unless the silence policy takes it for silence.
    Say(String),
    /// Nothing to say.
    Pass,
}

impl From<&str> for Reply {
    fn from(text: &str) -> Self {
        Self::Say(text.to_owned())
    }
}

impl From<String> for Reply {
    fn from(text: String) -> Self {
        Self::Say(text)
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Say(text) => write!(f, "Say({} bytes)", text.len()),
            Self::Pass => f.write_str("Pass"),
        }
    }
}
