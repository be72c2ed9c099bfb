//! Letting an orchestrator answer people while an agent's turn waits.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::TurnId;

use crate::{AgentError, AgentId, ChannelId, ChatMessage, Reply};

/// Answers people who speak during an agent's turn, in the agent's place. Asked where [`HumanInterrupt::Interrupt`](crate::settings::HumanInterrupt) is
/// chosen.
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
    /// Answers these messages. What it says is posted by the moderator, as a reply to the last of
    /// them that pings no account, unless the [`Reply`] says otherwise; with [`Reply::Pass`] nothing is posted, and the messages count as
    /// answered all the same.
    ///
    /// The future is dropped when its answer is no longer needed: after
    /// [`PeopleRules::consult_deadline`](crate::settings::PeopleRules::consult_deadline), at a stop, at the turn's end.
    ///
    /// # Errors
    ///
    /// Any; the messages are then handed to the agent, as if there were no orchestrator. The error's
    /// text is not logged, since it may hold a secret.
    async fn answer(&self, asked: Consultation) -> Result<Reply, AgentError>;
}

/// What an orchestrator is asked. `Debug` shows no text.
#[derive(Clone)]
#[non_exhaustive]
pub struct Consultation {
    /// The channel of the turn.
    pub channel: ChannelId,
    /// Whose turn waits meanwhile.
    pub agent: AgentId,
    /// Which turn.
    pub turn: TurnId,
    /// What people said, oldest first.
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
