//! Inputs that are turned down, and change nothing.

use core::fmt;

/// The input was turned down and changed nothing. Deadlines that were due have expired all the
/// same, and the effects in the buffer count.
///
/// ```
/// use dirigent_core::Refusal;
/// assert_eq!(Refusal::StaleRun.as_str(), "stale-run");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The message was seen before.
    RepeatedMessage,
    /// The run is not the one that holds the floor: it was denied, replaced, timed out, ended
    /// before, or belongs to another agent.
    StaleRun,
    /// No such effect is owed any more.
    UnknownTicket,
    /// Turns are not kept in this channel, so the input has no meaning here.
    NotManaged,
    /// The mode was given at creation and cannot be changed.
    ModeLocked,
    /// Work and discussion can only be given at creation, by their tools.
    CreationOnly,
    /// The channel has a mode already.
    AlreadyCreated,
    /// A discussion needs an initiator, and nothing else has one.
    InitiatorMismatch,
    /// The channel is archived.
    Archived,
    /// The channel is no discussion.
    NotADiscussion,
    /// Only the initiator may conclude.
    NotTheInitiator,
    /// The discussion was concluded before.
    AlreadyConcluded,
    /// The channel is stopped.
    Stopped,
    /// The channel is neither stopped nor on hold.
    NotResting,
    /// The ceiling without a human was reached; only a human's word lifts it.
    CeilingReached,
    /// The work is done; resume the channel first.
    Finished,
    /// The agent is not in the speaker list.
    NotListed,
    /// The agent is muted.
    Muted,
    /// The agent is offline, or was not assigned since.
    AgentOffline,
    /// The agent has the floor already.
    HasTheFloor,
    /// A budget is spent; an operator must renew it.
    BudgetSpent,
    /// An agent asked for a person, who must write first.
    AwaitingHuman,
    /// The chat does not answer, so that no agent is chosen while the channel is dormant.
    ChatAway,
    /// More agents than [`AGENTS_MAX`](crate::AGENTS_MAX).
    TooManyAgents,
    /// A receipt must name at least one message.
    EmptyReceipt,
    /// A setting cannot be obeyed; ask [`Config::validate`](crate::Config::validate) which.
    BadConfig,
}

impl Refusal {
    /// The name in lower case, with hyphens.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::RepeatedMessage => "repeated-message",
            Self::StaleRun => "stale-run",
            Self::UnknownTicket => "unknown-ticket",
            Self::NotManaged => "not-managed",
            Self::ModeLocked => "mode-locked",
            Self::CreationOnly => "creation-only",
            Self::AlreadyCreated => "already-created",
            Self::InitiatorMismatch => "initiator-mismatch",
            Self::Archived => "archived",
            Self::NotADiscussion => "not-a-discussion",
            Self::NotTheInitiator => "not-the-initiator",
            Self::AlreadyConcluded => "already-concluded",
            Self::Stopped => "stopped",
            Self::NotResting => "not-resting",
            Self::CeilingReached => "ceiling-reached",
            Self::Finished => "finished",
            Self::NotListed => "not-listed",
            Self::Muted => "muted",
            Self::AgentOffline => "agent-offline",
            Self::HasTheFloor => "has-the-floor",
            Self::BudgetSpent => "budget-spent",
            Self::AwaitingHuman => "awaiting-human",
            Self::ChatAway => "chat-away",
            Self::TooManyAgents => "too-many-agents",
            Self::EmptyReceipt => "empty-receipt",
            Self::BadConfig => "bad-config",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepeatedMessage => "the message was seen before; nothing to do",
            Self::StaleRun => "the run does not hold the floor; its end changes nothing",
            Self::UnknownTicket => "no such effect is owed any more; nothing to do",
            Self::NotManaged => "turns are not kept in this channel; set its mode to chat first",
            Self::ModeLocked => "the mode of a work or discussion channel is locked",
            Self::CreationOnly => {
                "work and discussion are given at creation: use create-work-channel or create-discussion-channel"
            }
            Self::AlreadyCreated => "the channel has a mode already",
            Self::InitiatorMismatch => {
                "a discussion needs an initiator, and no other channel has one"
            }
            Self::Archived => "the channel is archived for good",
            Self::NotADiscussion => "the channel is no discussion",
            Self::NotTheInitiator => "only the initiator may conclude the discussion",
            Self::AlreadyConcluded => "the discussion was concluded before",
            Self::Stopped => "the channel is stopped; resume it first",
            Self::NotResting => "the channel is neither stopped nor on hold",
            Self::CeilingReached => "the ceiling was reached; a person must write first",
            Self::Finished => "the work in this channel is finished; resume it first",
            Self::NotListed => "the agent is not in the channel's speaker list",
            Self::Muted => "the agent is muted; unmute it first",
            Self::AgentOffline => "the agent is offline or not assigned; assign it when it is back",
            Self::HasTheFloor => "the agent has the floor already",
            Self::BudgetSpent => "a budget of the channel is spent; renew it first",
            Self::AwaitingHuman => "an agent asked for a person; a person must write first",
            Self::ChatAway => "the chat does not answer; try again when it does",
            Self::TooManyAgents => "a channel holds at most 64 agents",
            Self::EmptyReceipt => "a receipt must name at least one message",
            Self::BadConfig => "a setting cannot be obeyed; Config::validate says which",
        })
    }
}

impl core::error::Error for Refusal {}
