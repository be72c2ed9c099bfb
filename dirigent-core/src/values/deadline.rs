//! The next deadline of a channel, and its reason.

use crate::Timestamp;

/// The next moment at which a channel wants an input, if only [`Input::Tick`](crate::Input::Tick).
///
/// ```
/// use dirigent_core::{Deadline, DeadlineReason, Timestamp};
/// let due = Deadline { at: Timestamp::from_millis(5), reason: DeadlineReason::Start };
/// assert!(due.at < Timestamp::from_millis(6));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Deadline {
    /// The moment at which the deadline is due.
    pub at: Timestamp,
    /// The reason, which says what happens at that moment.
    pub reason: DeadlineReason,
}

/// The reason for a deadline.
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
    /// The author was quiet for so long that any of its messages confirms the reply.
    Quiet,
    /// The next poll for the reply is due.
    Poll,
    /// The member list must have been read.
    Members,
    /// The member list, which was never read, is requested again.
    MembersRetry,
    /// The chat has been away for as long as a turn waits for it.
    Outage,
    /// The reminder that was held back is due.
    Reminder,
    /// The initiator's run after a reminder must have ended.
    Permit,
    /// A discussion lay idle at a ceiling, or after reminders in vain, for long enough: it is archived.
    Overdue,
    /// An agent that has had its turns for an hour may have another, and a message waits for it.
    Cap,
    /// People were quiet long enough, so their words wake the channel.
    Settle,
    /// An agent may write again.
    MayWrite,
    /// A trigger message is removed.
    Cleanup,
    /// An idle channel gives its memory back.
    Forget,
}
