//! Whether the store takes records, and whether requests wait for their pace. That is said once, not by each channel and with each
//! attempt.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::ChannelId;
use crate::values::error::ApiError;

/// The commits that failed since the last one that was made.
#[derive(Debug, Default)]
pub(crate) struct StoreTrouble {
    /// Looked at with each commit, without the lock.
    is_any: AtomicBool,
    ongoing: Mutex<Option<Ongoing>>,
    limited: Mutex<Limited>,
}

/// Requests that were to wait, since that was said.
#[derive(Debug, Default)]
struct Limited {
    said_at: Option<Timestamp>,
    requests: u64,
}

/// How often it is said that requests are to wait.
const SAID_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Ongoing {
    since: Timestamp,
    attempts: u64,
    why: Arc<str>,
    /// What was said; a store that fails in many ways is not quoted without end.
    said: Vec<Arc<str>>,
}

/// How many causes are said.
const SAID_MAX: usize = 8;

impl StoreTrouble {
    /// Why the newest attempt failed, if none has succeeded since.
    pub(crate) fn why(&self) -> Option<Arc<str>> {
        self.ongoing
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .map(|it| it.why.clone())
    }

    /// A request is to wait: the chat allows no more, or the account's own pace does not. While a process that took over many channels
    /// reads what was said there, that happens to most of them.
    pub(super) fn limited(&self, what: &'static str, channel: ChannelId, now: Timestamp) {
        tracing::debug!(%channel, "a request is to wait: {what}");
        let mut limited = self.limited.lock().unwrap_or_else(PoisonError::into_inner);
        limited.requests += 1;
        if limited.said_at.is_some_and(|at| now.since(at) < SAID_EVERY) {
            return;
        }
        let requests = std::mem::take(&mut limited.requests);
        limited.said_at = Some(now);
        drop(limited);
        tracing::warn!(
            requests,
            "requests are to wait, because the chat allows no more for now; each is made later. The newest: {what}"
        );
    }

    #[cold]
    pub(super) fn failed(&self, channel: ChannelId, error: &ApiError, now: Timestamp) {
        let why: Arc<str> = cause_of(error).into();
        let mut ongoing = self.ongoing.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = || Ongoing { since: now, attempts: 0, why: why.clone(), said: Vec::new() };
        let trouble = ongoing.get_or_insert_with(fresh);
        trouble.attempts += 1;
        trouble.why = why.clone();
        let is_news = !trouble.said.contains(&why) && trouble.said.len() < SAID_MAX;
        if is_news {
            trouble.said.push(why.clone());
        }
        drop(ongoing);
        self.is_any.store(true, Ordering::Release);
        if is_news {
            tracing::warn!(
                %channel,
                "the store takes no record: {why}. Nothing is posted before it is stored; it is tried until it succeeds, also for other \
                 channels"
            );
        }
    }

    /// A record was stored.
    pub(super) fn succeeded(&self, now: Timestamp) {
        if !self.is_any.load(Ordering::Acquire) || !self.is_any.swap(false, Ordering::AcqRel) {
            return;
        }
        let over = self.ongoing.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Ongoing { since, attempts, .. }) = over {
            let seconds = now.since(since).as_secs();
            tracing::info!(failed_attempts = attempts, seconds, "the store takes records again");
        }
    }
}

/// The innermost words of an error, which hold no message text and no secret ([`ApiError::with_source`]).
fn cause_of(error: &ApiError) -> String {
    let mut source = error.source();
    if source.is_none() {
        return error.to_string();
    }
    let mut text = String::new();
    while let Some(cause) = source {
        let colon = if text.is_empty() { "" } else { ": " };
        let _ = write!(text, "{colon}{cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::values::error::ErrorKind;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);

    fn failure(why: &str) -> ApiError {
        ApiError::new(ErrorKind::Store).with_source(why.to_owned())
    }

    #[test]
    fn why_the_store_takes_nothing_is_known_until_it_takes_something() {
        let trouble = StoreTrouble::default();
        trouble.succeeded(NOW);
        assert_eq!(trouble.why(), None);
        for (number, why) in (1..).zip(["the disk is full", "the disk is full", "no connection"]) {
            trouble.failed(ChannelId::new(number), &failure(why), NOW);
            assert_eq!(trouble.why().as_deref(), Some(why));
        }
        let counted = {
            let ongoing = trouble.ongoing.lock().unwrap();
            ongoing.as_ref().map(|it| (it.attempts, it.said.len()))
        };
        assert_eq!(counted, Some((3, 2)), "each cause is said once");
        trouble.succeeded(NOW + Duration::from_secs(3));
        assert_eq!(trouble.why(), None);
    }

    #[test]
    fn requests_that_are_to_wait_are_said_once_a_minute_with_their_number() {
        let trouble = StoreTrouble::default();
        let waiting = || trouble.limited.lock().unwrap().requests;
        for (after, unsaid) in [(0, 0), (1, 1), (59, 2), (60, 0), (61, 1)] {
            trouble.limited("the history", ChannelId::new(7), NOW + Duration::from_secs(after));
            assert_eq!(waiting(), unsaid, "after {after} s");
        }
    }

    #[test]
    fn a_cause_is_told_with_what_is_behind_it_and_without_a_cause_the_kind() {
        let inner = std::io::Error::other(failure("the disk is full"));
        let error = ApiError::new(ErrorKind::Store).with_source(inner);
        assert!(cause_of(&error).ends_with("the disk is full"), "{}", cause_of(&error));
        let bare = ApiError::new(ErrorKind::Store);
        assert!(cause_of(&bare).contains("the store could not read or write"));
    }
}
