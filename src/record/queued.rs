//! What people said and an agent is still to be handed.

use dirigent_core::{AgentKey, MessageId, TurnId};

/// What people said and an agent is handed with its turn, whatever else it missed: a range of
/// messages. Part of a channel's record while that turn lasts, so that a restart hands it over too.
///
/// ```
/// use dirigent::snapshot::AgentKey;
/// use dirigent::store::QueuedMessages;
/// use dirigent::MessageId;
/// use dirigent::hooks::TurnId;
///
/// let (first, last) = (MessageId::new(7), MessageId::new(9));
/// let queued = QueuedMessages { agent: AgentKey::new(1), turn: TurnId::new(2), first, last };
/// assert!(queued.first <= queued.last);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that stores map field by field")]
pub struct QueuedMessages {
    /// Who has the floor.
    pub agent: AgentKey,
    /// In which turn.
    pub turn: TurnId,
    /// The first of the messages.
    pub first: MessageId,
    /// The last one; what people said in between is meant too.
    pub last: MessageId,
}
