//! Decides when a failed action is tried again.

use std::time::Duration;

use dirigent_core::{Settlement, Timestamp};

use crate::values::error::{Certainty, ErrorKind, PostFailure};

/// The time after the start of a post during which it may still arrive in the channel.
pub(crate) const LANDS_WITHIN: Duration = Duration::from_secs(15);
/// How long a part in doubt is repeated with its nonce. A chat surely remembers a nonce for two minutes. The time that
/// a repetition may need to arrive is subtracted from that. Discord says "a few minutes".
pub(crate) const REPEAT_WITHIN: Duration = Duration::from_secs(120 - LANDS_WITHIN.as_secs());

/// Returns whether the chat may have forgotten a nonce that was first used at this time, before a repetition that
/// starts now arrives. After the clock was set back the time since then is unknown, so the nonce counts as forgotten.
pub(crate) fn is_forgotten(used: Timestamp, now: Timestamp) -> bool {
    now < used || now.since(used) >= REPEAT_WITHIN
}

/// Returns the first use of a nonce after the clock was set back by at least this much. The nonce then counts as
/// forgotten.
pub(crate) fn aged(used: Timestamp, by: Duration) -> Timestamp {
    used.saturating_sub(by + REPEAT_WITHIN)
}

/// The reason why an attempt at the chat or the store failed, and what it proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) kind: ErrorKind,
    /// The chat's own number for it.
    pub(crate) code: Option<u64>,
    /// Says whether the request may have been carried out.
    pub(crate) certainty: Certainty,
    /// The time to wait before the next attempt, if the other side said so.
    pub(crate) retry_after: Option<Duration>,
    /// The time when the attempt was decided.
    pub(crate) began: Timestamp,
}

/// The longest wait that the chat or the pace may ask for.
pub(crate) const LIMIT_MAX: Duration = Duration::from_secs(300);

/// The meaning of a failure for the next attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The same request would fail again.
    Definite,
    /// The chat asks to wait for this time.
    Limited(Duration),
    /// The other side does not answer, or has a server error.
    Away,
}

impl Failure {
    pub(crate) const fn post_failure(&self) -> PostFailure {
        PostFailure { kind: self.kind, code: self.code }
    }

    pub(crate) fn trouble(&self) -> Trouble {
        match self.kind {
            ErrorKind::RateLimited => Trouble::Limited(self.retry_after.unwrap_or(FIRST_WAIT)),
            ErrorKind::Unavailable | ErrorKind::NoAnswer | ErrorKind::Store => Trouble::Away,
            // The same request would fail again, and Discord counts 401 and 403 towards a ban.
            ErrorKind::Gone
            | ErrorKind::Forbidden
            | ErrorKind::Unauthorized
            | ErrorKind::Invalid
            | ErrorKind::Unsupported => Trouble::Definite,
        }
    }

    /// Returns whether no further attempt is made, because it would fail again, or would have to wait too long.
    pub(crate) fn is_final(&self) -> bool {
        match self.trouble() {
            Trouble::Definite => true,
            Trouble::Limited(wait) => wait > LIMIT_MAX,
            Trouble::Away => false,
        }
    }

    pub(crate) fn settlement(&self, now: Timestamp) -> Settlement {
        match self.certainty {
            Certainty::NotDone => {
                Settlement::Failed { retry_at: self.retry_after.map(|wait| now + wait) }
            }
            Certainty::Unknown => Settlement::Doubtful,
        }
    }
}

/// The wait before the second attempt at a request, if the other side did not say how long.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The shortest wait between two attempts, even if the other side asks for none, because such a chat would keep the
/// driver busy with nothing else.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);
/// The longest wait between two attempts, if the other side did not say how long.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The attempts at one request: how many failed, and when the next one may be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attempts {
    failed: u32,
    /// The number of times that the wait was doubled. A wait that the other side asked for does not count.
    doubled: u32,
    next_at: Option<Timestamp>,
    /// `true` if the other side asked for that wait.
    is_asked: bool,
}

impl Attempts {
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.next_at.is_none_or(|next| next <= now)
    }

    pub(crate) const fn next_at(&self) -> Option<Timestamp> {
        self.next_at
    }

    pub(crate) const fn failed(&self) -> u32 {
        self.failed
    }

    /// Records that an attempt failed. The next wait is twice as long as the last one, but at least as long as the
    /// other side asked for.
    pub(crate) fn back_off(&mut self, now: Timestamp, retry_after: Option<Duration>) {
        self.back_off_between(now, retry_after, FIRST_WAIT, LONGEST_WAIT);
    }

    pub(crate) fn back_off_between(
        &mut self,
        now: Timestamp,
        retry_after: Option<Duration>,
        first: Duration,
        longest: Duration,
    ) {
        self.failed = self.failed.saturating_add(1);
        self.is_asked = retry_after.is_some();
        let wait = retry_after.unwrap_or_else(|| {
            let doubled = first.saturating_mul(1 << self.doubled.min(16)).min(longest);
            // A wait that the other side chose does not count, so the doubling goes on from where it was.
            self.doubled = self.doubled.saturating_add(1);
            doubled
        });
        self.next_at = Some(now + wait.max(SHORTEST_WAIT));
    }

    pub(crate) const fn wait_until(&mut self, at: Timestamp) {
        self.next_at = Some(at);
        self.is_asked = true;
    }

    /// Allows the next attempt at once, unless the other side asked to wait.
    pub(crate) const fn retry_now(&mut self) {
        // A 429 once counted as the end of an outage, and two refused reads then took turns without end.
        if !self.is_asked {
            self.next_at = None;
        }
    }

    /// Shifts the wait back after the clock was set back by this much, so that the rest of the wait stays the same.
    pub(crate) fn move_back(&mut self, by: Duration) {
        if let Some(next) = &mut self.next_at {
            *next = next.saturating_sub(by);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn even_where_the_other_side_asks_for_no_wait_there_is_one() {
        let mut attempts = Attempts::default();
        attempts.back_off(NOW, Some(Duration::ZERO));
        assert!(!attempts.is_due(NOW) && attempts.is_due(NOW + SECOND));
    }

    fn failure(kind: ErrorKind, retry_after: Option<Duration>) -> Failure {
        Failure { kind, code: None, certainty: Certainty::NotDone, retry_after, began: NOW }
    }

    #[test]
    fn what_would_fail_again_or_have_to_wait_for_too_long_is_not_tried_again() {
        let limited = |wait| failure(ErrorKind::RateLimited, Some(wait)).is_final();
        assert!(!limited(LIMIT_MAX) && limited(LIMIT_MAX + SECOND));
        assert!(failure(ErrorKind::Forbidden, None).is_final());
        assert!(!failure(ErrorKind::NoAnswer, None).is_final());
    }

    #[test]
    fn the_return_of_the_chat_shortens_no_wait_that_it_asked_for() {
        let mut attempts = Attempts::default();
        attempts.back_off(NOW, None);
        attempts.retry_now();
        assert!(attempts.is_due(NOW));
        attempts.back_off(NOW, Some(SECOND * 60));
        attempts.retry_now();
        assert!(!attempts.is_due(NOW + SECOND * 59) && attempts.is_due(NOW + SECOND * 60));
        attempts.wait_until(NOW + SECOND * 90);
        attempts.retry_now();
        assert!(!attempts.is_due(NOW + SECOND * 89));
    }
}
