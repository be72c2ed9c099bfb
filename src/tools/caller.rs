//! Who calls a tool.

use std::path::PathBuf;

use crate::values::id::GuildId;
use crate::{AgentId, ChannelId};

/// The host's session from which a tool is called. The host fills it in from what it knows itself;
/// nothing of it comes from the arguments of a call.
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
    /// The guild in which it was spoken to; none in a direct message.
    pub guild: Option<GuildId>,
    /// The channel in which it was spoken to, where there is one.
    pub channel: Option<ChannelId>,
    /// The folder that holds its files, as an absolute path. Only `discussion-complete` looks at it.
    pub workspace: Option<PathBuf>,
}

impl Caller {
    /// A session of which nothing is known but the agent.
    pub fn new(agent: impl Into<AgentId>) -> Self {
        Self { agent: agent.into(), guild: None, channel: None, workspace: None }
    }
}
