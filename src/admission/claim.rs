//! The question of a room before it starts an action, and the answers.

use dirigent_core::{AgentKey, Timestamp};

use crate::ChannelId;

/// The account that makes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccountKey {
    /// The library's own account.
    Moderator,
    Agent(AgentKey),
}

/// An action that a room wants to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) room: ChannelId,
    /// The channel of the request. It is not the room's own for a discussion's result.
    pub(crate) target: ChannelId,
    /// The account that makes the request. For a call it is the agent's.
    pub(crate) account: AccountKey,
    /// The agent that a trigger calls, because it has its own pace. `None` for all other posts.
    pub(crate) agent: Option<AgentKey>,
    /// `true` if the room waited for a time before. The place that is reserved for the room is then for this action.
    pub(crate) has_waited: bool,
    /// The resource that the action needs.
    pub(crate) kind: ClaimKind,
}

impl Claim {
    /// Creates the claim of an action in the room's own channel that is not a trigger, and that the room has not asked
    /// for before.
    pub(crate) const fn new(room: ChannelId, account: AccountKey, kind: ClaimKind) -> Self {
        Self { room, target: room, account, agent: None, has_waited: false, kind }
    }
}

/// The resource that an action needs before it starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClaimKind {
    /// A place in the sliding windows, no rate limit, and an account that reaches the chat.
    Post,
    /// An account that reaches the chat. It is for every request other than a post.
    Read,
    /// A place among the agents that run at once.
    Call,
    /// A place among the consultations that run at once.
    Consult,
}

impl ClaimKind {
    /// Returns whether it is a place among those that run at once, and not a request to the chat.
    pub(crate) const fn is_call(self) -> bool {
        matches!(self, Self::Call | Self::Consult)
    }
}

/// An admitted action. Its end is reported with this value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Admitted {
    pub(crate) claim: Claim,
    /// The number of the probe, if its account does not reach the chat.
    pub(super) probe: Option<u32>,
}

/// The reason why an action may not start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// The pace or a rate limit allows it at this time. The room asks again then.
    Until(Timestamp),
    /// The room stands in a line, and is polled when its turn comes.
    Line,
}

/// The end of a request to the chat, as far as other requests are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// The chat carried out the request, or answered that it will not.
    Answered,
    /// The chat takes no more requests of this kind of the account in the channel before `until`.
    RateLimited { until: Timestamp },
    /// There was no answer, or a server error. `refused` if not even a connection was made.
    Away { refused: bool },
}

/// A room whose turn has come in a line. It is polled at once, and the next room in line may have the place if this one
/// does not ask for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    pub(crate) room: ChannelId,
    /// `true` if it is the line of an account that does not reach the chat, or reaches it again.
    pub(crate) is_for_chat: bool,
}
