//! A tool's report of a channel that it has created.

use dirigent_core::Mode;
use serde::{Deserialize, Serialize};

use crate::AgentId;
use crate::record::discussion::Discussion;

/// A channel that a tool has created.
///
/// ```
/// use dirigent::operate::CreatedChannel;
/// use dirigent::Mode;
/// let chat = CreatedChannel { mode: Mode::Chat, ..CreatedChannel::default() };
/// assert!(chat.members.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct CreatedChannel {
    /// The mode of the channel.
    #[serde(with = "crate::written")]
    pub mode: Mode,
    /// The agents in the channel, in the order of their first turns.
    pub members: Vec<AgentId>,
    /// The opening of the discussion. It is present if and only if the mode is [`Mode::Discussion`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Opening>,
}

/// The opening of a discussion. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::operate::Opening;
/// let opening = Opening { initiator: "poet".into(), terms: None };
/// assert_eq!(opening.initiator.as_str(), "poet");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct Opening {
    /// The agent that opened the discussion, and that may conclude it.
    pub initiator: AgentId,
    /// The guide that is posted first, and the channel that gets the result. If it is `None`, no guide is posted, and
    /// the host wakes the first speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Discussion>,
}
