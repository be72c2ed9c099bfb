//! People's words that wait for the next grant (rules 53 to 55).

use crate::MessageId;

/// A range of messages, by id.
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
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
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

/// What may be a range of messages: people's words that an agent is still to be handed.
///
/// One range is enough: what people said in between is handed over with its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Queue(pub(crate) Option<Span>);

impl Queue {
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Takes in what may be another range; gives whether it is one.
    pub(crate) fn add(&mut self, other: Option<Span>) -> bool {
        match (&mut self.0, other) {
            (Some(span), Some(other)) => span.cover(other),
            (None, Some(other)) => self.0 = Some(other),
            (_, None) => return false,
        }
        true
    }

    /// Hands everything over.
    pub(crate) const fn take(&mut self) -> Option<Span> {
        self.0.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(first: u64, last: u64) -> Span {
        Span { first: MessageId::new(first), last: MessageId::new(last) }
    }

    #[test]
    fn a_queue_widens_to_cover_everything_and_is_handed_over_once() {
        let mut queue = Queue::default();
        assert!(queue.is_empty() && !queue.add(None));
        assert!(queue.add(Some(span(5, 5))) && queue.add(Some(span(2, 3))));
        assert!(queue.add(Some(span(4, 9))) && !queue.add(None));
        assert_eq!(queue.take(), Some(span(2, 9)));
        assert_eq!(queue.take(), None);
    }
}
