//! The current rate limits.

use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{ChannelId, Clock, UserId};

use super::hash::IdMap;
use super::ledger::Call;

/// The key of a limit: an account's requests of one kind in one channel.
pub(crate) type LimitKey = (UserId, Call, Option<ChannelId>);

/// The wait of an account.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// The time at which the wait began.
    from: Timestamp,
    /// The time at which the wait ends.
    until: Timestamp,
}

/// All rate limits.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    by_key: IdMap<LimitKey, Limit>,
}

impl Limits {
    /// Returns the remaining wait of the account. If the clock stepped back, the limit ends.
    pub(crate) fn left(&mut self, clock: &dyn Clock, key: LimitKey) -> Option<Duration> {
        if self.by_key.is_empty() {
            return None;
        }
        let limit = *self.by_key.get(&key)?;
        let now = clock.now();
        if now < limit.from || now >= limit.until {
            self.by_key.remove(&key);
            return None;
        }
        Some(limit.until.since(now))
    }

    pub(crate) fn begin(&mut self, now: Timestamp, key: LimitKey, wait: Duration) {
        self.by_key.insert(key, Limit { from: now, until: now + wait });
    }

    /// Ends all limits.
    pub(crate) fn lift(&mut self) {
        self.by_key.clear();
    }
}
