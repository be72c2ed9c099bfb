//! A channel's record, and the reply that is being posted.

use std::fmt;
use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, RunId, Snapshot, Timestamp, TurnId};

use crate::record::discussion::Discussion;
use crate::record::handed::Handed;
use crate::record::outbox::OutboxMessage;
use crate::values::extras::Extras;
use crate::values::message::Nonce;

/// Counts the commits of one channel; a channel without a record has revision 0.
///
/// ```
/// use dirigent::store::Revision;
/// assert_eq!(Revision::default().next(), Revision::new(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// Wraps the number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number inside.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision of the next commit. The highest number stays: only a store that made it up answers with it.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

/// A channel's record with its revision.
///
/// ```
/// use dirigent::store::{ChannelRecord, Revision, StoredChannel};
/// let stored = StoredChannel { revision: Revision::new(3), record: ChannelRecord::default() };
/// assert_eq!(stored.revision.get(), 3);
/// ```
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "an answer that stores build")]
pub struct StoredChannel {
    /// How often it was committed.
    pub revision: Revision,
    /// What was stored.
    pub record: ChannelRecord,
}

/// Everything of a channel that survives a restart.
///
/// ```
/// assert!(dirigent::store::ChannelRecord::default().outgoing.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct ChannelRecord {
    /// The turn machine.
    pub snapshot: Snapshot,
    /// What was agreed when the discussion was opened.
    pub discussion: Option<Arc<Discussion>>,
    /// What the discussion still has to post, in order. At most its guide and its result.
    pub outbox: Vec<OutboxMessage>,
    /// A hosted agent's reply that is being posted. Erased when the reply was posted.
    pub outgoing: Option<Arc<Outgoing>>,
    /// What agents were handed of what was said, of those that were not handed everything up to
    /// [`heard`](Self::heard) and the channel's newest message. While something is [`unserved`](Self::unserved), of all that
    /// were handed anything.
    pub handed: Vec<Handed>,
    /// What people said that no turn has taken, or that did not fit into one: the channel does not sleep over it.
    pub unserved: Option<Span>,
    /// Every message up to this one was heard: it was pushed while no gap was open, or it was read, or it was
    /// said before the channel was given its mode.
    /// The library's own posts, which it knows from their receipts, do not raise it. `None`: nothing
    /// was heard yet, or an older version wrote the record, which did not tell.
    pub heard: Option<MessageId>,
    /// Every message up to this one was read from the chat, where that is less than [`heard`](Self::heard).
    /// Of what lies between the two an event may have been lost without notice; it is read with the next
    /// gap, and the ids that the snapshot remembers, with [`known`](Self::known), tell what of it was heard. `None`: as far as
    /// `heard`.
    pub verified: Option<MessageId>,
    /// Messages after that which were heard and which the snapshot does not remember any more, ascending. Nothing where the
    /// channel was read since.
    pub known: Vec<MessageId>,
    /// From where messages are being read that may not have been pushed; `None` while no such gap is
    /// open.
    pub gap_from: Option<GapFrom>,
    /// When an operator last stopped, held or finished the channel, while it is paused: what people said before
    /// that, and is read later, does not end the pause.
    pub commanded_at: Option<Timestamp>,
    /// Which process wrote this record, and with which of its commits. By it a process finds out whether a
    /// commit of its own was made whose answer was lost, or another process has the channel. `None`: an
    /// older version wrote it.
    pub writer: Option<Writer>,
}

/// From where the messages of a gap are read.
///
/// ```
/// use dirigent::store::GapFrom;
/// use dirigent::MessageId;
/// assert_eq!(GapFrom::Start.message(), None);
/// assert_eq!(GapFrom::After(MessageId::new(7)).message(), Some(MessageId::new(7)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "plain data that stores map variant by variant")]
pub enum GapFrom {
    /// Nothing was heard before the gap, and the chat does not tell which ids a moment has
    /// ([`DiscordApi::id_before`](crate::DiscordApi::id_before)), or an older version wrote the record: only
    /// messages after the record's time count.
    Start,
    /// Messages after this one. It moves up with each page that was read.
    After(MessageId),
}

impl GapFrom {
    /// The message after which the gap begins; `None` when nothing was heard before.
    pub const fn message(self) -> Option<MessageId> {
        match self {
            Self::Start => None,
            Self::After(message) => Some(message),
        }
    }
}

/// Which process wrote a record, and with which of its commits.
///
/// It tells a commit of the process's own, whose answer was lost, from a commit of another process. It
/// does not name a record: when the process loads a channel again, the count begins again.
///
/// ```
/// use dirigent::store::Writer;
///
/// let first = Writer { process: 0x5eed, count: 1 };
/// assert_ne!(first, Writer { count: 2, ..first });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Writer {
    /// A random number that the process drew when it started; two processes draw the same one with a
    /// chance of 2^-64.
    pub process: u64,
    /// Which of the process's commits of this channel it was, counted from 1 since the process last loaded
    /// the channel. Attempts that failed count, too.
    pub count: u64,
}

/// A hosted agent's reply on its way into the channel. `Debug` shows no text.
///
/// ```
/// use dirigent::snapshot::AgentKey;
/// use dirigent::store::Outgoing;
/// use dirigent::hooks::{RunId, TurnId};
///
/// let reply = Outgoing {
///     agent: AgentKey::new(1),
///     turn: TurnId::new(9),
///     run: RunId::new(9),
///     end: dirigent::store::ReplyEnd::Finished,
///     parts: Vec::new(),
///     after: None,
///     composed_at: None,
///     doubt_since: None,
///     waiting_since: None,
///     extras: None,
/// };
/// assert!(reply.parts.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct Outgoing {
    /// Whose reply.
    pub agent: AgentKey,
    /// In which turn.
    pub turn: TurnId,
    /// Of which run.
    pub run: RunId,
    /// What becomes of the turn once it has arrived.
    pub end: ReplyEnd,
    /// Its messages in order.
    pub parts: Vec<OutgoingPart>,
    /// The newest message that was known when the agent had answered: every part stands behind it. `None`
    /// where no message was known.
    pub after: Option<MessageId>,
    /// When the agent had answered: no part is older. `None` in a record of a version that did not store it.
    pub composed_at: Option<Timestamp>,
    /// When the first attempt at the next part began whose outcome is unknown: since then the part may
    /// be in the channel. `None` when it is surely not there.
    pub doubt_since: Option<Timestamp>,
    /// Since when the reply waits because the chat cannot be reached; `None` while it can.
    pub waiting_since: Option<Timestamp>,
    /// What it has besides its text: the first part answers the message that is referred to, the last one shows the
    /// embeds, all may ping the same. `None` where it is text only, as in a record of a version that knew nothing else.
    pub extras: Option<Arc<Extras>>,
}

/// What becomes of a turn once the agent's reply has arrived.
///
/// ```
/// assert_eq!(dirigent::store::ReplyEnd::default(), dirigent::store::ReplyEnd::Finished);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a store must know how to write each")]
pub enum ReplyEnd {
    /// It is over, and the next in the list has its turn.
    #[default]
    Finished,
    /// The agent keeps the floor: its completion signal is still to come.
    Unfinished,
    /// It is over, and a person is to answer before any agent does.
    AwaitsHuman,
}

/// One message of a reply.
///
/// ```
/// use dirigent::ports::Nonce;
/// use dirigent::store::OutgoingPart;
/// let part =
///     OutgoingPart { content: "words".into(), nonce: Nonce::from_parts(1, 2, 3), posted: None };
/// assert!(!format!("{part:?}").contains("words"));
/// ```
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct OutgoingPart {
    /// Its text, at most 2,000 characters. Empty in a reply of embeds alone.
    pub content: Arc<str>,
    /// Makes posting it again harmless.
    pub nonce: Nonce,
    /// The message, once it was posted.
    pub posted: Option<MessageId>,
}

impl fmt::Debug for OutgoingPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingPart")
            .field("content", &format_args!("{} bytes", self.content.len()))
            .field("nonce", &self.nonce)
            .field("posted", &self.posted)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_that_a_store_made_up_overflows_nothing() {
        assert_eq!(Revision::new(u64::MAX - 1).next(), Revision::new(u64::MAX));
        assert_eq!(Revision::new(u64::MAX).next(), Revision::new(u64::MAX), "not none");
    }
}
