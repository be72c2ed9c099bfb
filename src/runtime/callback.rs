//! Wakes the channel that opened a discussion when its result arrives there.

use std::sync::Arc;

use dirigent_core::AgentKey;

use super::Runtime;
use super::cell::Awaited;
use crate::ports::ownership::Standing;
use crate::ports::request::{ChannelAnswer, ChannelRequest};
use crate::values::carried::Carried;
use crate::values::error::{ApiError, ErrorKind};
use crate::{CallError, ChannelId};
use dirigent_core::{Input, WakeCause};

impl Runtime {
    /// Wakes the callback room of a discussion, in which this agent speaks first, whichever process acts for it. It is
    /// done when that is stored, so that a kill in between wakes twice rather than never.
    pub(super) async fn wake_callback(
        self: &Arc<Self>,
        channel: ChannelId,
        first: Option<AgentKey>,
    ) -> Result<(), ApiError> {
        let neighbours = self.neighbours.as_ref();
        let Some(neighbours) = neighbours.filter(|_| self.standing(channel) == Standing::Elsewhere)
        else {
            return wake_here(self, channel, first).await;
        };
        // The agent's key may differ in another process, so its id goes there.
        let first = first.and_then(|first| self.registry.name(first));
        let request = ChannelRequest::WakeForResult { first };
        let limit = self.settings.time_limits.call;
        let answer = self.within(limit, neighbours.request(channel, &request, limit)).await?;
        // Any other answer is tried again, because a result must wake its channel.
        if answer == Carried::Answered(ChannelAnswer::Done) {
            return Ok(());
        }
        tracing::debug!(%channel, ?answer, "another process did not wake a channel for its result");
        Err(ApiError::new(ErrorKind::NoAnswer))
    }
}

/// Wakes it in this process. A refusal counts as success, because the channel then has what it needs.
pub(crate) async fn wake_here(
    runtime: &Arc<Runtime>,
    channel: ChannelId,
    first: Option<AgentKey>,
) -> Result<(), ApiError> {
    let wake = Input::Wake { first, cause: WakeCause::Result };
    let room = match runtime.room(channel).await {
        Ok(Some(room)) => room,
        Ok(None) => return Ok(()),
        Err(CallError::Failed(error)) => return Err(error),
        Err(error) => return Err(ApiError::new(ErrorKind::Store).with_source(error)),
    };
    let woken = runtime.update_cell(&room, None, |state, cx, now| {
        let (answer, stamp) = state.room.input(cx, now, &wake, false);
        answer.map(|_| state.wait_for(Awaited::Stored(stamp)))
    });
    let stored = match woken {
        Ok(stored) => stored,
        // The channel is archived, or has no turns, so no wake is missing.
        Err(refusal) => {
            tracing::debug!(%channel, %refusal, "a result did not wake its channel");
            return Ok(());
        }
    };
    // A store that hangs must not delay the process that asks for longer than any other call does.
    let stored = runtime.within(runtime.settings.time_limits.call, stored).await?;
    stored.map_err(|_| ApiError::new(ErrorKind::Store))
}
