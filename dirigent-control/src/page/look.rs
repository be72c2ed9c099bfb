//! Plain data for pages, the API and live streams. Pure functions make it from the driver's answers. Each page has
//! its own file, and `words` has the sentences.

mod agent;
mod channel;
mod discussion;
mod overview;
mod row;
mod turned;
pub(crate) mod words;

pub(crate) use agent::AgentReport;
pub use agent::{AgentChannel, AgentDay};
pub use channel::{
    AgentLook, BudgetLook, ChangeLook, ChannelLook, LoggedOrder, OrderLook, WorkLook,
};
pub(crate) use channel::{ChannelFacts, agent_look, failures, in_path};
pub use discussion::{DiscussionLook, OutboxLook};
pub use overview::Overview;
pub(crate) use overview::Query;
pub use row::Row;
pub(crate) use row::{DriverAnswer, Names};
pub(crate) use turned::{ENTRIES, Turned, page_of};
pub(crate) use words::{time_of_day, utc};

use serde::Serialize;
use utoipa::ToSchema;

/// The registry of agents.
///
/// ```
/// fn names(registry: &dirigent_control::RegistryLook) -> Vec<&str> {
///     registry.identities.iter().map(|identity| identity.agent_name.as_str()).collect()
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RegistryLook {
    /// The entries, by agent.
    pub identities: Vec<IdentityLook>,
    /// True if `ego.json` is there, so that you can scan it.
    pub can_scan: bool,
}

/// An agent and its account.
///
/// ```
/// fn line(identity: &dirigent_control::IdentityLook) -> String {
///     format!("{} is {}", identity.agent_id, identity.discord_user_id)
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct IdentityLook {
    /// The id of the agent.
    pub agent_id: String,
    /// The agent's account.
    pub discord_user_id: String,
    /// The agent's name for people.
    pub agent_name: String,
}

impl IdentityLook {
    /// Returns the agent as a part of an address's path.
    pub(crate) fn key(&self) -> String {
        in_path(&self.agent_id)
    }
}
