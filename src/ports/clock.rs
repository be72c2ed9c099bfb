//! The only source of time.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dirigent_core::Timestamp;

/// Tells the time, and waits. It is the driver's only source of time, so a test can control it.
///
/// ```
/// use dirigent::{Clock, SystemClock};
/// assert!(SystemClock::new().now().as_millis() > 1_700_000_000_000);
/// ```
#[async_trait]
pub trait Clock: Send + Sync + 'static {
    /// Returns the current time, in milliseconds since the Unix epoch.
    fn now(&self) -> Timestamp;

    /// Waits until `deadline`. Returns at once if it has passed.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, the wait ends without any other effect.
    async fn sleep_until(&self, deadline: Timestamp);
}

/// The smallest lead of the wall clock that counts. A smaller lead only means that the wall clock is being adjusted.
const AHEAD_MIN: Duration = Duration::from_secs(2);
/// The longest single wait. At its end the clock notices whether the machine slept.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

/// The machine's clock. It reads the wall clock once, and then follows the monotonic clock, so that it never goes back
/// while the process runs. It waits with tokio's timer.
///
/// While a machine sleeps, its monotonic clock may stand still. For this reason each reading compares both clocks. If
/// the wall clock is more than 2 seconds ahead, this clock jumps forward to it. A wall clock that is set back has no
/// effect. If the machine sleeps during a wait, the wait ends at most 30 seconds late.
///
/// All values of this type in one process show the same time.
///
/// ```
/// use dirigent::{Clock, SystemClock};
/// let clock = SystemClock::new();
/// assert!(clock.now() <= clock.now());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: &'static Origin,
}

/// The start of the monotonic clock.
#[derive(Debug)]
struct Origin {
    monotonic: Instant,
    course: Course,
}

impl SystemClock {
    /// Returns the clock of this process. The first call reads the wall clock.
    #[expect(clippy::disallowed_methods, reason = "this is where time comes in")]
    pub fn new() -> Self {
        static ORIGIN: OnceLock<Origin> = OnceLock::new();
        let origin = ORIGIN.get_or_init(|| Origin {
            monotonic: Instant::now(),
            course: Course::new(wall_clock()),
        });
        Self { origin }
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
        self.origin.course.now(wall_clock(), self.origin.monotonic.elapsed())
    }

    #[expect(clippy::disallowed_methods, reason = "this is where waiting happens")]
    async fn sleep_until(&self, deadline: Timestamp) {
        loop {
            let remaining = deadline.since(self.now());
            if remaining.is_zero() {
                return;
            }
            tokio::time::sleep(until_next_look(remaining)).await;
        }
    }
}

/// Returns the time until the clock is read again.
fn until_next_look(remaining: Duration) -> Duration {
    remaining.min(LOOK_AGAIN)
}

/// Returns the time since the Unix epoch.
#[expect(clippy::disallowed_methods, reason = "this is where time comes in")]
fn wall_clock() -> Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or(Duration::ZERO)
}

/// Calculates the time from the readings of both clocks.
#[derive(Debug)]
struct Course {
    /// The wall-clock time in milliseconds that is added to the monotonic clock's reading. It only rises.
    base: AtomicU64,
}

impl Course {
    fn new(wall: Duration) -> Self {
        Self { base: AtomicU64::new(millis(wall)) }
    }

    /// Returns the time. `monotonic` counts from the start of this course.
    fn now(&self, wall: Duration, monotonic: Duration) -> Timestamp {
        let (wall, elapsed) = (millis(wall), millis(monotonic));
        let base = self.base.load(Ordering::Acquire);
        let is_ahead = wall > base.saturating_add(elapsed).saturating_add(millis(AHEAD_MIN));
        let base = if is_ahead {
            let ahead = wall.saturating_sub(elapsed);
            // Several threads may see the step at once, and time must not go back.
            self.base.fetch_max(ahead, Ordering::AcqRel).max(ahead)
        } else {
            base
        };
        Timestamp::from_millis(base.saturating_add(elapsed))
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(1_800_000_000);
    /// An hour before the start.
    const SET_BACK: Duration = Duration::from_secs(1_799_996_400);
    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: Duration = Duration::from_secs(3_600);

    fn at(since_start: Duration) -> Timestamp {
        Timestamp::from_millis(0) + START + since_start
    }

    #[test]
    fn a_machine_that_slept_is_noticed_at_the_next_reading() {
        let course = Course::new(START);
        assert_eq!(course.now(START + SECOND, SECOND), at(SECOND));
        assert_eq!(course.now(START + HOUR, SECOND), at(HOUR), "monotonic time stood still");
        let later = SECOND * 3;
        assert_eq!(course.now(START + HOUR + SECOND * 2, later), at(HOUR + SECOND * 2));
    }

    #[test]
    fn a_wall_clock_that_is_set_back_changes_nothing() {
        let course = Course::new(START);
        assert_eq!(course.now(SET_BACK, SECOND), at(SECOND));
        assert_eq!(course.now(SET_BACK, SECOND * 2), at(SECOND * 2));
    }

    #[test]
    fn a_wall_clock_that_is_set_back_after_a_step_forward_changes_nothing() {
        let course = Course::new(START);
        assert_eq!(course.now(START + HOUR, SECOND), at(HOUR));
        assert_eq!(course.now(START + SECOND * 2, SECOND * 2), at(HOUR + SECOND));
    }

    #[test]
    fn small_adjustments_of_the_wall_clock_change_nothing() {
        let course = Course::new(START);
        for (second, off) in (1..).zip([0, 400, 1_999, 2_000, 30, 900]) {
            let elapsed = SECOND * second;
            let wall = START + elapsed + Duration::from_millis(off);
            assert_eq!(course.now(wall, elapsed), at(elapsed), "{off} ms ahead");
        }
    }

    #[test]
    fn time_never_goes_back_whatever_the_wall_clock_shows() {
        let course = Course::new(START);
        let mut last = at(Duration::ZERO);
        for (second, wall) in (0_u32..).zip([5_u32, 2, 3_000, 0, 2_999, 9_000, 1, 9_003]) {
            let now = course.now(START + SECOND * wall, SECOND * second);
            assert!(now >= last, "{now:?} after {last:?}");
            last = now;
        }
    }

    #[test]
    fn a_long_wait_reads_the_clock_twice_a_minute() {
        assert_eq!(until_next_look(SECOND), SECOND);
        assert_eq!(until_next_look(HOUR), SECOND * 30);
    }

    #[tokio::test]
    async fn a_wait_until_a_moment_that_has_passed_ends_at_once() {
        let clock = SystemClock::new();
        clock.sleep_until(Timestamp::from_millis(0)).await;
        assert!(clock.now() <= SystemClock::new().now(), "one clock");
    }
}
