//! Calls that return when a change is stored for good.

use std::sync::Arc;

use dirigent_core::Input;
use tokio::sync::oneshot;

use crate::CallError;
use crate::runtime::Runtime;
use crate::runtime::cell::{Awaited, RoomCell};
use crate::values::error::{ApiError, ErrorKind};
use crate::values::stage::DriverStage;

/// Why a change that is in force is not known to be stored.
pub(crate) enum NotKept {
    /// The store has not taken it in time.
    Late(ApiError),
    /// Another process has the channel, without the change as far as this one knows.
    TakenOver,
    /// The driver has ended before the store has taken it.
    Ended,
}

/// Waits for the store, for as long as a call may take.
#[derive(Clone, Copy)]
pub(crate) struct Storing<'a> {
    pub(crate) runtime: &'a Runtime,
}

impl Storing<'_> {
    /// Tells the room, and waits until that is stored.
    pub(crate) async fn fact(self, room: &Arc<RoomCell>, input: &Input) -> Result<(), CallError> {
        let stored = self.runtime.update_cell(room, None, |state, cx, now| {
            let (answer, stamp) = state.room.input(cx, now, input, true);
            answer.map(|_| state.wait_for(Awaited::Stored(stamp)))
        })?;
        self.wait(stored).await
    }

    /// Waits until all that is in force in the room is stored.
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
            // The answer to an earlier commit may have been lost: the next process may know of the change.
            NotKept::TakenOver => {
                let error = ApiError::new(ErrorKind::Store);
                error.with_source("the channel was taken over by another process").into()
            }
        })
    }

    /// The same, with the reason why it is not known to be stored.
    pub(crate) async fn outcome(self, stored: oneshot::Receiver<()>) -> Result<(), NotKept> {
        let stored = self.runtime.within(self.runtime.settings.time_limits.call, stored);
        tokio::select! {
            biased;
            stored = stored => stored.map_err(NotKept::Late)?.map_err(|_| NotKept::TakenOver),
            // Without a driver nothing is stored any more.
            () = self.runtime.life.until(DriverStage::Ended) => Err(NotKept::Ended),
        }
    }
}
