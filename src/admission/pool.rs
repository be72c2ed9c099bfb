//! How many of a kind run at once.

use dirigent_core::Timestamp;
use rustc_hash::FxHashSet;

use super::claim::{ASK_WITHIN, Waiter, Wakeup};
use super::line::Line;

/// Places for actions that run at once, with a line before them.
#[derive(Debug)]
pub(super) struct Pool {
    max: usize,
    running: FxHashSet<Waiter>,
    /// Actions whose turn has come, since when: a place is kept for each.
    called: Vec<(Waiter, Timestamp)>,
    line: Line,
}

impl Pool {
    pub(super) fn new(max: usize) -> Self {
        let line = Line::default();
        Self { max: max.max(1), running: FxHashSet::default(), called: Vec::new(), line }
    }

    /// Takes a place, or joins the line.
    pub(super) fn admit(&mut self, waiter: Waiter) -> bool {
        if self.running.contains(&waiter) {
            return true;
        }
        let was_called = self.uncall(waiter);
        if was_called || (self.line.is_empty() && self.has_room()) {
            self.running.insert(waiter);
            return true;
        }
        self.line.join(waiter);
        false
    }

    /// Frees the place of an action that is over. An action without a place frees none.
    pub(super) fn release(&mut self, now: Timestamp, waiter: Waiter, calls: &mut Vec<Wakeup>) {
        if self.running.remove(&waiter) {
            self.call(now, calls);
        }
    }

    /// An action that waits does not want a place any more.
    pub(super) fn withdraw(&mut self, now: Timestamp, waiter: Waiter, calls: &mut Vec<Wakeup>) {
        if !self.line.leave(waiter) && self.uncall(waiter) {
            self.call(now, calls);
        }
    }

    /// When a place that is kept for an action goes to the next.
    pub(super) fn deadline(&self) -> Option<Timestamp> {
        let since = self.called.iter().map(|(_, since)| *since).min();
        since.filter(|_| !self.line.is_empty()).map(|since| since + ASK_WITHIN)
    }

    /// Gives places that were kept in vain to the next.
    pub(super) fn expire(&mut self, now: Timestamp, calls: &mut Vec<Wakeup>) {
        for (_, since) in &mut self.called {
            // The clock was set back.
            *since = (*since).min(now);
        }
        if !self.line.is_empty() {
            self.called.retain(|(_, since)| now < *since + ASK_WITHIN);
            self.call(now, calls);
        }
    }

    /// Calls as many as there are places.
    fn call(&mut self, now: Timestamp, calls: &mut Vec<Wakeup>) {
        while self.has_room() {
            let Some(waiter) = self.line.pop() else {
                break;
            };
            self.called.push((waiter, now));
            calls.push(Wakeup::try_again(waiter));
        }
    }

    fn uncall(&mut self, waiter: Waiter) -> bool {
        let place = self.called.iter().position(|(called, _)| *called == waiter);
        place.map(|place| self.called.swap_remove(place)).is_some()
    }

    fn has_room(&self) -> bool {
        self.running.len() + self.called.len() < self.max
    }

    /// Whether this action has a place.
    pub(super) fn runs(&self, waiter: Waiter) -> bool {
        self.running.contains(&waiter)
    }

    /// Whether this action has, is kept or waits for a place.
    pub(super) fn knows(&self, waiter: Waiter) -> bool {
        let is_called = || self.called.iter().any(|(called, _)| *called == waiter);
        self.runs(waiter) || is_called() || self.line.holds(waiter)
    }

    /// Frees the places of these actions.
    pub(super) fn release_if(
        &mut self,
        now: Timestamp,
        is_gone: impl Fn(Waiter) -> bool,
        calls: &mut Vec<Wakeup>,
    ) {
        let before = self.running.len();
        self.running.retain(|waiter| !is_gone(*waiter));
        if self.running.len() < before {
            self.call(now, calls);
        }
    }

    /// Whether nothing has, is kept or waits for a place.
    pub(super) fn is_unused(&self) -> bool {
        self.running.is_empty() && self.called.is_empty() && self.line.is_empty()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.running.len() + self.called.len() + self.line.len()
    }
}
