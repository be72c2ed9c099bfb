//! The contract that every [`Clock`] keeps. No check waits for real time.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;

use super::report::{ContractReport, Failures, Outcome, checks, ensure, equal, left_out};

/// A clock and, if possible, a way to let its time pass. Call the suite within a runtime if your
/// clock needs one.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use dirigent::Clock;
/// use dirigent_testkit::{ManualClock, contract};
///
/// struct Manual(ManualClock);
///
/// impl contract::ClockHarness for Manual {
///     fn clock(&self) -> Arc<dyn Clock> {
///         Arc::new(self.0.clone())
///     }
///     fn pass(&self, by: Duration) -> bool {
///         self.0.advance(by);
///         true
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), contract::Failures> {
/// contract::clock(&Manual(ManualClock::new())).await?;
/// # Ok(())
/// # }
/// ```
pub trait ClockHarness: Send + Sync {
    /// Returns the clock.
    fn clock(&self) -> Arc<dyn Clock>;

    /// Lets time pass at once, and wakes the tasks that waited for it. Return `false` and do
    /// nothing if you cannot, and some checks are left out.
    fn pass(&self, by: Duration) -> bool {
        let _ = by;
        false
    }
}

/// Runs all checks of the contract.
///
/// # Errors
///
/// Returns the checks that failed.
pub async fn clock(harness: &dyn ClockHarness) -> Result<ContractReport, Failures> {
    let mut report = ContractReport::new("clock");
    checks!(report, harness;
        time_does_not_fall,
        a_deadline_that_has_passed_is_not_waited_for,
        a_deadline_to_come_is_waited_for,
        the_end_of_time_is_waited_for,
        a_dropped_wait_leaves_nothing_behind,
    );
    if harness.pass(Duration::ZERO) {
        checks!(report, harness;
            time_that_passes_shows,
            a_wait_ends_at_its_deadline_and_not_before,
            waits_do_not_disturb_each_other,
        );
    } else {
        left_out!(report;
            time_that_passes_shows,
            a_wait_ends_at_its_deadline_and_not_before,
            waits_do_not_disturb_each_other,
        );
    }
    report.finish()
}

const HOUR: Duration = Duration::from_secs(3_600);

async fn time_does_not_fall(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let mut last = clock.now();
    for _ in 0..1_000 {
        let now = clock.now();
        ensure(now >= last, "a later reading is earlier")?;
        last = now;
    }
    Ok(())
}

async fn a_deadline_that_has_passed_is_not_waited_for(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    for deadline in [Timestamp::from_millis(0), clock.now().saturating_sub(HOUR), clock.now()] {
        let mut wait = clock.sleep_until(deadline);
        let ended = Flag::default().poll(wait.as_mut()).is_ready();
        ensure(ended, &format!("at {:?} it waits for {deadline:?}", clock.now()))?;
    }
    Ok(())
}

async fn a_deadline_to_come_is_waited_for(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let mut wait = clock.sleep_until(clock.now() + HOUR);
    let flag = Flag::default();
    for _ in 0..3 {
        ensure(flag.poll(wait.as_mut()).is_pending(), "a wait of an hour ended at once")?;
    }
    ensure(!flag.is_raised(), "a wait of an hour woke its task at once")
}

async fn the_end_of_time_is_waited_for(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let mut wait = clock.sleep_until(Timestamp::from_millis(u64::MAX));
    ensure(Flag::default().poll(wait.as_mut()).is_pending(), "the end of time came at once")
}

async fn a_dropped_wait_leaves_nothing_behind(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let flag = Flag::default();
    let mut dropped = clock.sleep_until(clock.now() + HOUR);
    ensure(flag.poll(dropped.as_mut()).is_pending(), "a wait of an hour ended at once")?;
    drop(dropped);
    harness.pass(HOUR * 2);
    ensure(!flag.is_raised(), "a dropped wait woke its task")
}

async fn time_that_passes_shows(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let before = clock.now();
    harness.pass(HOUR);
    ensure(clock.now() >= before + HOUR, "an hour passed and does not show")
}

async fn a_wait_ends_at_its_deadline_and_not_before(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let flag = Flag::default();
    let mut wait = pin!(clock.sleep_until(clock.now() + HOUR));
    ensure(flag.poll(wait.as_mut()).is_pending(), "a wait of an hour ended at once")?;
    harness.pass(HOUR / 2);
    ensure(flag.poll(wait.as_mut()).is_pending(), "a wait of an hour ended after half of it")?;
    flag.lower();
    harness.pass(HOUR / 2);
    ensure(flag.is_raised(), "the wait's task was not woken at the deadline")?;
    ensure(flag.poll(wait.as_mut()).is_ready(), "the wait goes on after its deadline")
}

async fn waits_do_not_disturb_each_other(harness: &dyn ClockHarness) -> Outcome {
    let clock = harness.clock();
    let start = clock.now();
    let mut waits: Vec<_> =
        [3, 1, 2, 1].map(|hours| clock.sleep_until(start + HOUR * hours)).into();
    let mut pending = Vec::new();
    for _ in 0..4 {
        waits.retain_mut(|wait| Flag::default().poll(wait.as_mut()).is_pending());
        pending.push(waits.len());
        harness.pass(HOUR);
    }
    equal("waits pending at the start and after each hour", &pending, &vec![4, 2, 1, 0])
}

/// A waker that remembers whether it was woken.
#[derive(Default)]
struct Flag(Arc<Raised>);

#[derive(Default)]
struct Raised(AtomicBool);

impl Flag {
    fn poll<F: Future + ?Sized>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        let waker = Waker::from(Arc::clone(&self.0));
        future.poll(&mut Context::from_waker(&waker))
    }

    fn is_raised(&self) -> bool {
        self.0.0.load(Ordering::Acquire)
    }

    fn lower(&self) {
        self.0.0.store(false, Ordering::Release);
    }
}

impl Wake for Raised {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}
