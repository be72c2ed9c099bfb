//! Crash points: the moments at which a process may die, counted.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts the points that a process passes on its way to the outside, and lets it die at chosen
/// ones. Clones share the same counts.
///
/// ```
/// let points = dirigent_verify::stage::Points::default();
/// points.crash_at([3]);
/// assert_eq!(points.passed(), 0);
/// assert!(!points.is_struck());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Points {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    passed: u64,
    /// Where it dies, counted from the beginning, ascending.
    strikes: VecDeque<u64>,
    struck: bool,
    /// The name of the point of each death.
    deaths: Vec<&'static str>,
    /// What was seen that must not be.
    breaches: Vec<String>,
}

impl Points {
    /// Lets the process die at the points of these numbers, counted from the first one on, over all
    /// lives of the process.
    pub fn crash_at(&self, points: impl IntoIterator<Item = u64>) {
        let mut strikes: Vec<_> = points.into_iter().collect();
        strikes.sort_unstable();
        self.lock().strikes = strikes.into();
    }

    /// Lets the process die this many points from here.
    pub fn strike_in(&self, points: u64) {
        let mut inner = self.lock();
        let at = inner.passed + points.max(1);
        inner.strikes = [at].into();
    }

    /// How many points were passed, over all lives.
    pub fn passed(&self) -> u64 {
        self.lock().passed
    }

    /// Whether the process is dead.
    pub fn is_struck(&self) -> bool {
        self.lock().struck
    }

    /// Where it died, each time.
    pub fn deaths(&self) -> Vec<&'static str> {
        self.lock().deaths.clone()
    }

    /// What was seen that must not be: an effect before its state was stored.
    pub fn breaches(&self) -> Vec<String> {
        self.lock().breaches.clone()
    }

    pub(crate) fn breach(&self, what: String) {
        self.lock().breaches.push(what);
    }

    /// The next life begins.
    pub(crate) fn revive(&self) {
        self.lock().struck = false;
    }

    /// Passes a point, or never returns if the process dies here.
    pub(crate) async fn pass(&self, name: &'static str) {
        if self.is_fatal(name) {
            std::future::pending::<()>().await;
        }
    }

    fn is_fatal(&self, name: &'static str) -> bool {
        let mut inner = self.lock();
        if inner.struck {
            return true;
        }
        inner.passed += 1;
        if inner.strikes.front() == Some(&inner.passed) {
            inner.strikes.pop_front();
            inner.struck = true;
            inner.deaths.push(name);
        }
        inner.struck
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
