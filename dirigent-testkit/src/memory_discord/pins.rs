//! What is pinned in a channel.

use dirigent::MessageId;
use dirigent::ports::Timestamp;

/// The pinned messages of a channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// In the order in which they were pinned.
    pinned: Vec<(MessageId, Timestamp)>,
    /// When one was pinned last, though it may be pinned no more.
    last: Option<Timestamp>,
}

impl Pins {
    /// Pins a message; says whether it was not pinned.
    pub fn add(&mut self, message: MessageId, now: Timestamp) -> bool {
        if self.contains(message) {
            return false;
        }
        self.pinned.push((message, now));
        self.last = Some(now);
        true
    }

    /// Takes a pin away; says whether there was one.
    pub fn remove(&mut self, message: MessageId) -> bool {
        let before = self.pinned.len();
        self.pinned.retain(|(known, _)| *known != message);
        self.pinned.len() < before
    }

    pub fn contains(&self, message: MessageId) -> bool {
        self.pinned.iter().any(|(known, _)| *known == message)
    }

    /// Each pinned message and when it was pinned.
    pub fn oldest_first(&self) -> impl DoubleEndedIterator<Item = (MessageId, Timestamp)> {
        self.pinned.iter().copied()
    }

    pub fn len(&self) -> usize {
        self.pinned.len()
    }

    pub fn is_empty(&self) -> bool {
        self.pinned.is_empty()
    }

    /// When a message was pinned last.
    pub const fn last(&self) -> Option<Timestamp> {
        self.last
    }
}
