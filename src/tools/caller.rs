//! The caller of a tool.

use std::path::PathBuf;

use crate::values::id::GuildId;
use crate::{AgentId, ChannelId};

/// The host's session that a tool is called from. Fill it in from your own knowledge, and take no part of it from the
/// arguments of a call, because a model writes these.
///
/// ```
/// use dirigent::ports::GuildId;
/// use dirigent::tools::Caller;
///
/// let caller = Caller { guild: Some(GuildId::new(7)), ..Caller::new("home-developer") };
/// assert_eq!(caller.agent.as_str(), "home-developer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct Caller {
    /// The agent.
    pub agent: AgentId,
    /// The guild in which a message reached the agent. `None` in a direct message.
    pub guild: Option<GuildId>,
    /// The channel in which a message reached the agent, if there is one.
    pub channel: Option<ChannelId>,
    /// The folder with the agent's files, as an absolute path. Only `discussion-complete` uses it.
    pub workspace: Option<PathBuf>,
}

impl Caller {
    /// Creates a session of which only the agent is known.
    pub fn new(agent: impl Into<AgentId>) -> Self {
        Self { agent: agent.into(), guild: None, channel: None, workspace: None }
    }
}
