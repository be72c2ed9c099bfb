//! The status of a discussion.

use std::sync::Arc;

use dirigent_core::TurnState;

use crate::record::discussion::Discussion;
use crate::room::Room;
use crate::room::outbox::entry::OutboxEntry;
use crate::runtime::Runtime;
use crate::{AgentId, CallError, Channel};

/// The state of a discussion.
///
/// ```
/// use dirigent::operate::DiscussionState;
/// assert_ne!(DiscussionState::Open, DiscussionState::Concluded);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DiscussionState {
    /// The discussion goes on.
    Open,
    /// The initiator concluded the discussion.
    Concluded,
    /// The discussion was archived without a summary.
    Archived,
}

/// The status of a discussion at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscussionStatus {
    /// The agent that opened the discussion. `None` if the name of that agent is no longer known.
    pub initiator: Option<AgentId>,
    /// The terms of the discussion. `None` if it was opened without a callback channel.
    pub terms: Option<Arc<Discussion>>,
    /// The state of the discussion.
    pub state: DiscussionState,
    /// The messages of the discussion that are not posted yet: its guide, or its result.
    pub outbox: Vec<OutboxEntry>,
}

impl Channel<'_> {
    /// Returns the status of the discussion. `None` if the channel is not a discussion.
    ///
    /// # Errors
    ///
    /// Fails if the channel cannot be read.
    pub async fn discussion(self) -> Result<Option<DiscussionStatus>, CallError> {
        self.dirigent.live().await?;
        let Some(room) = self.dirigent.runtime.room(self.id).await? else {
            return Ok(None);
        };
        let state = room.lock();
        Ok(discussion_of(&self.dirigent.runtime, &state.room))
    }
}

fn discussion_of(runtime: &Runtime, room: &Room) -> Option<DiscussionStatus> {
    let view = room.look().machine().view();
    let initiator = view.initiator()?;
    // A concluded discussion is archived, too.
    let progress = match (view.turn_state(), view.is_concluded()) {
        (_, true) => DiscussionState::Concluded,
        (TurnState::Archived, false) => DiscussionState::Archived,
        _ => DiscussionState::Open,
    };
    Some(DiscussionStatus {
        initiator: runtime.registry.name(initiator),
        terms: room.look().discussion().cloned(),
        state: progress,
        outbox: room.look().unposted().collect(),
    })
}
