//! What those who look at a discussion see of its outbox.

use std::fmt;
use std::sync::Arc;

use dirigent_core::Timestamp;

use crate::ChannelId;
use crate::record::outbox::OutboxKind;

/// A discussion's guide or result that is still to be posted. `Debug` shows no text.
///
/// ```
/// use dirigent::operate::{PostState, OutboxEntry};
/// fn is_stuck(unposted: &OutboxEntry) -> bool {
///     unposted.state == PostState::GivenUp
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutboxEntry {
    /// What it is.
    pub kind: OutboxKind,
    /// Where it goes.
    pub to: ChannelId,
    /// How many of its messages are in the channel.
    pub posted: usize,
    /// How many messages it has.
    pub parts: usize,
    /// What is waited for.
    pub state: PostState,
    /// Whether the next message may be in the channel although the chat did not say so. It is looked for before it is
    /// posted again.
    pub in_doubt: bool,
    /// Its text: the messages one below the other.
    pub text: Arc<str>,
}

impl fmt::Debug for OutboxEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutboxEntry")
            .field("kind", &self.kind)
            .field("to", &self.to)
            .field("posted", &self.posted)
            .field("parts", &self.parts)
            .field("state", &self.state)
            .field("in_doubt", &self.in_doubt)
            .field("text", &format_args!("{} bytes", self.text.len()))
            .finish()
    }
}

/// What a post of the outbox waits for.
///
/// ```
/// use dirigent::operate::PostState;
/// assert_ne!(PostState::UnderWay, PostState::GivenUp);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PostState {
    /// The store, or a place among the requests to the chat: it is tried as soon as there is one.
    Ready,
    /// A request to the chat is under way.
    UnderWay,
    /// An attempt failed, or could not begin: it is tried again then, or once the chat answers again where no time is known.
    Waiting(Option<Timestamp>),
    /// The chat will not take it: its channel is gone, or the message is refused. The next start of the process tries once
    /// more.
    GivenUp,
}
