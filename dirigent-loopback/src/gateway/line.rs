//! Events on their way to one session, with their faults.

use std::time::Duration;

use dirigent::ports::Timestamp;
use serde_json::Value;

use dirigent_testkit::memory_discord::PushFault;

/// An event without a number.
pub(super) struct News {
    pub(super) name: &'static str,
    pub(super) data: Value,
}

/// An event to send, and the number of its copies.
pub(super) struct Due {
    pub(super) news: News,
    pub(super) copies: usize,
}

/// The events that a fault holds back, in order.
#[derive(Default)]
pub(super) struct Line {
    held: Vec<Held>,
}

struct Held {
    news: News,
    /// The number of later events that must go out before it. With `None` only time releases it.
    events_left: Option<u32>,
    due: Timestamp,
}

impl Line {
    /// Adds an event. Returns the events to send now, in order.
    pub(super) fn put(&mut self, news: News, fault: Option<PushFault>, now: Timestamp) -> Vec<Due> {
        let copies = match fault {
            None => 1,
            Some(PushFault::Duplicated) => 2,
            Some(PushFault::Dropped) => return Vec::new(),
            Some(PushFault::HeldBack { events, at_most }) => {
                return self.hold(news, Some(events), now, at_most);
            }
            Some(PushFault::Delayed { by }) => return self.hold(news, None, now, by),
            Some(unknown) => {
                tracing::error!(?unknown, "the loopback Discord does not have this fault");
                1
            }
        };
        for held in &mut self.held {
            held.events_left = held.events_left.map(|left| left.saturating_sub(1));
        }
        let mut out = vec![Due { news, copies }];
        out.extend(self.release(|held| held.events_left == Some(0)));
        out
    }

    /// Returns events that must go out by now.
    pub(super) fn take_due(&mut self, now: Timestamp) -> Vec<Due> {
        self.held.sort_by_key(|held| held.due);
        self.release(|held| held.due <= now)
    }

    /// Returns all events at once.
    pub(super) fn take_all(&mut self) -> Vec<Due> {
        self.release(|_| true)
    }

    /// Returns the time at which the first event goes out by itself.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.held.iter().map(|held| held.due).min()
    }

    fn hold(
        &mut self,
        news: News,
        events_left: Option<u32>,
        now: Timestamp,
        at_most: Duration,
    ) -> Vec<Due> {
        self.held.push(Held { news, events_left, due: now + at_most });
        Vec::new()
    }

    fn release(&mut self, is_over: impl Fn(&Held) -> bool) -> Vec<Due> {
        let (over, held) = std::mem::take(&mut self.held).into_iter().partition(is_over);
        self.held = held;
        let over: Vec<Held> = over;
        over.into_iter().map(|held| Due { news: held.news, copies: 1 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000);
    const SECOND: Duration = Duration::from_secs(1);

    fn put(line: &mut Line, number: u64, fault: Option<PushFault>) -> Vec<(u64, usize)> {
        seen(line.put(News { name: "EVENT", data: number.into() }, fault, NOW))
    }

    fn seen(due: Vec<Due>) -> Vec<(u64, usize)> {
        due.into_iter().map(|due| (due.news.data.as_u64().unwrap(), due.copies)).collect()
    }

    #[test]
    fn events_are_lost_doubled_and_overtaken() {
        let mut line = Line::default();
        let swapped = PushFault::HeldBack { events: 1, at_most: SECOND };
        assert_eq!(put(&mut line, 1, None), [(1, 1)]);
        assert_eq!(put(&mut line, 2, Some(PushFault::Dropped)), []);
        assert_eq!(put(&mut line, 3, Some(PushFault::Duplicated)), [(3, 2)]);
        assert_eq!(put(&mut line, 4, Some(swapped)), []);
        assert_eq!(put(&mut line, 5, None), [(5, 1), (4, 1)]);
        assert_eq!(line.due(), None);
    }

    #[test]
    fn time_releases_what_nothing_overtakes() {
        let mut line = Line::default();
        let swapped = PushFault::HeldBack { events: 1, at_most: SECOND };
        assert_eq!(put(&mut line, 1, Some(swapped)), []);
        assert_eq!(put(&mut line, 2, Some(PushFault::Delayed { by: SECOND * 2 })), []);
        assert_eq!(line.due(), Some(NOW + SECOND));
        assert_eq!(seen(line.take_due(NOW + SECOND)), [(1, 1)]);
        assert_eq!(put(&mut line, 3, None), [(3, 1)]);
        assert_eq!(seen(line.take_all()), [(2, 1)]);
    }
}
