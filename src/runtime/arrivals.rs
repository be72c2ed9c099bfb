//! Knows whether channels are just coming to this process.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the moments when the driver learns which channels came. Meanwhile a channel may be held and not known yet.
#[derive(Debug, Default)]
pub(crate) struct Arrivals(AtomicU64);

/// Such a moment, until it is dropped.
pub(super) struct Arriving<'a>(&'a AtomicU64);

impl Arrivals {
    pub(super) fn begin(&self) -> Arriving<'_> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Arriving(&self.0)
    }

    /// Returns how many such moments are over. `None` within one.
    pub(super) fn over(&self) -> Option<u64> {
        let number = self.0.load(Ordering::SeqCst);
        // An odd number means that such a moment has begun and is not over.
        (number % 2 == 0).then_some(number)
    }
}

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_counts_where_no_moment_was_between() {
        let arrivals = Arrivals::default();
        let before = arrivals.over();
        assert!(before.is_some());
        let moment = arrivals.begin();
        assert_eq!(arrivals.over(), None);
        drop(moment);
        assert!(arrivals.over().is_some_and(|after| Some(after) != before));
    }
}
