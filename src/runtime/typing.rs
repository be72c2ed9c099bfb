//! Shows that an agent's account is typing while the agent runs.

use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};

use super::Runtime;
use crate::ports::turn_link::TurnLink;
use crate::settings::limits::WORK_TIME;
use crate::values::error::ErrorKind;
use crate::{ChannelId, DiscordApi};

/// The interval of typing indicators. One lasts ten seconds, and the next comes a little before its end.
const AGAIN_AFTER: Duration = Duration::from_secs(8);

impl Runtime {
    pub(super) async fn while_typing<T>(
        &self,
        channel: ChannelId,
        link: &TurnLink,
        discord: &dyn DiscordApi,
        speaking: impl Future<Output = T>,
    ) -> T {
        let showing = pin!(self.show_typing(channel, link, discord));
        // The chat may refuse to show typing. The agent is awaited all the same.
        match select(pin!(speaking), showing).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), speaking)) => speaking.await,
        }
    }

    /// Returns when it is no longer useful, because the run was taken away, or the chat refuses it.
    async fn show_typing(&self, channel: ChannelId, link: &TurnLink, discord: &dyn DiscordApi) {
        while !link.is_cancelled() {
            let shown = self.within(WORK_TIME, discord.typing(channel)).await;
            let mut wait = AGAIN_AFTER;
            // Typing is only shown, so its failure must never end the agent's call.
            if let Err(error) = shown.and_then(|shown| shown) {
                tracing::debug!(%channel, %error, "typing is not shown");
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
