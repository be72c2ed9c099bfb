//! What a room asks before it starts an action, and the answers.

use dirigent_core::{AgentKey, Timestamp};

use crate::ChannelId;

/// The account that makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccountKey {
    /// The library's own account.
    Moderator,
    /// The account of a hosted agent.
    Agent(AgentKey),
}

/// An action that a room wants to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The room that asks.
    pub(crate) room: ChannelId,
    /// The channel that the request concerns; another than the room's for a discussion's result.
    pub(crate) target: ChannelId,
    /// The account that makes the request. Of a call, the agent's.
    pub(crate) account: AccountKey,
    /// The agent that a trigger calls: it has a pace of its own. `None` for all other posts.
    pub(crate) agent: Option<AgentKey>,
    /// Whether it was told before to wait until a time: the place that is reserved for the room is still for it.
    pub(crate) has_waited: bool,
    /// What the action needs.
    pub(crate) kind: ClaimKind,
}

impl Claim {
    /// An action in the room's own channel that is no trigger, and that was not asked for before.
    pub(crate) const fn new(room: ChannelId, account: AccountKey, kind: ClaimKind) -> Self {
        Self { room, target: room, account, agent: None, has_waited: false, kind }
    }
}

/// What an action needs before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// A place in the sliding windows, no rate limit, and an account that reaches the chat.
    Post,
    /// An account that reaches the chat. For every request that posts nothing.
    Read,
    /// A place among the agents that run at once.
    Call,
    /// A place among the consultations that run at once.
    Consult,
}

impl ClaimKind {
    /// Whether it is a place among those that run at once, and no request to the chat.
    pub(crate) const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Consult)
    }
}

/// What was admitted: how it ends is reported with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) claim: Claim,
    /// Which probe it is, where its account does not reach the chat.
    pub(super) probe: Option<u32>,
}

/// Why an action may not start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The pace or a rate limit lets it go at this time: the room asks again then.
    Until(Timestamp),
    /// The room stands in a line, and is polled when its turn comes.
    Line,
}

/// How a request to the chat ended, as far as other requests are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The chat did what was asked, or answered that it will not do it.
    Answered,
    /// The chat takes no more requests of this kind of the account in the channel before `until`.
    RateLimited { until: Timestamp },
    /// No answer, or a server error; `refused` when not even a connection was made.
    Away { refused: bool },
}

/// A room whose turn has come in a line. It is polled at once: what it does not ask for then, the next in line may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) room: ChannelId,
    /// Whether it is the line of an account that does not reach the chat, or reaches it again.
    pub(crate) is_for_chat: bool,
}
