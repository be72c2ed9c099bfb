//! How long a lease lasts, and what follows from that.

use std::time::Duration;

/// The times of leases. All processes on one database must have the same.
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
    /// How long a lease lasts by the clock of the database, from when it was taken or renewed.
    pub ttl: Duration,
    /// How much earlier its holder stops to trust it: what two clocks may differ in one TTL, and how long a post that has been
    /// sent may take to arrive. A tenth of the TTL.
    pub margin: Duration,
    /// How long before the end of its trust nothing new is started: a fifth of the TTL, at most 2 s.
    pub quiet: Duration,
    /// How often leases are renewed: three tenths of the TTL.
    pub renew_every: Duration,
    /// How often the table is looked at for shards that are free, and for processes that came or went: a tenth of the TTL.
    pub look_every: Duration,
    /// How long what is under way may go on in a shard that is to be another process's: half of the TTL.
    pub drain: Duration,
}

impl Terms {
    /// The times that follow from a TTL; 10 s is a good one. The take-over after a kill takes at most the TTL and two tenths of it.
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

    /// How long a lease is trusted from the start of the attempt.
    pub fn trust(&self) -> Duration {
        self.ttl.saturating_sub(self.margin)
    }

    /// How long a row of another process may stand unchanged until nothing trusts it: the TTL and the margin.
    pub fn patience(&self) -> Duration {
        self.ttl + self.margin
    }
}

impl Default for Terms {
    /// A TTL of 10 s.
    fn default() -> Self {
        Self::of(Duration::from_secs(10))
    }
}
