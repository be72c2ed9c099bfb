//! Calls that return when a change is stored durably.

use std::sync::Arc;

use dirigent_core::Input;
use tokio::sync::oneshot;

use crate::CallError;
use crate::room::commit::Stamp;
use crate::runtime::Runtime;
use crate::runtime::cell::{Awaited, RoomCell};
use crate::values::error::{ApiError, ErrorKind};
use crate::values::stage::DriverStage;

/// The reason why it is unknown whether a change that is in force is stored.
pub(crate) enum NotKept {
    /// The store did not accept the change in time.
    Late(ApiError),
    /// Another process has the channel, as far as this process knows without the change.
    TakenOver,
    /// The driver ended before the store accepted the change.
    Ended,
}

/// Waits for the store, each for at most the time that a call may take.
impl Runtime {
    /// Passes the input to the room, and waits until the new state is stored.
    pub(crate) async fn submit_and_store(
        &self,
        room: &Arc<RoomCell>,
        input: &Input,
    ) -> Result<(), CallError> {
        let stored = self.update_cell(room, None, |state, cx, now| {
            let (answer, stamp) = state.room.input(cx, now, input, true);
            answer.map(|_| state.wait_for(Awaited::Stored(stamp)))
        })?;
        self.until_stored(stored).await
    }

    /// Waits until the whole current state of the room is stored.
    pub(crate) async fn store_newest(&self, room: &Arc<RoomCell>) -> Result<(), CallError> {
        let stored = self.update_cell(room, None, |state, _, _| {
            state.wait_for(Awaited::Stored(state.room.look().commit().newest()))
        });
        self.until_stored(stored).await
    }

    /// Waits until the room's state of this stamp is stored.
    pub(crate) async fn until_stamp_stored(
        &self,
        room: &RoomCell,
        stamp: Stamp,
    ) -> Result<(), CallError> {
        self.until_stored(room.wait_for(Awaited::Stored(stamp))).await
    }

    /// Waits until a change that is in force is stored.
    pub(crate) async fn until_stored(
        &self,
        stored: oneshot::Receiver<()>,
    ) -> Result<(), CallError> {
        self.stored_or_not(stored).await.map_err(|why| match why {
            NotKept::Late(_) => CallError::NotStored,
            NotKept::Ended => CallError::Ended(self.life.end()),
            // The answer to an earlier commit may have been lost, so the next process may know the change.
            NotKept::TakenOver => {
                let error = ApiError::new(ErrorKind::Store);
                error.with_source("the channel was taken over by another process").into()
            }
        })
    }

    /// Waits likewise, and returns the reason if it is unknown whether the change is stored.
    pub(crate) async fn stored_or_not(&self, stored: oneshot::Receiver<()>) -> Result<(), NotKept> {
        let stored = self.within(self.settings.time_limits.call, stored);
        tokio::select! {
            biased;
            stored = stored => stored.map_err(NotKept::Late)?.map_err(|_| NotKept::TakenOver),
            // Without a driver the store gets no more commits.
            () = self.life.until(DriverStage::Ended) => Err(NotKept::Ended),
        }
    }
}
