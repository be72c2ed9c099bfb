//! An outage of the chat (rules 70 and 71).

use crate::Timestamp;

/// An outage: the chat does not answer.
///
/// ```
/// use dirigent_core::snapshot::ChatOutage;
/// use dirigent_core::Timestamp;
/// let since = Timestamp::from_millis(5);
/// let outage = ChatOutage { since, counted_from: since };
/// assert!(outage.counted_from >= outage.since);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatOutage {
    /// The moment when the channel learned of it.
    pub since: Timestamp,
    /// The moment from which [`Deadlines::outage_max`](crate::config::Deadlines::outage_max) counts. It is later than
    /// `since` if a hold ended during the outage.
    pub counted_from: Timestamp,
}
