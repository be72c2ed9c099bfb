//! The manual clock, beyond the contract of every clock.

use std::task::{Context, Waker};
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use dirigent_testkit::ManualClock;

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "current_thread")]
async fn waits_wake_in_the_order_of_their_deadlines_and_then_of_their_beginnings() {
    let clock = ManualClock::new();
    let order = std::sync::Mutex::new(Vec::new());
    let start = clock.now();
    let wait = async |name: &'static str, seconds: u32| {
        clock.sleep_until(start + SECOND * seconds).await;
        order.lock().unwrap().push(name);
    };
    tokio::join!(wait("late", 3), wait("first", 1), wait("second", 1), wait("middle", 2), async {
        assert_eq!((clock.next_wake(), clock.waiting()), (Some(start + SECOND), 4));
        while clock.advance_to_next_wake().is_some() {
            tokio::task::yield_now().await;
        }
    });
    assert_eq!(*order.lock().unwrap(), ["first", "second", "middle", "late"]);
    assert_eq!(clock.now(), start + 3 * SECOND);
}

#[test]
fn a_clock_set_back_keeps_its_waits() {
    let clock = ManualClock::new();
    let start = clock.now();
    let mut wait = clock.sleep_until(start + SECOND);
    let mut context = Context::from_waker(Waker::noop());
    assert!(wait.as_mut().poll(&mut context).is_pending());
    clock.set(Timestamp::from_millis(0));
    assert_eq!(clock.next_wake(), Some(start + SECOND));
    clock.set(start + SECOND);
    assert!(wait.as_mut().poll(&mut context).is_ready());
    assert_eq!(clock.next_wake(), None);
}

#[test]
fn a_clock_that_jumps_keeps_what_remains_of_its_waits() {
    let hour = SECOND * 3_600;
    for (jumps_to, later) in [(ManualClock::START + hour, true), (ManualClock::START, false)] {
        let clock = ManualClock::starting_at(ManualClock::START + SECOND);
        let mut wait = clock.sleep_until(clock.now() + SECOND * 14);
        let mut context = Context::from_waker(Waker::noop());
        assert!(wait.as_mut().poll(&mut context).is_pending());
        clock.jump_to(jumps_to);
        assert_eq!(clock.now(), jumps_to);
        assert!(wait.as_mut().poll(&mut context).is_pending(), "later: {later}");
        assert_eq!(clock.next_wake(), Some(jumps_to + SECOND * 14));
        clock.advance(SECOND * 13);
        assert!(wait.as_mut().poll(&mut context).is_pending(), "later: {later}");
        clock.advance(SECOND);
        assert!(wait.as_mut().poll(&mut context).is_ready(), "later: {later}");
        // A wait that begins after the jump goes by the new time of day.
        let mut fresh = clock.sleep_until(clock.now() + SECOND);
        assert!(fresh.as_mut().poll(&mut context).is_pending());
        assert_eq!(clock.next_wake(), Some(clock.now() + SECOND));
    }
}
