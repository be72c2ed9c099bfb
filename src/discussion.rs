//! A discussion's terms, and how far it has come.

use std::fmt;
use std::sync::Arc;

use dirigent_core::TurnState;

use crate::room::Room;
use crate::{AgentId, CallError, ChannelId, Dirigent, GuildId};

/// What was written down when a discussion was opened, before its guide was posted. `Debug`
/// shows no text.
///
/// ```
/// use dirigent::{ChannelId, Discussion, GuildId};
///
/// let terms = Discussion {
///     callback: ChannelId::new(1),
///     callback_guild: Some(GuildId::new(2)),
///     guide: "Which plan?".to_owned(),
/// };
/// assert!(!format!("{terms:?}").contains("plan"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Discussion {
    /// Where it was opened from, and its result goes to.
    pub callback: ChannelId,
    /// The guild of that channel, in a chat that has guilds.
    pub callback_guild: Option<GuildId>,
    /// Topic, goals, and when it is done: posted first.
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

/// How far a discussion has come.
///
/// ```
/// use dirigent::DiscussionState;
/// assert_ne!(DiscussionState::Open, DiscussionState::Concluded);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiscussionState {
    /// It goes on.
    Open,
    /// Its initiator concluded it.
    Concluded,
    /// It was archived without a summary.
    Archived,
}

/// A discussion as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscussionStatus {
    /// Who opened it; `None` when that agent's name is not known any more.
    pub initiator: Option<AgentId>,
    /// What was agreed; `None` for one that was opened without a callback channel.
    pub terms: Option<Arc<Discussion>>,
    /// How far it has come.
    pub state: DiscussionState,
    /// Something of it is still to be posted: its guide, or its result.
    pub outbox: usize,
}

impl Dirigent {
    /// A discussion as it stands; `None` when the channel is none.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
    pub async fn discussion(
        &self,
        channel: ChannelId,
    ) -> Result<Option<DiscussionStatus>, CallError> {
        self.live().await?;
        let Some(room) = self.runtime.room(channel).await? else {
            return Ok(None);
        };
        let state = room.lock();
        Ok(self.discussion_of(&state.room))
    }

    fn discussion_of(&self, room: &Room) -> Option<DiscussionStatus> {
        let view = room.machine().view();
        let initiator = view.initiator()?;
        let progress = match (view.turn_state(), view.is_concluded()) {
            (_, true) => DiscussionState::Concluded,
            (TurnState::Archived, false) => DiscussionState::Archived,
            _ => DiscussionState::Open,
        };
        Some(DiscussionStatus {
            initiator: self.runtime.registry.name(initiator),
            terms: room.discussion().cloned(),
            state: progress,
            outbox: room.look().unposted(),
        })
    }
}
