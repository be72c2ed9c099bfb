//! Heartbeats, which show that a client is alive (docs: events/gateway, sending heartbeats).

use std::time::Duration;

use dirigent::ports::Timestamp;

/// The time between two heartbeats of a client.
pub(super) const INTERVAL: Duration = Duration::from_millis(41_250);

/// The longest wait for a late heartbeat, and for the answer to a request.
const GRACE: Duration = Duration::from_secs(15);

/// The state of the heartbeats at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulse {
    /// No heartbeat is due.
    Fine,
    /// No heartbeat came in time, so ask for one.
    Late,
    /// It was asked for, but did not come.
    Gone,
}

/// The heartbeats of one connection, by the clock of the Discord.
///
/// A client measures its own time. If the clock of the Discord jumps, a client would be late
/// without its fault. So it is asked first, and only silence after that ends the connection.
#[derive(Debug)]
pub(super) struct Heartbeat {
    due: Timestamp,
    was_asked: bool,
}

impl Heartbeat {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { due: now + INTERVAL + GRACE, was_asked: false }
    }

    /// Returns the time of the next check.
    pub(super) const fn due(&self) -> Timestamp {
        self.due
    }

    /// Handles a heartbeat.
    pub(super) fn on_beat(&mut self, now: Timestamp) {
        *self = Self::new(now);
    }

    /// Checks the clock.
    pub(super) fn on_time(&mut self, now: Timestamp) -> Pulse {
        if now < self.due {
            return Pulse::Fine;
        }
        if self.was_asked {
            return Pulse::Gone;
        }
        self.was_asked = true;
        self.due = now + GRACE;
        Pulse::Late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_000_000);

    #[test]
    fn a_silent_client_is_asked_and_then_given_up() {
        let mut heartbeat = Heartbeat::new(START);
        assert_eq!(heartbeat.on_time(START + INTERVAL), Pulse::Fine);
        let late = heartbeat.due();
        assert_eq!(heartbeat.on_time(late), Pulse::Late);
        assert_eq!(heartbeat.on_time(late), Pulse::Fine);
        assert_eq!(heartbeat.on_time(late + GRACE), Pulse::Gone);
    }

    #[test]
    fn a_jump_of_the_clock_alone_ends_nothing() {
        let mut heartbeat = Heartbeat::new(START);
        let later = START + INTERVAL * 1_000;
        assert_eq!(heartbeat.on_time(later), Pulse::Late);
        heartbeat.on_beat(later);
        assert_eq!(heartbeat.on_time(later + INTERVAL), Pulse::Fine);
    }
}
