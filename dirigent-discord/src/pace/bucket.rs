//! One bucket of Discord's rate limits: how many requests its present window still takes.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ports::Timestamp;

/// Two answers whose windows end this close together speak of the same window.
const SAME_WINDOW: Duration = Duration::from_millis(250);

/// The longest wait for a request under way: it may be answered at any moment.
const SHORTLY: Duration = Duration::from_millis(250);

/// One bucket's present window, and the requests under way.
///
/// A window is known from the first answer in it until its end. While none is known, all places are free but
/// those of requests under way: without an answer nothing could ever give a place back.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    limit: u32,
    /// How many places the known window has left; all of them while none is known.
    remaining: u32,
    /// When the known window ends; `None` until an answer tells of the next one.
    reset: Option<Timestamp>,
    /// The longest time until a reset that an answer told: no window is longer, as far as is known.
    window: Duration,
    /// When each request under way left, oldest first.
    under_way: VecDeque<Timestamp>,
}

impl Bucket {
    /// A bucket of which no answer has told yet.
    pub(super) const fn unknown() -> Self {
        Self {
            limit: 0,
            remaining: 0,
            reset: None,
            window: Duration::ZERO,
            under_way: VecDeque::new(),
        }
    }

    /// When a place is free, if there is none now.
    pub(super) fn free_at(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.reset.is_some_and(|reset| reset <= now) {
            self.reset = None;
            self.remaining = self.limit;
        }
        if self.limit == 0 && self.reset.is_none() {
            return None;
        }
        // Discord has counted a request in a window that is over, or never, when it left longer ago than a
        // window lasts: while Discord does not answer, hanging requests must not hold up later ones.
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

    /// A request takes a place.
    pub(super) fn leave(&mut self, now: Timestamp) {
        self.under_way.push_back(now);
    }

    /// The request that left then is over: its place is free again, unless the known window counts it.
    pub(super) fn give_back(&mut self, left: Timestamp) {
        if let Some(place) = self.under_way.iter().position(|at| *at == left) {
            self.under_way.remove(place);
        }
    }

    /// The request that left then may have been counted: if so, in the known window, or in one that is over.
    pub(super) fn lose(&mut self, left: Timestamp) {
        self.give_back(left);
        let ends = left + self.window + SAME_WINDOW;
        if self.reset.is_some_and(|reset| reset <= ends) {
            self.remaining = self.remaining.saturating_sub(1);
        }
    }

    /// Takes in what the headers of an answer told.
    pub(super) fn learn(
        &mut self,
        now: Timestamp,
        limit: u32,
        remaining: u32,
        reset_after: Duration,
    ) {
        let reset = now + reset_after;
        // Answers may arrive in another order than the requests were counted in.
        let same = self.reset.is_some_and(|known| reset <= known + SAME_WINDOW);
        self.limit = limit;
        self.remaining = if same { self.remaining.min(remaining) } else { remaining };
        self.reset = self.reset.max(Some(reset));
        self.window = self.window.max(reset_after);
    }

    /// No request may leave until then.
    pub(super) fn bar(&mut self, until: Timestamp) {
        self.remaining = 0;
        self.reset = self.reset.max(Some(until));
    }

    /// Whether it says anything still.
    pub(super) fn matters(&self, now: Timestamp) -> bool {
        !self.under_way.is_empty() || self.reset > Some(now)
    }
}
