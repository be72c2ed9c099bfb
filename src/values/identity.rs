//! An agent's entry in the registry.

use serde::{Deserialize, Serialize};

use crate::{AgentId, UserId};

/// One registered agent.
///
/// ```
/// use dirigent::ports::Identity;
/// use dirigent::UserId;
///
/// let developer = Identity {
///     discord_user_id: UserId::new(123456789012345678),
///     agent_id: "home-developer".into(),
///     agent_name: "Developer".to_owned(),
/// };
/// assert_eq!(developer.agent_id.as_str(), "home-developer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "the seed names exactly three fields")]
pub struct Identity {
    /// The account of the agent.
    pub discord_user_id: UserId,
    /// The name of the agent in the host.
    pub agent_id: AgentId,
    /// The name of the agent for people.
    pub agent_name: String,
}
