//! A chat that does not answer (rules 70 and 71).

use crate::Timestamp;

/// A chat that does not answer.
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
    /// When the channel was told so.
    pub since: Timestamp,
    /// From when [`Deadlines::outage_max`](crate::config::Deadlines::outage_max) counts: later than `since` when
    /// a hold was ended meanwhile.
    pub counted_from: Timestamp,
}
