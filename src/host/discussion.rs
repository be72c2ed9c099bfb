//! How far a discussion has come.

use std::sync::Arc;

use dirigent_core::TurnState;

use crate::record::discussion::Discussion;
use crate::room::Room;
use crate::room::outbox::entry::OutboxEntry;
use crate::runtime::Runtime;
use crate::{AgentId, CallError, Channel};

/// How far a discussion has come.
///
/// ```
/// use dirigent::operate::DiscussionState;
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
    /// What of it is still to be posted: its guide, or its result.
    pub outbox: Vec<OutboxEntry>,
}

impl Channel<'_> {
    /// A discussion as it stands; `None` when the channel is none.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
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
