//! Names for runs, where the host gives none.

use std::sync::atomic::{AtomicU64, Ordering};

use dirigent::hooks::RunId;

use crate::HostId;

/// Draws names of runs that no other process gives: from the process's name, its start, and a count.
#[derive(Debug)]
pub(crate) struct Runs {
    start: String,
    next: AtomicU64,
}

impl Runs {
    pub(crate) fn new(host: &HostId, start: u64) -> Self {
        Self { start: format!("{host}/{start}"), next: AtomicU64::new(1) }
    }

    pub(crate) fn next(&self) -> RunId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        RunId::from_text(&format!("{}/{number}", self.start))
    }
}
