//! The messages that a discussion still has to post: its guide, and its result.

use std::sync::Arc;

use dirigent_core::{MessageId, Timestamp};

use crate::ChannelId;
use crate::record::channel::OutgoingPart;
use crate::text::split::split_up_to;
use crate::values::message::Nonce;

/// A post that must arrive exactly once, even if the process is restarted several times. It is part of the channel's
/// record until its last message is posted. Its `Debug` output contains no text.
///
/// ```
/// use dirigent::{ChannelId, MessageId};
/// use dirigent::store::{OutboxMessage, OutboxKind};
/// use dirigent::ports::Timestamp;
///
/// let message = OutboxMessage {
///     kind: OutboxKind::Result,
///     to: ChannelId::new(1),
///     after: Some(MessageId::new(7)),
///     at: Timestamp::from_millis(1_000),
///     tried: false,
///     parts: Vec::new(),
/// };
/// assert!(message.parts.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct OutboxMessage {
    /// The kind of post.
    pub kind: OutboxKind,
    /// The channel that gets the post.
    pub to: ChannelId,
    /// The message after which the unposted messages of this post can stand. `None` until it is looked up. After a
    /// restart the library looks for its messages behind this one.
    pub after: Option<MessageId>,
    /// The time of its last progress. The chat surely remembers its nonces for a while from then on.
    pub at: Timestamp,
    /// `true` if the next message may be in the channel without a confirmation. It is stored as `true` before the first
    /// attempt, and as `false` again if the attempt surely posted no message.
    pub tried: bool,
    /// The messages of the post, in order.
    pub parts: Vec<OutgoingPart>,
}

/// The kinds of outbox posts.
///
/// ```
/// use dirigent::store::OutboxKind;
/// assert_ne!(OutboxKind::Guide, OutboxKind::Result);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "plain data that stores map variant by variant")]
pub enum OutboxKind {
    /// The discussion's guide, for its own channel. After it the first speaker is woken.
    Guide,
    /// The discussion's result, for its callback channel. After it that channel is woken.
    Result,
}

/// Keeps the nonces of the outbox apart from those of effects.
const OUTBOX: u64 = 1 << 31;

impl OutboxMessage {
    /// Creates a post of the channel `from`. It is split into messages of at most `longest` UTF-16 code units.
    pub(crate) fn new(
        kind: OutboxKind,
        from: ChannelId,
        to: ChannelId,
        now: Timestamp,
        (text, longest): (&str, usize),
    ) -> Self {
        let parts = split_up_to(text, longest, usize::MAX).0.into_iter().map(Into::into);
        Self::of_parts(kind, from, to, now, parts)
    }

    /// Creates the same post for another channel.
    pub(crate) fn sent_to(&self, from: ChannelId, to: ChannelId, now: Timestamp) -> Self {
        let parts = self.parts.iter().map(|part| Arc::clone(&part.content));
        Self::of_parts(self.kind, from, to, now, parts)
    }

    fn of_parts(
        kind: OutboxKind,
        from: ChannelId,
        to: ChannelId,
        now: Timestamp,
        parts: impl Iterator<Item = Arc<str>>,
    ) -> Self {
        let (number, after) = match kind {
            // A channel that was just created contains none of our messages.
            OutboxKind::Guide => (OUTBOX, Some(MessageId::new(0))),
            OutboxKind::Result => (OUTBOX | 1 << 16, None),
        };
        let parts = parts.zip(number..).map(|(content, number)| {
            let nonce = Nonce::from_parts(from.get(), now.as_millis(), number);
            OutgoingPart { content, nonce, posted: None }
        });
        Self { kind, to, after, at: now, tried: false, parts: parts.collect() }
    }

    pub(crate) fn next(&self) -> Option<&OutgoingPart> {
        self.parts.iter().find(|part| part.posted.is_none())
    }

    /// Records that the next message was posted.
    pub(crate) fn posted(&mut self, id: MessageId, now: Timestamp) {
        if let Some(part) = self.parts.iter_mut().find(|part| part.posted.is_none()) {
            part.posted = Some(id);
            self.at = now;
            self.tried = false;
        }
    }

    /// Returns the message after which the next one stands, if it stands anywhere.
    pub(crate) fn behind(&self) -> Option<MessageId> {
        self.parts.iter().filter_map(|part| part.posted).max().max(self.after)
    }
}
