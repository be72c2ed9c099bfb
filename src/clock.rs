//! The only door through which time comes in.

use std::time::Duration;

use async_trait::async_trait;
use dirigent_core::Timestamp;

/// Tells the time and waits. The driver asks nothing else for time.
///
/// ```
/// use dirigent::{Clock, SystemClock};
/// assert!(SystemClock::new().now().as_millis() > 1_700_000_000_000);
/// ```
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// Now, in milliseconds since the Unix epoch.
    fn now(&self) -> Timestamp;

    /// Waits until `deadline`; returns at once when it has passed.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends the wait and has no other effect.
    async fn sleep_until(&self, deadline: Timestamp);
}

/// The machine's clock: wall-clock time read once, then carried on by the monotonic clock, so that
/// it never steps while the process runs. Waiting uses tokio's timer.
///
/// ```
/// use dirigent::{Clock, SystemClock};
/// let clock = SystemClock::new();
/// assert!(clock.now() <= clock.now());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    /// The wall clock's reading at `origin`.
    started: Timestamp,
    /// The monotonic reading that belongs to it.
    origin: std::time::Instant,
}

impl SystemClock {
    /// Reads the wall clock once.
    #[expect(clippy::disallowed_methods, reason = "this is where time comes in")]
    pub fn new() -> Self {
        let unix = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or(Duration::ZERO);
        Self { started: Timestamp::from_millis(0) + unix, origin: std::time::Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        self.started + self.origin.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this is where waiting happens")]
    async fn sleep_until(&self, deadline: Timestamp) {
        let remaining = deadline.since(self.now());
        if !remaining.is_zero() {
            tokio::time::sleep(remaining).await;
        }
    }
}
