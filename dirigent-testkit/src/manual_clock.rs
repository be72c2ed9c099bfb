//! A clock that moves only when you move it.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::Clock;
use dirigent::ports::Timestamp;

/// The number of yields after which all tasks are considered to wait.
const YIELDS: usize = 100;

/// The most clock steps of a test.
const MOMENTS_MAX: usize = 100_000;

/// A [`Clock`] that moves only when you move it, even backwards. Clones share their time.
///
/// When waits are over, they are woken in the order of their deadlines, and in the order of their beginning if the
/// deadlines are equal. A run on one thread is therefore always the same, because real time plays no part.
///
/// ```
/// use std::time::Duration;
/// use dirigent::Clock;
/// use dirigent_testkit::ManualClock;
///
/// let clock = ManualClock::new();
/// let start = clock.now();
/// clock.advance(Duration::from_secs(90));
/// assert_eq!(clock.now().since(start), Duration::from_secs(90));
/// clock.set(start);
/// assert_eq!(clock.now(), start);
/// ```
#[derive(Clone)]
pub struct ManualClock {
    shared: Arc<SharedTime>,
}

impl ManualClock {
    /// The time at which [`new`](Self::new) starts. Ids made from it look like Discord's.
    pub const START: Timestamp = Timestamp::from_millis(1_750_000_000_000);

    /// Creates a clock that stands at [`START`](Self::START).
    pub fn new() -> Self {
        Self::starting_at(Self::START)
    }

    /// Creates a clock that stands at this time.
    pub fn starting_at(now: Timestamp) -> Self {
        Self {
            shared: Arc::new(SharedTime {
                now: AtomicU64::new(now.as_millis()),
                jumped: AtomicI64::new(0),
                waits: Mutex::new(Waits::default()),
            }),
        }
    }

    /// Moves the time forward, and wakes every wait that is over.
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }

    /// Sets the time, earlier or later, and wakes every wait that is over.
    pub fn set(&self, now: Timestamp) {
        let due = {
            let mut waits = self.shared.waits();
            self.shared.now.store(now.as_millis(), Ordering::Release);
            waits.take_due(self.shared.running(now))
        };
        for waker in due {
            waker.wake();
        }
    }

    /// Changes the time of day, but every wait keeps its remaining time, like a timer of the operating system. A later
    /// time simulates a machine that slept, and an earlier one a clock that was corrected.
    ///
    /// ```
    /// use std::time::Duration;
    /// use dirigent::Clock;
    /// use dirigent_testkit::ManualClock;
    ///
    /// let clock = ManualClock::new();
    /// let hour = Duration::from_secs(3_600);
    /// clock.jump_to(clock.now() + hour);
    /// assert_eq!(clock.now().since(ManualClock::START), hour);
    /// ```
    pub fn jump_to(&self, now: Timestamp) {
        let _waits = self.shared.waits();
        let before = self.shared.now.swap(now.as_millis(), Ordering::AcqRel);
        let jumped = signed(now.as_millis()).saturating_sub(signed(before));
        self.shared.jumped.fetch_add(jumped, Ordering::AcqRel);
    }

    /// Returns the earliest deadline of a wait.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let first = self.shared.waits().pending.keys().next().map(|key| key.deadline);
        first.map(|running| self.shared.of_day(running))
    }

    /// Moves to the earliest deadline of a wait, and returns it.
    pub fn advance_to_next_wake(&self) -> Option<Timestamp> {
        let next = self.next_wake()?;
        self.set(next.max(self.now()));
        Some(next)
    }

    /// Lets time pass until `is_over` returns true. The tasks of this thread run until all of them wait. Then `is_over`
    /// is called, and the clock moves to the next time that a task waits for. Your test takes no real time for this.
    ///
    /// ```
    /// use dirigent::Clock;
    /// use dirigent_testkit::ManualClock;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let clock = ManualClock::new();
    /// let (start, other) = (clock.now(), clock.clone());
    /// let task = tokio::spawn(async move { other.sleep_until(start + Duration::from_secs(90)).await });
    /// clock.run_until(async || task.is_finished()).await;
    /// assert_eq!(clock.now().since(start), Duration::from_secs(90));
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics after 100,000 steps, because the event that you wait for does not happen.
    pub async fn run_until(&self, mut is_over: impl AsyncFnMut() -> bool) {
        for _ in 0..MOMENTS_MAX {
            for _ in 0..YIELDS {
                tokio::task::yield_now().await;
            }
            if is_over().await {
                return;
            }
            self.advance_to_next_wake();
        }
        panic!("what the test waits for has not happened within {MOMENTS_MAX} moments");
    }

    /// Lets this much time pass step by step. The tasks of this thread run until all of them wait, and the clock moves
    /// to the next time that one of them waits for, again and again. In contrast, [`advance`](Self::advance) jumps at
    /// once, so that all tasks in between are late.
    ///
    /// ```
    /// use dirigent::Clock;
    /// use dirigent_testkit::ManualClock;
    /// use std::time::Duration;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let clock = ManualClock::new();
    /// let (minute, other) = (Duration::from_secs(60), clock.clone());
    /// let ticks = tokio::spawn(async move {
    ///     for tick in 1..=3 {
    ///         other.sleep_until(other.now() + Duration::from_secs(60)).await;
    ///         assert_eq!(other.now().since(ManualClock::START), Duration::from_secs(60 * tick));
    ///     }
    /// });
    /// clock.run_for(minute * 5).await;
    /// assert!(ticks.is_finished());
    /// assert_eq!(clock.now().since(ManualClock::START), minute * 5);
    /// # ticks.await.unwrap();
    /// # }
    /// ```
    ///
    /// # Panics
    ///
    /// Panics after 100,000 steps within this time.
    pub async fn run_for(&self, time: Duration) {
        let end = self.now() + time;
        self.run_until(async || match self.next_wake() {
            Some(next) if next <= end => false,
            _ => {
                self.set(end);
                true
            }
        })
        .await;
        for _ in 0..YIELDS {
            tokio::task::yield_now().await;
        }
    }

    /// Returns the number of waits.
    pub fn waiting(&self) -> usize {
        self.shared.waits().pending.len()
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock")
            .field("now", &self.now())
            .field("next_wake", &self.next_wake())
            .field("waiting", &self.waiting())
            .finish()
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.shared.now.load(Ordering::Acquire))
    }

    async fn sleep_until(&self, deadline: Timestamp) {
        Wait { shared: Arc::clone(&self.shared), deadline, key: None }.await;
    }
}

/// The state that all clones of a clock share.
struct SharedTime {
    /// Milliseconds since the epoch. Written under the lock of `waits`, and read without it.
    now: AtomicU64,
    /// The milliseconds by which the time of day has jumped in all. Waits do not notice jumps.
    jumped: AtomicI64,
    /// The waits.
    waits: Mutex<Waits>,
}

fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

impl SharedTime {
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a time of day on the scale of waits, which jumps do not move.
    fn running(&self, of_day: Timestamp) -> i64 {
        signed(of_day.as_millis()).saturating_sub(self.jumped.load(Ordering::Acquire))
    }

    /// Returns the time of day that this time of a wait will have, unless the clock jumps first.
    fn of_day(&self, running: i64) -> Timestamp {
        let millis = running.saturating_add(self.jumped.load(Ordering::Acquire));
        Timestamp::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// The waits of a clock.
#[derive(Default)]
struct Waits {
    /// The waits, earliest deadline first.
    pending: BTreeMap<WaitKey, Waker>,
    /// The number of the next wait.
    next_number: u64,
}

impl Waits {
    /// Removes the waits that are over, in the order in which they must be woken.
    fn take_due(&mut self, now: i64) -> Vec<Waker> {
        let mut due = Vec::new();
        while let Some(first) = self.pending.first_entry() {
            if first.key().deadline > now {
                break;
            }
            due.push(first.remove());
        }
        due
    }
}

/// The place of a wait among the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WaitKey {
    /// The deadline on the scale that jumps do not move.
    deadline: i64,
    number: u64,
}

/// One wait. Dropping it removes it from the clock.
struct Wait {
    shared: Arc<SharedTime>,
    deadline: Timestamp,
    /// Its place among the waits, set at the first poll that has to wait.
    key: Option<WaitKey>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let wait = &mut *self;
        let mut waits = wait.shared.waits();
        let now = Timestamp::from_millis(wait.shared.now.load(Ordering::Acquire));
        let deadline = match wait.key {
            Some(key) => key.deadline,
            None => wait.shared.running(wait.deadline),
        };
        if wait.shared.running(now) >= deadline {
            return Poll::Ready(());
        }
        let key = *wait.key.get_or_insert_with(|| {
            waits.next_number += 1;
            WaitKey { deadline, number: waits.next_number }
        });
        waits.pending.insert(key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.shared.waits().pending.remove(&key);
        }
    }
}
