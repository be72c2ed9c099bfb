//! A clock that moves only when told.

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

/// How often tasks run before it is taken that all of them wait.
const YIELDS: usize = 100;

/// How many moments a test may take.
const MOMENTS_MAX: usize = 100_000;

/// A [`Clock`] that moves only when told, backwards too. Clones share the same time.
///
/// Waits that come due are woken in the order of their deadlines, those with the same deadline in
/// the order in which they began; so a run on one thread is the same every time. Real time plays no
/// part.
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
    /// The moment at which [`new`](Self::new) starts: late enough that ids made from it look like
    /// Discord's.
    pub const START: Timestamp = Timestamp::from_millis(1_750_000_000_000);

    /// A clock that stands at [`START`](Self::START).
    pub fn new() -> Self {
        Self::starting_at(Self::START)
    }

    /// A clock that stands at this moment.
    pub fn starting_at(now: Timestamp) -> Self {
        Self {
            shared: Arc::new(SharedTime {
                now: AtomicU64::new(now.as_millis()),
                jumped: AtomicI64::new(0),
                waits: Mutex::new(Waits::default()),
            }),
        }
    }

    /// Moves on and wakes every wait whose deadline is reached.
    pub fn advance(&self, by: Duration) {
        self.set(self.now() + by);
    }

    /// Jumps to a moment, earlier or later, and wakes every wait whose deadline is reached.
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

    /// Changes the time of day, and every pending wait keeps what remains of it, as a timer of the
    /// system does. A later time is a machine that slept; an earlier one is a clock that was corrected.
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

    /// The earliest deadline of a pending wait.
    pub fn next_wake(&self) -> Option<Timestamp> {
        let first = self.shared.waits().pending.keys().next().map(|key| key.deadline);
        first.map(|running| self.shared.of_day(running))
    }

    /// Jumps to the earliest deadline of a pending wait, and returns it.
    pub fn advance_to_next_wake(&self) -> Option<Timestamp> {
        let next = self.next_wake()?;
        self.set(next.max(self.now()));
        Some(next)
    }

    /// Lets the tasks of this thread run until all of them wait, and then moves to the moment for which the first of them
    /// waits, again and again, until `is_over` says so: asked when every task waits. A test ends with it in no real time.
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
    /// After 100,000 moments: what the test waits for does not happen.
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

    /// Moves on by this time, as it would pass: the tasks of this thread run until all of them wait, time goes to the moment for which
    /// the first of them waits, and so on. [`advance`](Self::advance) jumps there at once, so that what happens in between finds it late.
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
    /// After 100,000 moments within this time.
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

    /// How many waits are pending.
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

/// What all clones of a clock share.
struct SharedTime {
    /// Milliseconds since the epoch. Written under the lock of `waits`, read without it.
    now: AtomicU64,
    /// By how many milliseconds the time of day has jumped in all. Waits do not notice jumps.
    jumped: AtomicI64,
    /// Who waits.
    waits: Mutex<Waits>,
}

fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

impl SharedTime {
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A time of day on the scale that jumps do not move, on which waits are kept.
    fn running(&self, of_day: Timestamp) -> i64 {
        signed(of_day.as_millis()).saturating_sub(self.jumped.load(Ordering::Acquire))
    }

    /// The time of day that this moment of a wait will have if nothing jumps before.
    fn of_day(&self, running: i64) -> Timestamp {
        let millis = running.saturating_add(self.jumped.load(Ordering::Acquire));
        Timestamp::from_millis(u64::try_from(millis).unwrap_or(0))
    }
}

/// The pending waits of a clock.
#[derive(Default)]
struct Waits {
    /// The pending ones, soonest first.
    pending: BTreeMap<WaitKey, Waker>,
    /// The number that the next wait gets.
    next_number: u64,
}

impl Waits {
    /// Takes out those whose deadline is reached, in the order in which they are to be woken.
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
    /// On the scale that jumps do not move.
    deadline: i64,
    number: u64,
}

/// One wait. Dropping it takes it out of the clock.
struct Wait {
    shared: Arc<SharedTime>,
    deadline: Timestamp,
    /// Its place among the pending waits, given at the first poll that has to wait.
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
