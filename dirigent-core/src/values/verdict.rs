//! The answer to the question "may this agent run?", with its reason.

use core::fmt;

use crate::{AgentKey, MessageId, TurnId};

/// The answer to a gate call.
///
/// ```
/// use dirigent_core::{Reason, Verdict};
/// assert!(!Verdict::Deny { reason: Reason::Dormant }.is_allowed());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third answer")]
pub enum Verdict {
    /// The agent may run, with the model that you configured for it.
    Allow {
        /// The reason to allow the run.
        reason: Reason,
        /// The turn that the run belongs to, if the channel keeps turns.
        turn: Option<TurnId>,
        /// The turn's anchor. Only later messages of the agent belong to its reply.
        anchor: Option<MessageId>,
    },
    /// The agent must stay silent.
    Deny {
        /// The reason to deny the run.
        reason: Reason,
    },
}

impl Verdict {
    /// Returns true if the agent may run.
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }

    /// Returns why the run is allowed or denied.
    pub const fn reason(&self) -> Reason {
        match *self {
            Self::Allow { reason, .. } | Self::Deny { reason } => reason,
        }
    }
}

/// The reason why an agent may, or may not, speak now.
///
/// ```
/// use dirigent_core::Reason;
/// assert!(Reason::YourTurn.allows());
/// assert_eq!(Reason::Dormant.as_str(), "dormant");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// Allowed: turns are not kept in this mode.
    Unmanaged,
    /// Allowed: too few agents are present to keep turns. One is enough in a chat with
    /// [`OrderRules::single_agent`](crate::config::OrderRules::single_agent).
    TooFewAgents,
    /// Allowed: the agent has the floor.
    YourTurn,
    /// Allowed: the initiator of an idle discussion may run once to conclude it.
    InitiatorPermit,
    /// Denied: the member list was never read, and is requested again.
    MembersUnknown,
    /// Denied: agents are not woken in this mode (report).
    Dead,
    /// Denied: the channel is closed for good.
    Archived,
    /// Denied: the channel was stopped.
    Stopped,
    /// Denied: the channel is on hold.
    Held,
    /// Denied: an operator said that the work is done.
    Finished,
    /// Denied: the agent's turn waits until a human has been answered.
    Waiting,
    /// Denied: the agent is offline.
    Offline,
    /// Denied: the agent came back and was not assigned yet.
    Unassigned,
    /// Denied: the agent has had its turns for this hour.
    Capped,
    /// Denied: another agent has the floor, and this one spoke last. Until something is said, it passes without being
    /// asked.
    NothingNew,
    /// Denied: a budget is spent.
    BudgetSpent,
    /// Denied: an agent asked for a person, who has not written yet.
    AwaitingHuman,
    /// Denied: no agent has the floor; a message will wake the channel.
    Dormant,
    /// Denied: the ceiling was reached, so no agent has the floor until a human writes.
    CeilingReached,
    /// Denied: the member list is being read.
    Refreshing,
    /// Denied: another agent has the floor.
    NotYourTurn {
        /// The agent that has the floor.
        speaker: AgentKey,
    },
    /// Denied: the agent's run of this turn has ended.
    TurnAlreadyUsed,
    /// Denied: this run was answered before, and the answer stands.
    RunAlreadyDenied,
    /// Denied: this run has ended or was replaced.
    RunAlreadyEnded,
    /// Denied: the registry does not know the agent.
    NotRegistered,
    /// Denied: the channel's record is damaged. The driver says this, never the machine.
    RecordDamaged,
    /// Denied: another version wrote the channel's record. The driver says this, never the machine.
    RecordOfOtherVersion,
    /// Denied: another process acts for the channel. The driver says this and the next two reasons, never the machine.
    Elsewhere,
    /// Denied: the channel is being handed to another process, or this process did not renew its lease in time.
    LeaseEnding,
    /// Denied: this process's lease on the channel has lapsed, so another process may act for it.
    LeaseLapsed,
    /// Denied: the agent is muted.
    Muted,
    /// Denied: the chat surely refuses the agent's messages in this channel.
    MayNotWrite,
    /// Denied: the agent is not in the speaker list of this cycle.
    NotListed,
}

impl Reason {
    /// Returns true if this reason allows the agent to speak.
    pub const fn allows(self) -> bool {
        matches!(
            self,
            Self::Unmanaged | Self::TooFewAgents | Self::YourTurn | Self::InitiatorPermit
        )
    }

    /// Returns the name in lower case, with hyphens.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unmanaged => "unmanaged",
            Self::TooFewAgents => "too-few-agents",
            Self::YourTurn => "your-turn",
            Self::InitiatorPermit => "initiator-permit",
            Self::MembersUnknown => "members-unknown",
            Self::Dead => "dead",
            Self::Archived => "archived",
            Self::Stopped => "stopped",
            Self::Held => "held",
            Self::Finished => "finished",
            Self::Waiting => "waiting",
            Self::Offline => "offline",
            Self::Unassigned => "unassigned",
            Self::Capped => "capped",
            Self::NothingNew => "nothing-new",
            Self::BudgetSpent => "budget-spent",
            Self::AwaitingHuman => "awaiting-human",
            Self::Dormant => "dormant",
            Self::CeilingReached => "ceiling-reached",
            Self::Refreshing => "refreshing",
            Self::NotYourTurn { .. } => "not-your-turn",
            Self::TurnAlreadyUsed => "turn-already-used",
            Self::RunAlreadyDenied => "run-already-denied",
            Self::RunAlreadyEnded => "run-already-ended",
            Self::NotRegistered => "not-registered",
            Self::RecordDamaged => "record-damaged",
            Self::RecordOfOtherVersion => "record-of-other-version",
            Self::Elsewhere => "elsewhere",
            Self::LeaseEnding => "lease-ending",
            Self::LeaseLapsed => "lease-lapsed",
            Self::Muted => "muted",
            Self::MayNotWrite => "may-not-write",
            Self::NotListed => "not-listed",
        }
    }
}

/// Writes the reason in words that can follow "it may not speak: ".
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unmanaged => "turns are not kept in this channel",
            Self::TooFewAgents => "fewer than two agents are here, so no turns are kept",
            Self::YourTurn => "it has the floor",
            Self::InitiatorPermit => "it opened the discussion and was reminded to conclude it",
            Self::Dead => "in a report channel agents write of their own accord and answer nothing",
            Self::Archived => "the channel is archived",
            Self::Stopped => "the channel was stopped",
            Self::Held => "the channel is on hold",
            Self::Finished => "the work in this channel is finished",
            Self::Waiting => "it has the floor, but a person spoke and is being answered",
            Self::Offline => "it is offline",
            Self::Unassigned => "it came back and was not assigned yet",
            Self::Capped => "it has had its turns for this hour",
            Self::NothingNew => "it spoke last, and nothing was said since",
            Self::BudgetSpent => "a budget of this channel is spent",
            Self::AwaitingHuman => "an agent asked for a person, and none has written yet",
            Self::Dormant => "no agent has the floor",
            Self::CeilingReached => "the agents have talked as long as they may without a person",
            Self::MembersUnknown => "the member list of this channel was never read",
            Self::Refreshing => "the member list is being read",
            Self::NotYourTurn { .. } => "another agent has the floor",
            Self::TurnAlreadyUsed => "its run of this turn has ended and its reply is on the way",
            Self::RunAlreadyDenied => "this run was denied before, and that answer stands",
            Self::RunAlreadyEnded => "this run has ended, or a newer one took its place",
            Self::NotRegistered => "it is not registered",
            Self::RecordDamaged => "the channel's stored record is damaged",
            Self::RecordOfOtherVersion => "another version wrote the channel's record",
            Self::Elsewhere => "another process acts for this channel",
            Self::LeaseEnding => "this process may soon not act for the channel any more",
            Self::LeaseLapsed => {
                "this process could not renew its lease, and another one may act for the channel"
            }
            Self::Muted => "it is muted in this channel",
            Self::MayNotWrite => "its account may not write in this channel",
            Self::NotListed => "it is not in the speaker list of this cycle",
        })
    }
}

/// The answer of [`TurnMachine::handle`](crate::TurnMachine::handle) to an input that it accepts.
///
/// ```
/// use dirigent_core::Answer;
/// assert_eq!(Answer::Accepted.verdict(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a gate call is the only question")]
pub enum Answer {
    /// The input was accepted, although it may have had no effect.
    Accepted,
    /// The input was a gate call, and this is its answer.
    Verdict(Verdict),
}

impl Answer {
    /// Returns the answer to a gate call.
    pub const fn verdict(self) -> Option<Verdict> {
        match self {
            Self::Verdict(verdict) => Some(verdict),
            Self::Accepted => None,
        }
    }
}
