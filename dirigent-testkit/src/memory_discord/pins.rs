//! The pins of a channel.

use dirigent::MessageId;
use dirigent::ports::Timestamp;

/// The pinned messages of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// The pinned messages, in the order of pinning.
    pinned: Vec<(MessageId, Timestamp)>,
    /// The time of the last pin, even if that was removed.
    last: Option<Timestamp>,
}

impl Pins {
    /// Pins a message. Returns true if it was not pinned.
    pub fn add(&mut self, message: MessageId, now: Timestamp) -> bool {
        if self.contains(message) {
            return false;
        }
        self.pinned.push((message, now));
        self.last = Some(now);
        true
    }

    /// Removes a pin. Returns true if there was one.
    pub fn remove(&mut self, message: MessageId) -> bool {
        let before = self.pinned.len();
        self.pinned.retain(|(known, _)| *known != message);
        self.pinned.len() < before
    }

    pub fn contains(&self, message: MessageId) -> bool {
        self.pinned.iter().any(|(known, _)| *known == message)
    }

    /// Returns each pinned message with the time of its pin.
    pub fn oldest_first(&self) -> impl DoubleEndedIterator<Item = (MessageId, Timestamp)> {
        self.pinned.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.pinned.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }

    /// Returns the time of the last pin.
    pub const fn last(&self) -> Option<Timestamp> {
        self.last
    }
}
