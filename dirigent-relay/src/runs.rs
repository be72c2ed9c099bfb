//! Names for runs, where the host gives none.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use dirigent::hooks::RunId;

use crate::HostId;

/// Draws names of runs that are given nowhere else: from the process's name, a random number, and a count. A channel compares the names of
/// all its agents' runs. So the number must differ where a process asks in several ways that are made in the same moment, where two
/// processes have one name by mistake, and where a clock was set back.
#[derive(Debug)]
pub(crate) struct Runs {
    start: String,
    next: AtomicU64,
}

impl Runs {
    pub(crate) fn new(host: &HostId) -> Self {
        let random = RandomState::new().hash_one(host.as_str());
        Self { start: format!("{host}/{random}"), next: AtomicU64::new(1) }
    }

    pub(crate) fn next(&self) -> RunId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        RunId::from_text(&format!("{}/{number}", self.start))
    }
}
