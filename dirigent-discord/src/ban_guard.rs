//! Stops all requests long before Discord would ban this address.

use std::collections::VecDeque;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::ports::Timestamp;

/// Discord counts invalid requests over this time.
const WINDOW: Duration = Duration::from_secs(600);

/// Counts the invalid requests (401, 403, and 429 that is not shared) of ten minutes. It stops all traffic at a tenth
/// of the number that makes Discord ban an address.
///
/// Discord counts them for each address, not for each account: 10,000 in ten minutes. For this reason all accounts of a
/// process share one guard, [`BanGuard::of_process`], unless you give them another. If the address is already banned,
/// all accounts with this guard wait. Clones share the count.
///
/// ```
/// use dirigent_discord::BanGuard;
///
/// assert_eq!(BanGuard::of_process().limit(), 1_000);
/// assert_eq!(BanGuard::new(20).limit(), 20);
/// ```
#[derive(Clone, Debug)]
pub struct BanGuard {
    limit: u32,
    counted: Arc<Mutex<Counted>>,
}

#[derive(Debug, Default)]
struct Counted {
    /// The times of the invalid requests, oldest first.
    times: VecDeque<Timestamp>,
    /// The end of a ban.
    turned_away: Option<Timestamp>,
}

static OF_PROCESS: LazyLock<BanGuard> = LazyLock::new(|| BanGuard::new(1_000));

impl BanGuard {
    /// Returns the guard of this process, which stops at 1,000. Every account has it, unless you give it another.
    pub fn of_process() -> Self {
        OF_PROCESS.clone()
    }

    /// Creates a guard with its own count, for accounts that use another address, or for a test. It stops at this
    /// number of invalid requests in ten minutes, at least 1 and at most 5,000.
    pub fn new(limit: u32) -> Self {
        Self { limit: limit.clamp(1, 5_000), counted: Arc::default() }
    }

    /// Returns the number of invalid requests at which it stops.
    pub const fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns how long no request may be made, or `None` if one may be made now.
    pub(crate) fn wait(&self, now: Timestamp) -> Option<Duration> {
        let mut counted = self.counted();
        counted.forget(now);
        let until = counted.turned_away.max(counted.room_at(self.limit));
        until.filter(|until| *until > now).map(|until| until.since(now))
    }

    pub(crate) fn count(&self, now: Timestamp) {
        let mut counted = self.counted();
        counted.forget(now);
        counted.times.push_back(now);
    }

    pub(crate) fn turn_away(&self, until: Timestamp) {
        let mut counted = self.counted();
        counted.turned_away = counted.turned_away.max(Some(until));
    }

    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn forget(&mut self, now: Timestamp) {
        while self.times.front().is_some_and(|at| *at + WINDOW <= now) {
            self.times.pop_front();
        }
    }

    /// Returns the time at which one more request is possible, or `None` if it is possible now.
    fn room_at(&self, limit: u32) -> Option<Timestamp> {
        let excess = self.times.len().checked_sub(usize::try_from(limit).ok()?)?;
        self.times.get(excess).map(|at| *at + WINDOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_000_000);

    /// F22: never more than the limit in any ten minutes, and no stop that never ends.
    #[test]
    fn no_ten_minutes_hold_more_than_the_limit() {
        let guard = BanGuard::new(20);
        let (mut now, mut counted) = (START, Vec::new());
        for _ in 0..5_000 {
            now = now + Duration::from_millis(900);
            if guard.wait(now).is_none() {
                guard.count(now);
                counted.push(now);
            }
        }
        assert!(counted.len() >= 100, "{}", counted.len());
        for pair in counted.windows(21) {
            assert!(pair[20].since(pair[0]) >= WINDOW, "{pair:?}");
        }
    }

    /// F22
    #[test]
    fn the_wait_ends_when_there_is_room() {
        let guard = BanGuard::new(3);
        for _ in 0..3 {
            assert_eq!(guard.wait(START), None);
            guard.count(START);
        }
        let wait = guard.wait(START).unwrap();
        assert!(wait >= WINDOW);
        assert!(guard.wait(START + wait.saturating_sub(Duration::from_millis(1))).is_some());
        assert_eq!(guard.clone().wait(START + wait), None);
    }

    #[test]
    fn what_is_older_than_ten_minutes_takes_no_memory() {
        let guard = BanGuard::new(20);
        for hour in 0..100 {
            guard.count(START + Duration::from_secs(hour * 3_600));
            assert_eq!(guard.counted().times.len(), 1);
        }
    }

    /// F22: requests under way when the guard closed are counted too.
    #[test]
    fn an_overfull_guard_opens_only_with_room() {
        let guard = BanGuard::new(2);
        for second in [0, 0, 30, 60] {
            guard.count(START + Duration::from_secs(second));
        }
        let now = START + Duration::from_secs(60);
        let wait = guard.wait(now).unwrap();
        assert_eq!(now + wait, START + Duration::from_secs(30) + WINDOW);
    }
}
