//! One bucket of Discord's rate limits, with the places that are left in its current window.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ports::Timestamp;

/// Two answers belong to one window if their windows end this close together.
const SAME_WINDOW: Duration = Duration::from_millis(250);

/// The longest wait for a request in flight, because it may be answered at any time.
const SHORTLY: Duration = Duration::from_millis(250);

/// The current window of one bucket, and the requests in flight.
///
/// A window is known from its first answer until its end. While none is known, all places are free except
/// those of requests in flight. Otherwise no place could ever become free without an answer.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    limit: u32,
    /// The places that are left in the known window, or all of them if none is known.
    remaining: u32,
    /// The end of the known window, or `None` until an answer reports the next one.
    reset: Option<Timestamp>,
    /// The longest time until a reset that an answer has reported. No window is known to be longer.
    window: Duration,
    /// The times at which the requests in flight left, oldest first.
    under_way: VecDeque<Timestamp>,
}

impl Bucket {
    /// Creates a bucket that no answer has reported yet.
    pub(super) const fn unknown() -> Self {
        Self {
            limit: 0,
            remaining: 0,
            reset: None,
            window: Duration::ZERO,
            under_way: VecDeque::new(),
        }
    }

    /// Returns when a place becomes free, or `None` if one is free now.
    pub(super) fn free_at(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.reset.is_some_and(|reset| reset <= now) {
            self.reset = None;
            self.remaining = self.limit;
        }
        if self.limit == 0 && self.reset.is_none() {
            return None;
        }
        // If a request left longer ago than a window lasts, Discord has counted it in an old window, or
        // never. While Discord does not answer, hanging requests must not delay later ones.
        let window = self.window;
        let mut holding = self.under_way.iter().filter(|left| now < **left + window);
        let oldest = holding.next().copied();
        let held = oldest.map_or(0, |_| 1 + holding.count());
        if usize::try_from(self.remaining).is_ok_and(|remaining| remaining > held) {
            return None;
        }
        let lapses = oldest.map_or(now + SHORTLY, |oldest| oldest + window);
        Some(self.reset.unwrap_or_else(|| lapses.min(now + SHORTLY)))
    }

    pub(super) fn leave(&mut self, now: Timestamp) {
        self.under_way.push_back(now);
    }

    /// Ends the request that left then. Its place is free again, unless the known window counts it.
    pub(super) fn give_back(&mut self, left: Timestamp) {
        if let Some(place) = self.under_way.iter().position(|at| *at == left) {
            self.under_way.remove(place);
        }
    }

    /// Ends a lost request. Discord may have counted it in the known window, or in an old one.
    pub(super) fn lose(&mut self, left: Timestamp) {
        self.give_back(left);
        let ends = left + self.window + SAME_WINDOW;
        if self.reset.is_some_and(|reset| reset <= ends) {
            self.remaining = self.remaining.saturating_sub(1);
        }
    }

    pub(super) fn learn(
        &mut self,
        now: Timestamp,
        limit: u32,
        remaining: u32,
        reset_after: Duration,
    ) {
        let reset = now + reset_after;
        // Answers may arrive in another order than Discord counted the requests.
        let same = self.reset.is_some_and(|known| reset <= known + SAME_WINDOW);
        self.limit = limit;
        self.remaining = if same { self.remaining.min(remaining) } else { remaining };
        self.reset = self.reset.max(Some(reset));
        self.window = self.window.max(reset_after);
    }

    pub(super) fn bar(&mut self, until: Timestamp) {
        self.remaining = 0;
        self.reset = self.reset.max(Some(until));
    }

    /// Returns true if the bucket still has an effect.
    pub(super) fn matters(&self, now: Timestamp) -> bool {
        !self.under_way.is_empty() || self.reset > Some(now)
    }
}
