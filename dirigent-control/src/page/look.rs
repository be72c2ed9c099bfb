//! Plain data that pages, the API and live streams show, made by pure functions of what the driver reports. A file
//! for each page, and `words` for sentences.

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
    /// Its entries, by agent.
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
    /// The agent.
    pub agent_id: String,
    /// Its account.
    pub discord_user_id: String,
    /// Its name for people.
    pub agent_name: String,
}

impl IdentityLook {
    /// The agent as a part of an address's path.
    pub(crate) fn key(&self) -> String {
        in_path(&self.agent_id)
    }
}
