//! An agent's account shows that it is typing while the agent runs.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};

use crate::room::{Call, Room};
use crate::shared::Shared;
use crate::{DiscordApi, ErrorKind};

/// What is shown lasts ten seconds; it is shown again a little before.
const AGAIN_AFTER: Duration = Duration::from_secs(8);

impl Shared {
    /// Waits for the agent, and shows meanwhile that it is typing.
    pub(crate) async fn while_typing<T>(
        &self,
        room: &Arc<Room>,
        call: &Call,
        discord: &dyn DiscordApi,
        speaking: impl Future<Output = T>,
    ) -> T {
        let showing = pin!(self.show_typing(room, call, discord));
        match select(pin!(speaking), showing).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), speaking)) => speaking.await,
        }
    }

    /// Returns when it is of no use any more: the run was taken away, or the chat does not want it.
    async fn show_typing(&self, room: &Room, call: &Call, discord: &dyn DiscordApi) {
        while !call.link.is_cancelled() {
            let shown = self.within(self.settings.work_deadline, discord.typing(room.id)).await;
            let mut wait = AGAIN_AFTER;
            if let Err(error) = shown.and_then(|shown| shown) {
                tracing::debug!(channel = %room.id, %error, "typing is not shown");
                match error.kind() {
                    ErrorKind::RateLimited | ErrorKind::Unavailable | ErrorKind::NoAnswer => {
                        wait = wait.max(error.retry_after().unwrap_or_default());
                    }
                    ErrorKind::Gone
                    | ErrorKind::Forbidden
                    | ErrorKind::Unauthorized
                    | ErrorKind::Invalid
                    | ErrorKind::Unsupported
                    | ErrorKind::Store => return,
                }
            }
            self.clock.sleep_until(self.clock.now() + wait).await;
        }
    }
}
