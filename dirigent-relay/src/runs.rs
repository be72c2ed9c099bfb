//! Names for runs that the host does not name.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use dirigent::hooks::RunId;

use crate::HostId;

/// Creates unique names for runs, from the process's name, a random number, and a count. They must be unique because a
/// channel compares the names of all its agents' runs. The random number makes them differ even if one process asks in
/// several ways that began at the same moment, if two processes have one name by mistake, or if a clock was set back.
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
