//! What is asked of a channel for which another process acts.

use dirigent_core::Refusal;

use crate::AgentId;
use crate::ports::creation::CreatedChannel;
use crate::values::summary::{ResultPost, Summary};

/// What an agent's tool, or another channel, asks of a channel for which another process acts.
///
/// ```
/// use dirigent::AgentId;
/// use dirigent::ports::ChannelRequest;
///
/// let poet = AgentId::from("poet");
/// assert_ne!(ChannelRequest::Wake { first: Some(&poet) }, ChannelRequest::Wake { first: None });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who carries requests must know how to write each")]
pub enum ChannelRequest<'a> {
    /// [`Channel::register`](crate::Channel::register).
    Register(&'a CreatedChannel),
    /// May this agent conclude the discussion?
    MayConclude {
        /// Which agent.
        by: &'a AgentId,
    },
    /// [`Channel::conclude`](crate::Channel::conclude).
    Conclude {
        /// Which agent.
        by: &'a AgentId,
        /// What is posted in the callback channel.
        summary: Option<Summary<'a>>,
    },
    /// The result of a discussion was posted in the channel: it wakes it.
    Wake {
        /// Who speaks first, if the channel has that agent.
        first: Option<&'a AgentId>,
    },
}

/// What the process that acts for the channel answered.
///
/// ```
/// use dirigent::ports::ChannelAnswer;
/// assert_ne!(ChannelAnswer::Done, ChannelAnswer::UnknownChannel);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "who carries answers must know how to write each")]
pub enum ChannelAnswer {
    /// It is done, and stored for good.
    Done,
    /// The discussion is concluded, and stored for good.
    Concluded(ResultPost),
    /// [`CallError::Refused`](crate::CallError::Refused).
    Refused(Refusal),
    /// [`CallError::UnknownAgent`](crate::CallError::UnknownAgent).
    UnknownAgent(AgentId),
    /// [`CallError::UnknownChannel`](crate::CallError::UnknownChannel).
    UnknownChannel,
}
