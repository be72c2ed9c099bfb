//! The terms of a discussion.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ChannelId;
use crate::values::id::GuildId;

/// The terms of a discussion. They are stored when it is opened, before its guide is posted. Its `Debug` output
/// contains no text.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::store::Discussion;
/// use dirigent::ports::GuildId;
///
/// let terms = Discussion {
///     callback: ChannelId::new(1),
///     callback_guild: Some(GuildId::new(2)),
///     guide: "Which plan?".to_owned(),
/// };
/// assert!(!format!("{terms:?}").contains("plan"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Discussion {
    /// The channel that opened the discussion, and gets its result.
    pub callback: ChannelId,
    /// The guild of that channel, in a chat that has guilds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback_guild: Option<GuildId>,
    /// The guide, which is posted first. It has the topic, the goals, and the condition for the end.
    pub guide: String,
}

impl fmt::Debug for Discussion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Discussion")
            .field("callback", &self.callback)
            .field("callback_guild", &self.callback_guild)
            .field("guide", &format_args!("{} bytes", self.guide.len()))
            .finish()
    }
}
