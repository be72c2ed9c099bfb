//! One request, repeated where that is certain to be harmless.

use std::time::Duration;

use dirigent_core::{MessageId, Settlement, Timestamp};

use crate::shared::Shared;
use crate::{ApiError, Certainty, DiscordApi, ErrorKind, HistoryRequest, Post, Posted};

/// The wait before the first repetition, where nobody said how long.
const BACK_OFF: Duration = Duration::from_millis(500);

impl Shared {
    /// Posts, and repeats with the same nonce while that may help. When it stays in doubt, the
    /// history is asked.
    pub(crate) async fn post(
        &self,
        discord: &dyn DiscordApi,
        post: Post,
    ) -> Result<Posted, ApiError> {
        let failed = match self.repeat(|| discord.post(post.clone())).await {
            Ok(posted) => return Ok(posted),
            Err(failed) => failed,
        };
        if failed.certainty() == Certainty::Unknown {
            let request = HistoryRequest { channel: post.channel, after: None, limit: 100 };
            let seen = self.within(self.settings.work_deadline, discord.history(request)).await;
            let ours = seen.and_then(|seen| seen).ok().and_then(|messages| {
                messages.into_iter().find(|m| m.nonce.as_deref() == Some(post.nonce.as_str()))
            });
            if let Some(message) = ours {
                return Ok(Posted { id: message.id, deduplicated: true });
            }
        }
        Err(failed)
    }

    /// Deletes; what is gone already counts as deleted.
    pub(crate) async fn delete(
        &self,
        channel: crate::ChannelId,
        message: MessageId,
    ) -> Result<(), ApiError> {
        match self.repeat(|| self.discord.delete(channel, message)).await {
            Err(error) if error.kind() == ErrorKind::Gone => Ok(()),
            result => result,
        }
    }

    /// Makes the request until it succeeds, cannot succeed, or too much time has passed.
    pub(crate) async fn repeat<T, F>(&self, request: impl Fn() -> F) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let give_up = self.clock.now() + self.settings.work_deadline;
        let mut in_doubt = false;
        let mut back_off = BACK_OFF;
        for attempt in 0.. {
            let remaining = give_up.since(self.clock.now());
            let error = match self.within(remaining, request()).await.and_then(|result| result) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            in_doubt |= error.certainty() == Certainty::Unknown;
            let next = self.clock.now() + error.retry_after().unwrap_or(back_off);
            back_off *= 2;
            let again = error.kind().is_worth_repeating()
                && attempt < self.settings.retries
                && next < give_up;
            if !again {
                let doubt = if in_doubt { Certainty::Unknown } else { error.certainty() };
                return Err(error.with_certainty(doubt));
            }
            self.clock.sleep_until(next).await;
            if self.clock.now() >= give_up {
                // The machine slept: by now a nonce may be forgotten.
                let doubt = if in_doubt { Certainty::Unknown } else { error.certainty() };
                return Err(error.with_certainty(doubt));
            }
        }
        Err(ApiError::new(ErrorKind::NoAnswer))
    }

    /// How a failed request settles a debt.
    pub(crate) fn settlement(&self, error: &ApiError) -> Settlement {
        let now: Timestamp = self.clock.now();
        match error.certainty() {
            Certainty::NotDone => {
                Settlement::Failed { retry_at: error.retry_after().map(|wait| now + wait) }
            }
            Certainty::Unknown => Settlement::Doubtful,
        }
    }
}
