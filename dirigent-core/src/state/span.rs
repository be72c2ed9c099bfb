//! Ranges of people's messages that an agent has not received yet (rules 53 to 55).

use crate::MessageId;

/// A range of messages, by id. One range is enough for all messages that wait, because an agent that gets its ends also
/// gets what people said in between.
///
/// ```
/// use dirigent_core::view::Span;
/// use dirigent_core::MessageId;
///
/// let mut span = Span::of(MessageId::new(5));
/// span.cover(Span::of(MessageId::new(3)));
/// assert_eq!((span.first.get(), span.last.get()), (3, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The lowest id.
    pub first: MessageId,
    /// The highest id.
    pub last: MessageId,
}

impl Span {
    /// Returns the range of one message.
    pub const fn of(message: MessageId) -> Self {
        Self { first: message, last: message }
    }

    /// Widens the range so that it covers another.
    pub fn cover(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}
