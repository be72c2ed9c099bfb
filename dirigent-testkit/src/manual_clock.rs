//! A clock that moves only when told.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use dirigent::{Clock, Timestamp};

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
    shared: Arc<Shared>,
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
            shared: Arc::new(Shared {
                now: AtomicU64::new(now.as_millis()),
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
            waits.take_due(now)
        };
        for waker in due {
            waker.wake();
        }
    }

    /// The earliest deadline that somebody waits for.
    pub fn next_wake(&self) -> Option<Timestamp> {
        self.shared.waits().pending.keys().next().map(|key| key.deadline)
    }

    /// Jumps to the earliest deadline that somebody waits for, and says which that was.
    pub fn advance_to_next_wake(&self) -> Option<Timestamp> {
        let next = self.next_wake()?;
        self.set(next.max(self.now()));
        Some(next)
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
        Wait { shared: Arc::clone(&self.shared), deadline, number: None }.await;
    }
}

/// What all clones of a clock share.
struct Shared {
    /// Milliseconds since the epoch. Written under the lock of `waits`, read without it.
    now: AtomicU64,
    /// Who waits.
    waits: Mutex<Waits>,
}

impl Shared {
    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn take_due(&mut self, now: Timestamp) -> Vec<Waker> {
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
    deadline: Timestamp,
    number: u64,
}

/// One wait. Dropping it takes it out of the clock.
struct Wait {
    shared: Arc<Shared>,
    deadline: Timestamp,
    /// Given at the first poll that has to wait.
    number: Option<u64>,
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let wait = &mut *self;
        let mut waits = wait.shared.waits();
        if wait.shared.now.load(Ordering::Acquire) >= wait.deadline.as_millis() {
            return Poll::Ready(());
        }
        let number = *wait.number.get_or_insert_with(|| {
            waits.next_number += 1;
            waits.next_number
        });
        let key = WaitKey { deadline: wait.deadline, number };
        waits.pending.insert(key, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            let key = WaitKey { deadline: self.deadline, number };
            self.shared.waits().pending.remove(&key);
        }
    }
}
