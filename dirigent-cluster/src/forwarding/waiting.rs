//! The events of one channel that were not taken yet.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ports::{GatewayEvent, Timestamp};
use dirigent_relay::HostId;

use super::lane::RETRY_MAX;

/// The interval between looks at waiting events. After repeated refusals the wait is a multiple of it.
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// The process that a channel's events go to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// This process, if it owns the channel.
    Here,
    Process(HostId),
}

/// The refusal of the first event by a place.
struct Refusal {
    by: Place,
    times: u32,
    /// The place is not asked again before this time.
    until: Timestamp,
}

/// The events of one channel, in order. All of them wait in one place.
pub(super) struct Waiting {
    pub(super) place: Place,
    pub(super) events: VecDeque<GatewayEvent>,
    /// The round in which the first of them are under way.
    pub(super) round: Option<u64>,
    refusal: Option<Refusal>,
}

impl Waiting {
    pub(super) const fn new(place: Place) -> Self {
        Self { place, events: VecDeque::new(), round: None, refusal: None }
    }

    /// Returns whether this place refused the first event a short while ago, so that it is not asked yet.
    pub(super) fn is_refused_by(&self, place: &Place, now: Timestamp) -> bool {
        self.refusal.as_ref().is_some_and(|refusal| refusal.by == *place && now < refusal.until)
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    /// Removes those of the first events that were taken. The others stay, in order. Returns how many were taken.
    pub(super) fn take(&mut self, taken: &[bool]) -> usize {
        self.round = None;
        let told: Vec<_> = self.events.drain(..taken.len().min(self.events.len())).collect();
        let before = told.len();
        let left: Vec<_> =
            told.into_iter().zip(taken).filter(|(_, taken)| !**taken).map(|(it, _)| it).collect();
        let count = before - left.len();
        for event in left.into_iter().rev() {
            self.events.push_front(event);
        }
        if count > 0 {
            self.refusal = None;
        }
        count
    }

    /// Records that the place did not take the first event. It is asked again at the next look, then less and less
    /// often. Returns the number of refusals in a row.
    pub(super) fn refuse(&mut self, now: Timestamp) -> u32 {
        let by = self.place.clone();
        let before = self.refusal.as_ref().filter(|refusal| refusal.by == by);
        let before = before.map_or(0, |refusal| refusal.times);
        let delay = if before == 0 { Duration::ZERO } else { LOOK_AGAIN * (1 << before.min(4)) };
        let until = now + delay.min(RETRY_MAX);
        self.refusal = Some(Refusal { by, times: before + 1, until });
        before + 1
    }
}
