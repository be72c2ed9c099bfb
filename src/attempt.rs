//! One request, repeated where that is certain to be harmless.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use dirigent_core::{MessageId, Settlement, Timestamp};

use crate::shared::Shared;
use crate::{
    ApiError, Certainty, ChatMessage, DiscordApi, ErrorKind, HistoryRequest, Post, Posted, UserId,
};

/// The wait before the first repetition, where nobody said how long.
const BACK_OFF: Duration = Duration::from_millis(500);

/// How long a chat surely remembers a nonce; Discord says "a few minutes".
const NONCE_KEPT: Duration = Duration::from_secs(120);

/// Whether the chat may have forgotten a nonce that was used at that time. A clock that was set back
/// says nothing.
pub(crate) fn is_forgotten(used: Timestamp, now: Timestamp) -> bool {
    now < used || now.since(used) >= NONCE_KEPT
}

/// What is known of a post before it is made.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// It may be in the channel since then: an earlier process did not tell.
    pub(crate) in_doubt: Option<Timestamp>,
    /// This account's same words after this message are it.
    pub(crate) own: Option<(UserId, Option<MessageId>)>,
}

impl Known {
    /// Whether this message is the post.
    pub(crate) fn is_in(&self, message: &ChatMessage, content: &str, nonce: &str) -> bool {
        let said = |(user, after)| {
            message.author == user
                && Some(message.id) > after
                && message.content.trim() == content.trim()
        };
        message.nonce.as_deref() == Some(nonce) || self.own.is_some_and(said)
    }
}

/// What the chat would answer to a post before the time it said.
fn barred(wait: Duration, in_doubt: bool) -> ApiError {
    let error = ApiError::new(ErrorKind::RateLimited).with_retry_after(wait);
    if in_doubt { error.with_certainty(Certainty::Unknown) } else { error }
}

impl Shared {
    /// Posts, and repeats with the same nonce while the chat surely knows it. When it stays in doubt,
    /// the history is asked.
    pub(crate) async fn post(
        &self,
        discord: &dyn DiscordApi,
        post: Post,
        known: Known,
    ) -> Result<Posted, ApiError> {
        let now = self.clock.now();
        let forgotten = match known.in_doubt {
            Some(used) if is_forgotten(used, now) => now,
            Some(used) => used + NONCE_KEPT,
            None => now + NONCE_KEPT,
        };
        let give_up = forgotten.min(now + self.settings.work_deadline);
        let in_doubt = known.in_doubt.is_some();
        let account = known.own.map(|(user, _)| user);
        let failed = match self.pacer.barred_until(now, post.channel, account) {
            Some(until) if until >= give_up => barred(until.since(now), in_doubt),
            until => {
                if let Some(until) = until {
                    self.clock.sleep_until(until).await;
                }
                let attempt = || discord.post(post.clone());
                match self.repeat_until(give_up, in_doubt, attempt).await {
                    Ok(posted) => return Ok(posted),
                    Err(failed) => failed,
                }
            }
        };
        if let Some(wait) = failed.retry_after() {
            let now = self.clock.now();
            self.pacer.bar(now, post.channel, account, now + wait);
        }
        if failed.certainty() == Certainty::Unknown {
            let request = HistoryRequest { channel: post.channel, after: None, limit: 100 };
            let seen = self.repeat(|| discord.history(request)).await;
            let ours = seen.ok().and_then(|mut messages| {
                messages.sort_unstable_by_key(|message| message.id);
                let nonce = post.nonce.as_str();
                messages.into_iter().find(|m| known.is_in(m, &post.content, nonce))
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
        self.repeat_until(give_up, false, request).await
    }

    async fn repeat_until<T, F>(
        &self,
        give_up: Timestamp,
        mut in_doubt: bool,
        request: impl Fn() -> F,
    ) -> Result<T, ApiError>
    where
        F: Future<Output = Result<T, ApiError>>,
    {
        let mut back_off = BACK_OFF;
        for attempt in 0.. {
            let remaining = give_up.since(self.clock.now());
            let late = in_doubt.then_some(give_up);
            let asked = self.unless_late(late, request());
            let error = match self.within(remaining, asked).await.and_then(|result| result) {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            in_doubt |= error.certainty() == Certainty::Unknown;
            let next = self.clock.now() + error.retry_after().unwrap_or(back_off);
            back_off = back_off.saturating_mul(2);
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

    /// A repetition is not carried on when it is too late: the machine may have slept in the midst
    /// of it, and the chat forgotten its nonce.
    async fn unless_late<T>(
        &self,
        late: Option<Timestamp>,
        request: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let mut request = pin!(request);
        poll_fn(|context| {
            if late.is_some_and(|late| self.clock.now() >= late) {
                return Poll::Ready(Err(ApiError::new(ErrorKind::NoAnswer)));
            }
            request.as_mut().poll(context)
        })
        .await
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
