//! When something is due, and why.

use crate::Timestamp;

/// The next moment at which a channel wants to be told that time passed.
///
/// ```
/// use dirigent_core::{Deadline, DeadlineReason, Timestamp};
/// let due = Deadline { at: Timestamp::from_millis(5), reason: DeadlineReason::Start };
/// assert!(due.at < Timestamp::from_millis(6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Deadline {
    /// When the deadline is due.
    pub at: Timestamp,
    /// What happens when it is due.
    pub reason: DeadlineReason,
}

/// Why something is due.
///
/// ```
/// use dirigent_core::DeadlineReason;
/// assert_ne!(DeadlineReason::Start, DeadlineReason::Run);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeadlineReason {
    /// The granted agent must have started.
    Start,
    /// The run must have ended.
    Run,
    /// The run takes longer than it should.
    Slow,
    /// The orchestrator must have answered.
    Consult,
    /// The reply must have arrived.
    Delivery,
    /// The author was quiet long enough for any message to confirm.
    Quiet,
    /// The next poll for the reply.
    Poll,
    /// The member list must have been read.
    Members,
    /// The member list, which was never read, is asked for again.
    MembersRetry,
    /// The chat has been away for as long as a turn waits for it.
    Outage,
    /// The reminder that was held back.
    Reminder,
    /// The initiator's run after a reminder must have ended.
    Permit,
    /// A discussion at a ceiling lay idle long enough: it is archived.
    Overdue,
    /// An agent that has had its turns for an hour may have another, and a message waits for it.
    Cap,
    /// People were quiet long enough: their words wake the channel.
    Settle,
    /// An agent may write again.
    MayWrite,
    /// A trigger message is removed.
    Cleanup,
    /// An idle channel gives its memory back.
    Forget,
}
