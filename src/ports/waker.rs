//! Waking an agent that the host owns.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent_core::{MessageId, TurnId};

use crate::values::deferral_key::DeferralKey;
use crate::values::error::ApiError;
use crate::{AgentId, ChannelId, ChatMessage};

/// Calls an agent directly instead of posting a trigger message.
#[async_trait]
pub trait AgentWaker: Send + Sync + 'static {
    /// Starts a run of the agent, which will ask for permission as any run does. Must not wait for
    /// the run to end.
    ///
    /// # Errors
    ///
    /// As the host fails; the start deadline then wakes the agent once more.
    async fn wake(&self, call: WakeCall) -> Result<WakeOutcome, ApiError>;
}

/// Whom to wake, and what it missed.
#[derive(Clone)]
#[non_exhaustive]
pub struct WakeCall {
    /// The channel in which the turn was granted.
    pub channel: ChannelId,
    /// The agent to wake.
    pub agent: AgentId,
    /// For which turn.
    pub turn: TurnId,
    /// 0 for the first call of this turn, then 1 for each repetition.
    pub attempt: u8,
    /// The newest message of the channel.
    pub newest: Option<MessageId>,
    /// What was said and the agent was not handed yet, oldest first, as [`Turn::missed`](crate::Turn::missed) has it.
    pub missed: Vec<Arc<ChatMessage>>,
    /// How many messages of people the agent does not get any more, as [`Turn::left_out`](crate::Turn::left_out) has it.
    pub left_out: usize,
    /// How many messages of agents and bots are left out of `missed`, because there was no room for them.
    pub others_left_out: usize,
    /// Whether the agent's newest reply repeated what was said, and counted as having nothing to add
    /// ([`ReadingRules::skip_repetitions`](crate::settings::ReadingRules::skip_repetitions)): its model does well to say something new, or to pass.
    pub repeated: bool,
    /// The run that was [put off](crate::Channel::may_speak_or_defer) until this turn.
    pub deferral: Option<DeferralKey>,
}

impl WakeCall {
    /// Creates a call for a test of a waker: the first one of this turn, nothing missed.
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

/// What a waker did.
///
/// ```
/// use dirigent::hooks::WakeOutcome;
/// assert_ne!(WakeOutcome::Delivered, WakeOutcome::PostTrigger);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WakeOutcome {
    /// The agent was told of its turn.
    Delivered,
    /// This agent cannot be called; post a trigger message.
    PostTrigger,
}
