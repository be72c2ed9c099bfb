//! Ranges of messages: people's words that an agent is still to be handed (rules 53 to 55).

use crate::MessageId;

/// A range of messages, by id. One range is enough for all that waits: what people said in between is handed over with its
/// ends.
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
    /// The lowest.
    pub first: MessageId,
    /// The highest.
    pub last: MessageId,
}

impl Span {
    /// One message.
    pub const fn of(message: MessageId) -> Self {
        Self { first: message, last: message }
    }

    /// Widens the range by another.
    pub fn cover(&mut self, other: Self) {
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
    }
}
