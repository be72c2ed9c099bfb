//! The result of a discussion wakes the channel that the discussion came from.

use std::sync::Arc;

use dirigent_core::AgentKey;

use super::Runtime;
use super::cell::Awaited;
use crate::values::error::{ApiError, ErrorKind};
use crate::{CallError, ChannelId};
use dirigent_core::{Input, WakeCause};

impl Runtime {
    /// Wakes the callback room of a discussion, in which this agent speaks first. Done when that is stored: a kill in
    /// between wakes twice rather than never.
    pub(super) async fn wake_callback(
        self: &Arc<Self>,
        channel: ChannelId,
        first: Option<AgentKey>,
    ) -> Result<(), ApiError> {
        let wake = Input::Wake { first, cause: WakeCause::Result };
        let room = match self.room(channel).await {
            Ok(Some(room)) => room,
            Ok(None) => return Ok(()),
            Err(CallError::Failed(error)) => return Err(error),
            Err(error) => return Err(ApiError::new(ErrorKind::Store).with_source(error)),
        };
        let woken = self.update_cell(&room, None, |state, cx, now| {
            let (answer, stamp) = state.room.input(cx, now, &wake, false);
            answer.map(|_| state.wait_for(Awaited::Stored(stamp)))
        });
        let stored = match woken {
            Ok(stored) => stored,
            Err(refusal) => {
                tracing::debug!(%channel, %refusal, "a result did not wake its channel");
                return Ok(());
            }
        };
        stored.await.map_err(|_| ApiError::new(ErrorKind::Store))
    }
}
