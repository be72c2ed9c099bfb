//! What a room asks before it starts an action, and the answers.

use std::time::Duration;

use dirigent_core::{AgentKey, Timestamp};

use crate::ChannelId;

/// How long a room that was woken may take to ask. Then the next in line is woken, so that a room
/// that went away without a word holds nothing up.
pub(super) const ASK_WITHIN: Duration = Duration::from_secs(10);

/// Names an action of a room for as long as the room offers it, through every wait and attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ActionId(pub(crate) u64);

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
    /// The action's name in that room.
    pub(crate) id: ActionId,
    /// The channel that the request concerns; another than the room's for a discussion's result.
    pub(crate) target: ChannelId,
    /// The account that makes the request.
    pub(crate) account: AccountKey,
    /// The agent that a trigger calls: it has a pace of its own. `None` for all other posts.
    pub(crate) agent: Option<AgentKey>,
    /// What the action needs.
    pub(crate) kind: ClaimKind,
}

impl Claim {
    pub(super) const fn waiter(&self) -> Waiter {
        Waiter { room: self.room, id: self.id }
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

/// Whether an action may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Verdict {
    /// It starts now.
    Go,
    /// It is asked for again: at `until`, or when a [`Wakeup`] comes where there is no time.
    Wait { until: Option<Timestamp> },
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

/// A room may ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Wakeup {
    /// The room.
    pub(crate) room: ChannelId,
    /// The action whose turn it is: a place in a pool is kept for it, or it is the account's next probe.
    /// `None` where the chat answers again, for all that the room waits with.
    pub(crate) id: Option<ActionId>,
}

impl Wakeup {
    pub(super) const fn try_again(waiter: Waiter) -> Self {
        Self { room: waiter.room, id: Some(waiter.id) }
    }

    pub(super) const fn chat_back(room: ChannelId) -> Self {
        Self { room, id: None }
    }
}

/// An action of a room, as lines and reservations name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Waiter {
    pub(super) room: ChannelId,
    pub(super) id: ActionId,
}
