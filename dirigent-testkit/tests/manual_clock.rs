//! The manual clock, beyond the contract of every clock.

use std::task::{Context, Waker};
use std::time::Duration;

use dirigent::{Clock, Timestamp};
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
