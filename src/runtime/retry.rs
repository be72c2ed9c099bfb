//! Requests outside of any room, at the start and for tools. They are retried if that is harmless.

use std::time::Duration;

use super::Runtime;
use crate::ChannelId;
use crate::ports::discord::HistoryRequest;
use crate::settings::limits::{RETRIES, WORK_TIME};
use crate::values::error::{ApiError, ErrorKind};

/// The wait before the first retry, if the other side did not say how long.
const BACK_OFF: Duration = Duration::from_millis(500);

/// The time that the chat has to say whether a channel exists. A slash command must be answered within three seconds.
const LOOK_FOR: Duration = Duration::from_secs(1);

impl Runtime {
    /// Returns whether the chat says that there is no such channel. A chat that is away, or that hides the channel,
    /// says no such thing.
    pub(crate) async fn is_gone(&self, channel: ChannelId) -> bool {
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let asked = self.within(LOOK_FOR, async { self.discord.history(request).await }).await;
        matches!(asked, Ok(Err(error)) if error.kind() == ErrorKind::Gone)
    }

    /// Makes the request until it succeeds, cannot succeed, was repeated often enough, or has taken too much time.
    pub(crate) async fn retry<T, F>(&self, request: impl Fn() -> F) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let give_up = self.clock.now() + WORK_TIME;
        let mut back_off = BACK_OFF;
        let mut left = RETRIES;
        loop {
            let remaining = give_up.since(self.clock.now());
            let error = match self.within(remaining, request()).await.and_then(|result| result) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            let next = self.clock.now() + error.retry_after().unwrap_or(back_off);
            back_off = back_off.saturating_mul(2);
            // The other side may ask for a wait that ends after the limit.
            if left == 0 || next >= give_up || !error.kind().is_retryable() {
                return Err(error);
            }
            left -= 1;
            self.clock.sleep_until(next).await;
        }
    }
}
