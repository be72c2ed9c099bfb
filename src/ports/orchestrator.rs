//! Lets an orchestrator answer people while an agent's turn waits.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::TurnId;

use crate::{AgentError, AgentId, ChannelId, ChatMessage, Reply};

/// Answers people who write during an agent's turn, in place of the agent. It is called only if you chose
/// [`HumanInterrupt::Interrupt`](crate::settings::HumanInterrupt).
///
/// ```
/// use dirigent::{AgentError, Reply};
/// use dirigent::host::{Consultation, Orchestrator};
///
/// struct FrontDesk;
///
/// #[async_trait::async_trait]
/// impl Orchestrator for FrontDesk {
///     async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError> {
///         Ok(Reply::from(format!("{} is at it; your question comes next.", asked.agent)))
///     }
/// }
/// ```
#[async_trait]
pub trait Orchestrator: Send + Sync + 'static {
    /// Answers these messages. The moderator posts the answer as a reply to the last of them. The answer pings no
    /// account, unless the [`Reply`] says otherwise. With [`Reply::Pass`] no message is posted, and the messages still
    /// count as answered.
    ///
    /// The future is dropped when its answer is no longer needed. This happens after
    /// [`PeopleRules::consult_deadline`](crate::settings::PeopleRules::consult_deadline), at a stop, and at the end of
    /// the turn.
    ///
    /// # Errors
    ///
    /// You may return any error. The agent then gets the messages, as if there were no orchestrator. The text of the
    /// error is not logged, because it may contain a secret.
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError>;
}

/// The question to an orchestrator. Its `Debug` output contains no text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Consultation {
    /// The channel of the turn.
    pub channel: ChannelId,
    /// The agent that has the waiting turn.
    pub agent: AgentId,
    /// The waiting turn.
    pub turn: TurnId,
    /// The messages of people, oldest first.
    pub messages: Vec<Arc<ChatMessage>>,
}

impl Consultation {
    /// Creates a question for a test of an orchestrator.
    pub const fn new(
        channel: ChannelId,
        agent: AgentId,
        turn: TurnId,
        messages: Vec<Arc<ChatMessage>>,
    ) -> Self {
        Self { channel, agent, turn, messages }
    }
}

impl fmt::Debug for Consultation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consultation")
            .field("channel", &self.channel)
            .field("agent", &self.agent)
            .field("turn", &self.turn)
            .field("messages", &self.messages.len())
            .finish()
    }
}
