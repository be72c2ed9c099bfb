//! The TTL of a lease, and the times that follow from it.

use std::time::Duration;

/// The times of leases. All processes on one database must use the same.
///
/// ```
/// use std::time::Duration;
/// use dirigent_cluster::lease::Terms;
///
/// let terms = Terms::of(Duration::from_secs(10));
/// assert_eq!(terms.renew_every, Duration::from_secs(3));
/// assert_eq!((terms.margin, terms.quiet), (Duration::from_secs(1), Duration::from_secs(2)));
/// assert_eq!(terms.trust(), Duration::from_secs(9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Terms {
    /// The lifetime of a lease by the database's clock, from the moment at which it was taken or renewed.
    pub ttl: Duration,
    /// The holder stops trusting the lease this much earlier: a tenth of the TTL. It covers the drift of two clocks
    /// within one TTL, and the time that a sent post needs to arrive.
    pub margin: Duration,
    /// For this long before the trust ends no new turn starts: a fifth of the TTL, at most 2 s.
    pub quiet: Duration,
    /// The interval between renewals: three tenths of the TTL.
    pub renew_every: Duration,
    /// The interval between looks for free shards, and for processes that came or left: a tenth of the TTL.
    pub look_every: Duration,
    /// Running work may go on for this long in a shard before another process gets it: half of the TTL.
    pub drain: Duration,
}

impl Terms {
    /// Derives all times from a TTL, for example 10 s. After a kill, another process takes over within 1.2 TTL.
    pub fn of(ttl: Duration) -> Self {
        Self {
            ttl,
            margin: ttl / 10,
            quiet: (ttl / 5).min(Duration::from_secs(2)),
            renew_every: ttl * 3 / 10,
            look_every: ttl / 10,
            drain: ttl / 2,
        }
    }

    /// Returns how long a lease is trusted, from the start of the attempt that took or renewed it.
    pub fn trust(&self) -> Duration {
        self.ttl.saturating_sub(self.margin)
    }

    /// Returns how long a row of another process must stay unchanged until no process trusts it: TTL + margin.
    pub fn patience(&self) -> Duration {
        self.ttl + self.margin
    }
}

impl Default for Terms {
    /// Uses a TTL of 10 s.
    fn default() -> Self {
        Self::of(Duration::from_secs(10))
    }
}
