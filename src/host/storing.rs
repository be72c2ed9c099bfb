//! Calls that return when a change is stored durably.

use std::sync::Arc;

use dirigent_core::Input;
use tokio::sync::oneshot;

use crate::CallError;
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

/// Waits for the store, for at most the time that a call may take.
#[derive(Clone, Copy)]
pub(crate) struct Storing<'a> {
    pub(crate) runtime: &'a Runtime,
}

impl Storing<'_> {
    /// Passes the input to the room, and waits until the new state is stored.
    pub(crate) async fn fact(self, room: &Arc<RoomCell>, input: &Input) -> Result<(), CallError> {
        let stored = self.runtime.update_cell(room, None, |state, cx, now| {
            let (answer, stamp) = state.room.input(cx, now, input, true);
            answer.map(|_| state.wait_for(Awaited::Stored(stamp)))
        })?;
        self.wait(stored).await
    }

    /// Waits until the whole current state of the room is stored.
    pub(crate) async fn newest(self, room: &Arc<RoomCell>) -> Result<(), CallError> {
        let stored = self.runtime.update_cell(room, None, |state, _, _| {
            state.wait_for(Awaited::Stored(state.room.look().commit().newest()))
        });
        self.wait(stored).await
    }

    /// Waits until a change that is in force is stored.
    pub(crate) async fn wait(self, stored: oneshot::Receiver<()>) -> Result<(), CallError> {
        self.outcome(stored).await.map_err(|why| match why {
            NotKept::Late(_) => CallError::NotStored,
            NotKept::Ended => CallError::Ended(self.runtime.life.end()),
            // The answer to an earlier commit may have been lost, so the next process may know the change.
            NotKept::TakenOver => {
                let error = ApiError::new(ErrorKind::Store);
                error.with_source("the channel was taken over by another process").into()
            }
        })
    }

    /// Waits like [`wait`](Self::wait), and returns the reason if it is unknown whether the change is stored.
    pub(crate) async fn outcome(self, stored: oneshot::Receiver<()>) -> Result<(), NotKept> {
        let stored = self.runtime.within(self.runtime.settings.time_limits.call, stored);
        tokio::select! {
            biased;
            stored = stored => stored.map_err(NotKept::Late)?.map_err(|_| NotKept::TakenOver),
            // Without a driver the store gets no more commits.
            () = self.runtime.life.until(DriverStage::Ended) => Err(NotKept::Ended),
        }
    }
}
