//! Knows whether the store takes records, and whether requests wait for their pace. Both are logged once, and not for
//! each channel and attempt.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::ChannelId;
use crate::values::error::ApiError;
use crate::values::sync::locked;

/// The commits that failed since the last success.
#[derive(Debug, Default)]
pub(crate) struct StoreTrouble {
    /// Read with each commit, without the lock.
    is_any: AtomicBool,
    ongoing: Mutex<Option<Ongoing>>,
    limited: Mutex<Limited>,
}

#[derive(Debug, Default)]
struct Limited {
    said_at: Option<Timestamp>,
    requests: u64,
}

/// The interval of that log line.
const SAID_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug)]
struct Ongoing {
    since: Timestamp,
    attempts: u64,
    /// The channels with a failed newest attempt, its time and its reason.
    failing: HashMap<ChannelId, (Timestamp, Arc<str>)>,
    /// The causes that were logged. Their number is limited, because a store may fail in many ways.
    said: Vec<Arc<str>>,
}

/// The most channels that are remembered, each with its reason.
const FAILING_MAX: usize = 64;
/// A channel without an attempt for this long does not count as failing, because another process may act for it.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(600);

const SAID_MAX: usize = 8;

impl StoreTrouble {
    /// Returns why the newest attempt of this channel failed, if none has succeeded since.
    pub(crate) fn why(&self, channel: ChannelId) -> Option<Arc<str>> {
        let ongoing = locked(&self.ongoing);
        ongoing.as_ref()?.failing.get(&channel).map(|(_, why)| Arc::clone(why))
    }

    /// Records that a request has to wait, because the chat or the account's own pace allows no more. This happens to
    /// most requests while a process that took over many channels reads their histories.
    pub(super) fn limited(&self, what: &'static str, channel: ChannelId, now: Timestamp) {
        tracing::debug!(%channel, "a request is to wait: {what}");
        let mut limited = locked(&self.limited);
        limited.requests += 1;
        if limited.said_at.is_some_and(|at| now.since(at) < SAID_EVERY) {
            return;
        }
        let requests = std::mem::take(&mut limited.requests);
        limited.said_at = Some(now);
        // The log's subscriber is the host's code, and may use the library.
        drop(limited);
        tracing::warn!(
            requests,
            "requests are to wait, because the chat allows no more for now; each is made later. The newest: {what}"
        );
    }

    #[cold]
    pub(super) fn failed(&self, channel: ChannelId, error: &ApiError, now: Timestamp) {
        let why: Arc<str> = cause_of(error).into();
        let mut ongoing = locked(&self.ongoing);
        let fresh =
            || Ongoing { since: now, attempts: 0, failing: HashMap::new(), said: Vec::new() };
        let trouble = ongoing.get_or_insert_with(fresh);
        trouble.attempts += 1;
        // A store that fails for all channels must not fill memory with their names.
        if trouble.failing.len() < FAILING_MAX || trouble.failing.contains_key(&channel) {
            trouble.failing.insert(channel, (now, Arc::clone(&why)));
        }
        let is_news = !trouble.said.contains(&why) && trouble.said.len() < SAID_MAX;
        if is_news {
            trouble.said.push(why.clone());
        }
        self.is_any.store(true, Ordering::Release);
        drop(ongoing);
        if is_news {
            tracing::warn!(
                %channel,
                "the store takes no record: {why}. Nothing is posted before it is stored; it is tried until it succeeds. Other channels \
                 may have the same trouble, which is not said again"
            );
        }
    }

    /// Records that a record of this channel was stored. The trouble is over once no channel has it.
    pub(super) fn succeeded(&self, channel: ChannelId, now: Timestamp) {
        if !self.is_any.load(Ordering::Acquire) {
            return;
        }
        let mut ongoing = locked(&self.ongoing);
        let Some(trouble) = ongoing.as_mut() else { return };
        trouble.failing.remove(&channel);
        trouble.failing.retain(|_, (at, _)| now.since(*at) < FORGOTTEN_AFTER);
        if !trouble.failing.is_empty() {
            return;
        }
        self.is_any.store(false, Ordering::Release);
        let over = ongoing.take();
        drop(ongoing);
        if let Some(Ongoing { since, attempts, .. }) = over {
            let seconds = now.since(since).as_secs();
            tracing::info!(failed_attempts = attempts, seconds, "the store takes records again");
        }
    }
}

/// Returns the innermost messages of an error. They contain no message text and no secret ([`ApiError::with_source`]).
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
    fn why_the_store_takes_nothing_is_known_of_each_channel_until_it_takes_its_record() {
        let (trouble, [one, two]) = (StoreTrouble::default(), [1, 2].map(ChannelId::new));
        trouble.succeeded(one, NOW);
        assert_eq!(trouble.why(one), None);
        for why in ["the disk is full", "the disk is full", "no connection"] {
            trouble.failed(one, &failure(why), NOW);
            assert_eq!(trouble.why(one).as_deref(), Some(why));
        }
        trouble.failed(two, &failure("no connection"), NOW);
        let counted = || {
            let ongoing = trouble.ongoing.lock().unwrap();
            ongoing.as_ref().map(|it| (it.attempts, it.said.len()))
        };
        assert_eq!(counted(), Some((4, 2)), "each cause is said once");
        trouble.succeeded(two, NOW);
        assert_eq!(trouble.why(two), None);
        assert_eq!(trouble.why(one).as_deref(), Some("no connection"), "it still fails");
        assert_eq!(counted(), Some((4, 2)), "nothing is said again");
        trouble.succeeded(one, NOW + Duration::from_secs(3));
        assert_eq!((trouble.why(one), counted()), (None, None));
    }

    /// Another process may act for it by now.
    #[test]
    fn a_channel_that_is_not_tried_any_more_does_not_keep_the_trouble_alive() {
        let (trouble, [one, two]) = (StoreTrouble::default(), [1, 2].map(ChannelId::new));
        trouble.failed(one, &failure("the disk is full"), NOW);
        trouble.succeeded(two, NOW + FORGOTTEN_AFTER);
        assert_eq!(trouble.why(one), None);
        // Of very many channels not each is remembered, and the trouble ends all the same.
        for number in 0..1_000 {
            trouble.failed(ChannelId::new(number), &failure("no connection"), NOW);
        }
        for number in 0..1_000 {
            trouble.succeeded(ChannelId::new(number), NOW);
        }
        assert!(trouble.ongoing.lock().unwrap().is_none());
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
