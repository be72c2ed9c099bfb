//! What a tool says of a channel that it has created.

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
    /// What it is for.
    #[serde(with = "crate::written")]
    pub mode: Mode,
    /// The agents in it, in the order in which they speak first.
    pub members: Vec<AgentId>,
    /// How the discussion was opened: exactly for [`Mode::Discussion`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Opening>,
}

/// How a discussion was opened. `Debug` shows no text.
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
    /// Who opened it, and may conclude it.
    pub initiator: AgentId,
    /// The guide that is posted first, and where the result goes to. `None`: nothing is posted, and
    /// the host wakes the first speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Discussion>,
}
