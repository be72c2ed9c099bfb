//! The limit on what a client may send (docs: events/gateway, rate limiting).

use std::collections::VecDeque;
use std::time::Duration;

use dirigent::ports::Timestamp;

/// The most payloads in a window.
const SENDS_MAX: usize = 120;

/// The length of the window.
const WINDOW: Duration = Duration::from_secs(60);

/// The payloads of one connection within the last minute.
#[derive(Debug, Default)]
pub(super) struct CommandLimit {
    sent: VecDeque<Timestamp>,
}

impl CommandLimit {
    /// Counts a payload. Returns true if it exceeds the limit. If the clock stepped back, the count
    /// begins anew.
    pub(super) fn is_exceeded(&mut self, now: Timestamp) -> bool {
        while self.sent.front().is_some_and(|&first| first > now || now.since(first) >= WINDOW) {
            self.sent.pop_front();
        }
        self.sent.push_back(now);
        self.sent.len() > SENDS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hundred_and_twenty_first_payload_of_a_minute_is_too_many() {
        let start = Timestamp::from_millis(1_000_000);
        let mut limit = CommandLimit::default();
        for _ in 0..120 {
            assert!(!limit.is_exceeded(start));
        }
        assert!(limit.is_exceeded(start + Duration::from_millis(59_999)));
        assert!(!limit.is_exceeded(start + WINDOW));
    }
}
