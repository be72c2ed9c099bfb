//! Faults of connections and events.

use dirigent::UserId;

use super::shard::Shard;
use dirigent_testkit::Random;
use dirigent_testkit::memory_discord::PushFault;

/// A fault of a gateway connection.
///
/// ```
/// use dirigent_loopback::GatewayFault;
///
/// assert!(GatewayFault::Cut.keeps_session());
/// assert!(GatewayFault::Close { code: 4000 }.keeps_session());
/// assert!(!GatewayFault::Close { code: 4009 }.keeps_session());
/// assert!(!GatewayFault::InvalidSession { resumable: false }.keeps_session());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum GatewayFault {
    /// The connection breaks without a word.
    Cut,
    /// Discord asks the client to reconnect (op 7).
    Reconnect,
    /// Discord says that the session is invalid (op 9).
    InvalidSession {
        /// True if the client may resume it nevertheless.
        resumable: bool,
    },
    /// Discord closes the connection with this code.
    Close {
        /// The status of the close frame.
        code: u16,
    },
    /// The connection looks alive, but sends nothing more, not even answers to heartbeats.
    Silent,
}

impl GatewayFault {
    /// Returns true if the session can be resumed afterwards.
    pub const fn keeps_session(self) -> bool {
        match self {
            Self::Cut | Self::Reconnect | Self::Silent => true,
            Self::InvalidSession { resumable } => resumable,
            Self::Close { code } => !super::close::Close::ends_session(code),
        }
    }
}

/// A plan of random faults on the gateway.
///
/// Every event to a session is one throw of its dice. The dice depend on the seed, the account, its
/// shard and how many sessions that shard had before. So the faults of one bot do not depend on other
/// bots.
///
/// ```
/// use dirigent_loopback::{GatewayFault, GatewayFaults};
/// use dirigent_testkit::memory_discord::PushFault;
///
/// let faults = GatewayFaults::new(42)
///     .with_rate(GatewayFault::Cut, 5)
///     .with_event_rate(PushFault::Dropped, 10);
/// ```
#[derive(Clone, Debug, Default)]
pub struct GatewayFaults {
    seed: u64,
    /// Faults of connections, each with its rate in thousandths of events.
    rates: Vec<(GatewayFault, u32)>,
    /// Faults of events.
    event_rates: Vec<(PushFault, u32)>,
}

impl GatewayFaults {
    /// Creates a plan without faults. Random faults will come from this seed.
    pub const fn new(seed: u64) -> Self {
        Self { seed, rates: Vec::new(), event_rates: Vec::new() }
    }

    /// Creates a plan for a bad day. Connections are cut, closed and moved, and sessions are lost.
    /// Events are lost, duplicated, late and out of order.
    pub fn hostile(seed: u64) -> Self {
        let second = std::time::Duration::from_secs(1);
        Self::new(seed)
            .with_rate(GatewayFault::Cut, 5)
            .with_rate(GatewayFault::Reconnect, 5)
            .with_rate(GatewayFault::Close { code: 4000 }, 3)
            .with_rate(GatewayFault::InvalidSession { resumable: true }, 2)
            .with_rate(GatewayFault::InvalidSession { resumable: false }, 2)
            .with_event_rate(PushFault::Dropped, 10)
            .with_event_rate(PushFault::Duplicated, 20)
            .with_event_rate(PushFault::HeldBack { events: 1, at_most: second * 60 }, 30)
            .with_event_rate(PushFault::Delayed { by: second * 20 }, 20)
    }

    /// Breaks the connection in this way after events, at a rate in thousandths.
    #[must_use]
    pub fn with_rate(mut self, fault: GatewayFault, per_mille: u32) -> Self {
        self.rates.push((fault, per_mille));
        self
    }

    /// Adds a fault to events, at a rate in thousandths.
    #[must_use]
    pub fn with_event_rate(mut self, fault: PushFault, per_mille: u32) -> Self {
        self.event_rates.push((fault, per_mille));
        self
    }

    /// Returns the dice of an account's shard for its first session, its second, and so on.
    pub(super) fn dice(&self, user: UserId, shard: Shard, session: u64) -> Random {
        let [id, count] = shard.pair();
        let mut seed = self.seed;
        for part in [user.get(), id, count, session] {
            seed = Random::new(seed ^ part).draw();
        }
        Random::new(seed)
    }

    /// Draws the fault of the next event, and of the connection after it.
    pub(super) fn draw(&self, dice: &mut Random) -> (Option<PushFault>, Option<GatewayFault>) {
        (draw_of(&self.event_rates, dice), draw_of(&self.rates, dice))
    }
}

fn draw_of<T: Copy>(rates: &[(T, u32)], dice: &mut Random) -> Option<T> {
    if rates.is_empty() {
        return None;
    }
    dice.by_rate(rates.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn story(faults: &GatewayFaults, user: u64) -> Vec<(Option<PushFault>, Option<GatewayFault>)> {
        let mut dice = faults.dice(UserId::new(user), Shard::ONLY, 1);
        (0..2_000).map(|_| faults.draw(&mut dice)).collect()
    }

    #[test]
    fn a_seed_is_a_story_and_another_is_another() {
        let faults = GatewayFaults::hostile(7);
        assert_eq!(story(&faults, 1), story(&faults, 1));
        assert_ne!(story(&faults, 1), story(&faults, 2));
        assert_ne!(story(&faults, 1), story(&GatewayFaults::hostile(8), 1));
    }

    #[test]
    fn rates_are_about_right() {
        let faults = GatewayFaults::new(1).with_event_rate(PushFault::Dropped, 100);
        let dropped = story(&faults, 5).iter().filter(|(event, _)| event.is_some()).count();
        assert!((150..250).contains(&dropped), "{dropped}");
        assert!(story(&faults, 5).iter().all(|(_, connection)| connection.is_none()));
    }
}
