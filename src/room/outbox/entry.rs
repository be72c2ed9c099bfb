//! The outbox of a discussion, as seen from outside.

use std::fmt;
use std::sync::Arc;

use dirigent_core::Timestamp;

use crate::ChannelId;
use crate::record::outbox::OutboxKind;

/// A discussion's guide or result that is not posted yet. Its `Debug` output contains no text.
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
    /// The kind of post.
    pub kind: OutboxKind,
    /// The channel that gets the post.
    pub to: ChannelId,
    /// The number of its messages that are in the channel.
    pub posted: usize,
    /// The number of its messages.
    pub parts: usize,
    /// The state of the post.
    pub state: PostState,
    /// `true` if the next message may be in the channel without the chat's answer. The library looks for it before it
    /// posts it again.
    pub in_doubt: bool,
    /// The text: its messages, one below the other.
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

/// The states of a post in the outbox.
///
/// ```
/// use dirigent::operate::PostState;
/// assert_ne!(PostState::UnderWay, PostState::GivenUp);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PostState {
    /// The post waits for the store, or for a place among the requests to the chat. It is tried as soon as there is
    /// one.
    Ready,
    /// A request to the chat is in progress.
    UnderWay,
    /// An attempt failed, or could not begin. It is tried again at this time, or once the chat answers again if there
    /// is no time.
    Waiting(Option<Timestamp>),
    /// The chat does not accept it, because its channel is gone or the message is refused. The next start of the
    /// process tries it once more.
    GivenUp,
}
