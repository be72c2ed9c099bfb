//! Calls of agents in channels that another process has now. No room keeps the time for them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use dirigent_core::Timestamp;

use crate::ports::turn_link::TurnLink;
use crate::values::sync::locked;

/// The calls that were cancelled when their channel went, with the time when each is dropped.
#[derive(Debug)]
pub(crate) struct Leaving {
    calls: Mutex<Vec<(Timestamp, Arc<TurnLink>)>>,
    /// The earliest of these times in milliseconds, so that a driver without such calls takes no lock.
    earliest: AtomicU64,
}

impl Default for Leaving {
    fn default() -> Self {
        Self { calls: Mutex::default(), earliest: AtomicU64::new(u64::MAX) }
    }
}

impl Leaving {
    pub(super) fn add(&self, drop_at: Timestamp, call: Arc<TurnLink>) {
        self.change(|calls| calls.push((drop_at, call)));
    }

    pub(super) fn earliest(&self) -> Option<Timestamp> {
        let earliest = self.earliest.load(Ordering::Acquire);
        (earliest != u64::MAX).then(|| Timestamp::from_millis(earliest))
    }

    pub(super) fn tick(&self, now: Timestamp) {
        if self.earliest().is_some_and(|at| at <= now) {
            self.change(|calls| {
                calls.retain(|(at, call)| {
                    let stays = *at > now;
                    if !stays {
                        call.drop_call();
                    }
                    stays
                });
            });
        }
    }

    /// Adjusts all times after the clock was set back, so that the rest of every wait stays the same.
    pub(super) fn move_back(&self, by: Duration) {
        if self.earliest().is_some() {
            self.change(|calls| {
                for (at, _) in calls.iter_mut() {
                    *at = at.saturating_sub(by);
                }
            });
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<(Timestamp, Arc<TurnLink>)>)) {
        let mut calls = locked(&self.calls);
        change(&mut calls);
        let earliest = calls.iter().map(|(at, _)| at.as_millis()).min();
        self.earliest.store(earliest.unwrap_or(u64::MAX), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::FutureExt;

    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn each_call_is_dropped_at_its_time_also_where_the_clock_is_set_back() {
        let leaving = Leaving::default();
        assert_eq!(leaving.earliest(), None);
        let calls = [10, 20].map(|drop_at| {
            let call = Arc::<TurnLink>::default();
            leaving.add(at(drop_at), Arc::clone(&call));
            call
        });
        let is_dropped =
            |call: &Arc<TurnLink>| call.unless_dropped(pending::<()>()).now_or_never().is_some();
        let dropped = || calls.iter().map(is_dropped).collect::<Vec<_>>();
        leaving.move_back(Duration::from_secs(5));
        assert_eq!(leaving.earliest(), Some(at(5)));
        leaving.tick(at(4));
        assert_eq!(dropped(), [false, false]);
        leaving.tick(at(5));
        assert_eq!(dropped(), [true, false]);
        assert_eq!(leaving.earliest(), Some(at(15)));
        leaving.tick(at(15));
        assert_eq!(dropped(), [true, true]);
        assert_eq!(leaving.earliest(), None);
    }
}
