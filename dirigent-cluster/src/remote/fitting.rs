//! What fits into one question or answer, and what may be concluded without one.

use std::sync::Arc;

use dirigent::ChatMessage;
use dirigent::ports::{ApiError, Certainty, ErrorKind};
use dirigent_relay::RelayError;

/// What may be concluded where a question about the chat has no answer.
pub(super) fn unanswered(error: RelayError) -> ApiError {
    let kind = if error.is_certain() { ErrorKind::Unavailable } else { ErrorKind::NoAnswer };
    let certainty = if error.is_certain() { Certainty::NotDone } else { Certainty::Unknown };
    ApiError::new(kind).with_certainty(certainty).with_source(error)
}

/// The newest of these messages, at most this number of bytes of them as they are written.
pub(super) fn newest_of<'m>(
    messages: impl DoubleEndedIterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
) -> Vec<Arc<ChatMessage>> {
    let mut newest = within(messages.rev(), bytes_max);
    newest.reverse();
    newest
}

/// The first of these messages, at most this number of bytes of them.
pub(super) fn within<'m>(
    messages: impl Iterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
) -> Vec<Arc<ChatMessage>> {
    fitting(messages, bytes_max, false)
}

/// The first of these messages, at most this number of bytes of them, but at least one: so that who asks for one part after
/// the other comes to an end.
pub(super) fn within_or_one<'m>(
    messages: impl Iterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
) -> Vec<Arc<ChatMessage>> {
    fitting(messages, bytes_max, true)
}

fn fitting<'m>(
    messages: impl Iterator<Item = &'m Arc<ChatMessage>>,
    bytes_max: usize,
    is_one_taken: bool,
) -> Vec<Arc<ChatMessage>> {
    let (mut bytes, mut first) = (0, Vec::new());
    for message in messages {
        bytes += dirigent_relay::parts::write(message).len() + 1;
        let is_taken = bytes <= bytes_max || (is_one_taken && first.is_empty());
        if !is_taken {
            break;
        }
        first.push(Arc::clone(message));
    }
    first
}
