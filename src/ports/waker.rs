//! Wakes agents that the host owns.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{MessageId, TurnId};

use crate::values::deferral_key::DeferralKey;
use crate::values::error::ApiError;
use crate::{AgentId, ChannelId, ChatMessage};

/// Calls an agent directly, instead of posting a trigger message.
#[async_trait]
pub trait AgentWaker: Send + Sync + 'static {
    /// Starts a run of the agent. The run then asks for permission like any run. Do not wait for the end of the run.
    ///
    /// # Errors
    ///
    /// You may return any error. In that case the library wakes the agent again after the start deadline.
    async fn wake(&self, call: WakeCall) -> Result<WakeOutcome, ApiError>;
}

/// The agent to wake, and the messages that it missed.
#[derive(Clone)]
#[non_exhaustive]
pub struct WakeCall {
    /// The channel of the turn.
    pub channel: ChannelId,
    /// The agent to wake.
    pub agent: AgentId,
    /// The turn.
    pub turn: TurnId,
    /// The number of the call: 0 for the first call of this turn, and 1, 2 and so on for repetitions.
    pub attempt: u8,
    /// The newest message of the channel.
    pub newest: Option<MessageId>,
    /// The messages that the agent did not get before, oldest first, like [`Turn::missed`](crate::Turn::missed).
    pub missed: Vec<Arc<ChatMessage>>,
    /// The number of people's messages that the agent will never get, like [`Turn::left_out`](crate::Turn::left_out).
    pub left_out: usize,
    /// The number of messages of agents and bots that are left out of `missed`, because there was no room for them.
    pub others_left_out: usize,
    /// `true` if the agent's newest reply repeated what was said, and counted as a pass
    /// ([`ReadingRules::skip_repetitions`](crate::settings::ReadingRules::skip_repetitions)). Ask the model to say
    /// something new, or to pass.
    pub repeated: bool,
    /// The run that was [deferred](crate::Channel::may_speak_or_defer) until this turn.
    pub deferral: Option<DeferralKey>,
}

impl WakeCall {
    /// Creates a call for a test of a waker. It is the first call of this turn, with no missed messages.
    pub const fn new(channel: ChannelId, agent: AgentId, turn: TurnId) -> Self {
        let missed = Vec::new();
        Self {
            channel,
            agent,
            turn,
            attempt: 0,
            newest: None,
            missed,
            left_out: 0,
            others_left_out: 0,
            repeated: false,
            deferral: None,
        }
    }
}

impl fmt::Debug for WakeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakeCall")
            .field("channel", &self.channel)
            .field("agent", &self.agent)
            .field("turn", &self.turn)
            .field("attempt", &self.attempt)
            .field("newest", &self.newest)
            .field("missed", &self.missed.len())
            .field("left_out", &self.left_out)
            .field("others_left_out", &self.others_left_out)
            .field("repeated", &self.repeated)
            .field("deferral", &self.deferral)
            .finish()
    }
}

/// The result of a waker.
///
/// ```
/// use dirigent::hooks::WakeOutcome;
/// assert_ne!(WakeOutcome::Delivered, WakeOutcome::PostTrigger);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WakeOutcome {
    /// The agent knows of its turn.
    Delivered,
    /// The waker cannot call this agent, so the library posts a trigger message.
    PostTrigger,
}
