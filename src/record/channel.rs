//! A channel's record, and the reply that is being posted.

use std::fmt;
use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, RunId, Snapshot, Timestamp, TurnId};

use crate::record::discussion::Discussion;
use crate::record::handed::ReadMark;
use crate::record::outbox::OutboxMessage;
use crate::values::extras::Extras;
use crate::values::message::Nonce;

/// The number of commits of one channel. A channel without a record has revision 0.
///
/// ```
/// use dirigent::store::Revision;
/// assert_eq!(Revision::default().next(), Revision::new(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Revision(u64);

impl Revision {
    /// Creates a revision with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Returns the revision of the next commit. The highest number stays as it is, because only a store that made it up
    /// returns it.
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
    /// The number of commits.
    pub revision: Revision,
    /// The stored record.
    pub record: ChannelRecord,
}

/// All data of a channel that survives a restart.
///
/// ```
/// assert!(dirigent::store::ChannelRecord::default().outgoing.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct ChannelRecord {
    /// The state of the turn machine.
    pub snapshot: Snapshot,
    /// The terms of the discussion, from when it was opened.
    pub discussion: Option<Arc<Discussion>>,
    /// The messages that the discussion still has to post, in order. These are at most its guide and its result.
    pub outbox: Vec<OutboxMessage>,
    /// A hosted agent's reply that is being posted. It is removed when the reply is posted.
    pub outgoing: Option<Arc<Outgoing>>,
    /// The marks of agents. An agent has no mark here if it got everything up to [`heard`](Self::heard) and the
    /// channel's newest message. While there is something [`unserved`](Self::unserved), all agents that got anything
    /// have one.
    pub handed: Vec<ReadMark>,
    /// Messages of people that no turn has taken yet, or that did not fit into one. The channel does not become dormant
    /// while there are any.
    pub unserved: Option<Span>,
    /// The last message up to which every message was heard. A message counts as heard if it was pushed while no gap
    /// was open, if it was read, or if it is from before the channel got its mode. The library's own posts, which it
    /// knows from their receipts, do not raise this id. `None` if no message was heard yet, or if an older version
    /// wrote the record, which did not store it.
    pub heard: Option<MessageId>,
    /// The last message up to which every message was read from the chat, if it is lower than [`heard`](Self::heard).
    /// An event of a message between the two may have been lost unnoticed, so these messages are read with the next
    /// gap. The ids that the snapshot remembers, together with [`known`](Self::known), tell which of them were heard.
    /// `None` if everything up to `heard` was read.
    pub verified: Option<MessageId>,
    /// Messages after that one that were heard and that the snapshot no longer remembers, in ascending order. It is
    /// empty if the channel was read since.
    pub known: Vec<MessageId>,
    /// The start of the gap: messages after it may not have been pushed, and are being read. `None` while no gap is
    /// open.
    pub gap_from: Option<GapFrom>,
    /// The time when an operator last stopped, held or finished the channel, while it is paused. A message that people
    /// wrote before this time, and that is read later, does not end the pause.
    pub commanded_at: Option<Timestamp>,
    /// The process that wrote this record, and the number of its commit. A process needs it if the answer to its commit
    /// was lost, because it shows whether the commit was made or another process has the channel. `None` if an older
    /// version wrote the record.
    pub writer: Option<Writer>,
}

/// The start of the messages that are read for a gap.
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
    /// No message was heard before the gap, and the start is unknown. Either the chat does not tell which ids a moment
    /// has ([`DiscordApi::id_before`](crate::DiscordApi::id_before)), or an older version wrote the record. Only
    /// messages after the record's time count.
    Start,
    /// The gap contains the messages after this one. It moves up with each page that was read.
    After(MessageId),
}

impl GapFrom {
    /// Returns the message after which the gap begins. `None` if no message was heard before.
    pub const fn message(self) -> Option<MessageId> {
        match self {
            Self::Start => None,
            Self::After(message) => Some(message),
        }
    }
}

/// The process that wrote a record, and the number of its commit.
///
/// It distinguishes the process's own commit, if its answer was lost, from a commit of another process. It does not
/// identify a record, because the count begins again when the process loads the channel again.
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
    /// A random number that the process drew when it started. Two processes draw the same number with a probability of
    /// 2^-64.
    pub process: u64,
    /// The number of the process's commit of this channel. It counts from 1 since the process last loaded the channel,
    /// and includes failed attempts.
    pub count: u64,
}

/// A hosted agent's reply on its way into the channel. Its `Debug` output contains no text.
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
    /// The agent of the reply.
    pub agent: AgentKey,
    /// The turn of the reply.
    pub turn: TurnId,
    /// The run of the reply.
    pub run: RunId,
    /// The end of the turn once the reply has arrived.
    pub end: ReplyEnd,
    /// The messages of the reply, in order.
    pub parts: Vec<OutgoingPart>,
    /// The newest message that was known when the agent answered. Every part comes after it. `None` if no message was
    /// known.
    pub after: Option<MessageId>,
    /// The time when the agent answered. No part is older. `None` in a record of a version that did not store it.
    pub composed_at: Option<Timestamp>,
    /// The time of the first attempt at the next part with an unknown outcome. The part may be in the channel since
    /// then. `None` if the part is surely not there.
    pub doubt_since: Option<Timestamp>,
    /// The time since when the reply waits because the chat cannot be reached. `None` while it can be reached.
    pub waiting_since: Option<Timestamp>,
    /// The parts of the reply besides its text. The first message has the reference to the message that it answers, the
    /// last one has the embeds, and all of them may ping the same accounts. `None` if the reply is only text, as in
    /// every record of a version without extras.
    pub extras: Option<Arc<Extras>>,
}

/// The end of a turn once the agent's reply has arrived.
///
/// ```
/// assert_eq!(dirigent::store::ReplyEnd::default(), dirigent::store::ReplyEnd::Finished);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "a store must know how to write each")]
pub enum ReplyEnd {
    /// The turn is over, and the next agent in the list gets its turn.
    #[default]
    Finished,
    /// The agent keeps the floor, because its completion signal has not come yet.
    Unfinished,
    /// The turn is over, and a person has to answer before any agent does.
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
    /// The text, at most 2,000 characters. It is empty in a reply that has only embeds.
    pub content: Arc<str>,
    /// The nonce, which makes a repeated post harmless.
    pub nonce: Nonce,
    /// The posted message. `None` until it is posted.
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
