//! How often an agent says that it is there.

use std::time::Duration;

/// After how many missed heartbeats an agent counts as offline: once `period` times `misses` have passed
/// since the newest sign of life of this agent. The default is 30 seconds and 3 misses.
///
/// ```
/// let usual = dirigent::settings::Heartbeat::default();
/// assert_eq!((usual.period.as_secs(), usual.misses), (30, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Heartbeat {
    /// The time between two heartbeats of one agent.
    pub period: Duration,
    /// The number of heartbeats that may be missing; 0 is taken for 1.
    pub misses: u32,
}

impl Heartbeat {
    /// How long an agent may stay silent.
    pub(crate) fn limit(self) -> Duration {
        self.period.saturating_mul(self.misses.max(1))
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { period: Duration::from_secs(30), misses: 3 }
    }
}
