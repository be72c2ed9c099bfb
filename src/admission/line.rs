//! First in, first out, where each may leave the line at any time.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::claim::Waiter;

/// Waiting actions, oldest first. All operations take logarithmic time.
#[derive(Debug, Default)]
pub(super) struct Line {
    by_age: BTreeMap<u64, Waiter>,
    numbers: FxHashMap<Waiter, u64>,
    next: u64,
}

impl Line {
    /// Adds an action at the end. An action that waits already keeps its place.
    pub(super) fn join(&mut self, waiter: Waiter) {
        if !self.numbers.contains_key(&waiter) {
            self.numbers.insert(waiter, self.next);
            self.by_age.insert(self.next, waiter);
            self.next += 1;
        }
    }

    /// Removes an action. Returns whether it was waiting.
    pub(super) fn leave(&mut self, waiter: Waiter) -> bool {
        let number = self.numbers.remove(&waiter);
        number.is_some_and(|number| self.by_age.remove(&number).is_some())
    }

    /// Whether an action waits.
    pub(super) fn holds(&self, waiter: Waiter) -> bool {
        self.numbers.contains_key(&waiter)
    }

    pub(super) fn first(&self) -> Option<Waiter> {
        self.by_age.values().next().copied()
    }

    pub(super) fn pop(&mut self) -> Option<Waiter> {
        let (_, waiter) = self.by_age.pop_first()?;
        self.numbers.remove(&waiter);
        Some(waiter)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by_age.is_empty()
    }

    /// The actions, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Waiter> {
        self.by_age.values().copied()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.by_age.len(), self.numbers.len());
        self.by_age.len()
    }
}
