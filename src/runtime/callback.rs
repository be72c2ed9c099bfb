//! The result of a discussion wakes the channel that the discussion came from.

use std::sync::Arc;

use dirigent_core::AgentKey;

use super::Runtime;
use super::cell::Awaited;
use super::perform::{Limits, failed};
use crate::room::action::Outcome;
use crate::{ApiError, CallError, ChannelId, ErrorKind, Input, WakeCause};

impl Runtime {
    /// Wakes the callback room of a discussion, in which this agent speaks first.
    pub(super) async fn wake_callback(
        self: &Arc<Self>,
        room: ChannelId,
        first: Option<AgentKey>,
        limits: &Limits,
    ) -> Outcome {
        let wake = Input::Wake { first, cause: WakeCause::Result };
        let waking = Box::pin(self.wake_room(room, &wake));
        match limits.keep(self.clock.as_ref(), waking).await {
            Ok(Ok(())) => Outcome::RoomWoken,
            Ok(Err(error)) | Err(error) => failed(room, "a callback room", &error, limits),
        }
    }

    /// Wakes the callback room of a discussion. Done when that is stored: a kill in between wakes twice
    /// rather than never.
    async fn wake_room(self: &Arc<Self>, channel: ChannelId, wake: &Input) -> Result<(), ApiError> {
        let room = match self.room(channel).await {
            Ok(Some(room)) => room,
            Ok(None) => return Ok(()),
            Err(CallError::Failed(error)) => return Err(error),
            Err(error) => return Err(ApiError::new(ErrorKind::Store).with_source(error)),
        };
        let woken = self.update_cell(&room, None, |state, cx, now| {
            let (answer, stamp) = state.room.input(cx, now, wake, false);
            answer.map(|_| state.wait_for(Awaited::Stored(stamp)))
        });
        let stored = match woken {
            Ok(stored) => stored,
            Err(refusal) => {
                tracing::debug!(%channel, %refusal, "a result wakes no room");
                return Ok(());
            }
        };
        stored.await.map_err(|_| ApiError::new(ErrorKind::Store))
    }
}
