//! Rate limits in force.

use std::time::Duration;

use dirigent::ports::Timestamp;
use dirigent::{ChannelId, Clock, UserId};

use super::hash::IdMap;
use super::ledger::Call;

/// What a limit is for: an account's requests of one kind in one channel.
pub(crate) type LimitKey = (UserId, Call, Option<ChannelId>);

/// What an account was told to wait for.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// When it was told.
    from: Timestamp,
    /// When it may go on.
    until: Timestamp,
}

/// All rate limits.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    by_key: IdMap<LimitKey, Limit>,
}

impl Limits {
    /// How long the account still has to wait. A clock that stepped back ends a limit.
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

    /// Ends all of them.
    pub(crate) fn lift(&mut self) {
        self.by_key.clear();
    }
}
