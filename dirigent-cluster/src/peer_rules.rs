//! What processes that act for channels ask each other beyond turns.

use dirigent::{AgentId, ChannelId};
use dirigent_relay::{HostId, RelayQuestion};
use serde::{Deserialize, Serialize};

/// Why may, or may not, this agent speak now?
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Explain {
    pub(crate) channel_id: ChannelId,
    pub(crate) agent_id: AgentId,
}

/// Why an agent may, or may not, speak, and who says so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Explained {
    /// The process that acts for the channel.
    pub owner: HostId,
    /// Whether the agent may speak now.
    pub allows: bool,
    /// Why, in sentences.
    pub text: String,
}

impl RelayQuestion for Explain {
    const RULE: &'static str = "explain";
    type Answer = Explained;
}
