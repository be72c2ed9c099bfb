//! The actions that a room asks its runtime for, and their outcomes.

use std::sync::Arc;

use dirigent_core::{AgentKey, MessageId, RunId, Ticket, Timestamp, TurnId};

use super::attempts::Failure;
use super::inbox::TurnMessages;
use crate::ChatMessage;
use crate::ports::discord::{HistoryRequest, Post};
use crate::ports::store::Commit;
use crate::ports::turn::{Late, Said};
use crate::ports::waker::WakeOutcome;
use crate::record::channel::{ReplyEnd, Revision, StoredChannel};
use crate::record::outbox::OutboxKind;
use crate::values::deferral_key::DeferralKey;
use crate::values::error::PostFailure;
use crate::values::extras::Extras;

pub(crate) use crate::admission::AccountKey as Account;

/// Identifies an action of a room from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ActionId(pub(crate) u64);

#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) id: ActionId,
    pub(crate) action: Action,
    /// The time when the runtime ends it as unanswered.
    pub(crate) time_out: Option<Timestamp>,
    /// The time until which it may be polled while it waits for an answer. Later the chat may have forgotten its nonce.
    /// Another process may have posted with that nonce while this process stood still.
    pub(crate) not_after: Option<Timestamp>,
}

/// One thing to do. Each action is one attempt, because the room decides about retries.
#[derive(Debug)]
pub(crate) enum Action {
    /// Store the room's record.
    Commit(Commit),
    /// Read the room's record, to find out which process wrote it.
    ReadBack,
    /// Post a message.
    Post { account: Account, post: Post },
    /// Let the host's waker call an agent.
    Wake(Box<WakeRequest>),
    /// Delete a message of the moderator, or of another account.
    Delete { message: MessageId, is_own: bool },
    /// Read who can see the channel.
    Members,
    /// Read messages.
    History { account: Account, request: HistoryRequest },
    /// Call a hosted agent.
    Call(CallRequest),
    /// Ask the orchestrator.
    Consult(Box<ConsultRequest>),
    /// Wake the callback room of a discussion.
    WakeRoom { room: crate::ChannelId, first: Option<AgentKey> },
}

#[derive(Debug)]
pub(crate) struct CallRequest {
    pub(crate) agent: AgentKey,
    /// The turn. `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: RunId,
    pub(crate) attempt: u8,
    pub(crate) newest: Option<MessageId>,
    pub(crate) brought: TurnMessages,
    pub(crate) late: Option<Box<Late>>,
    /// `true` if its newest reply only repeated what was said.
    pub(crate) repeated: bool,
    /// `true` if the turn already waits.
    pub(crate) paused: bool,
}

#[derive(Debug)]
pub(crate) struct WakeRequest {
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) attempt: u8,
    pub(crate) newest: Option<MessageId>,
    pub(crate) brought: TurnMessages,
    pub(crate) repeated: bool,
    pub(crate) deferral: Option<DeferralKey>,
}

#[derive(Debug)]
pub(crate) struct ConsultRequest {
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) messages: Vec<Arc<ChatMessage>>,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    /// The record is stored under this revision.
    Committed(Revision),
    /// The store has another record.
    Conflict,
    /// The store accepts no more commits of this process for the channel, whatever its record is, because the channel
    /// belongs to another process.
    Elsewhere,
    /// The stored record.
    Record(Option<Box<StoredChannel>>),
    /// The message is posted, by this attempt or an earlier one.
    Posted(MessageId),
    /// The message no longer exists.
    Deleted,
    /// The accounts that can see the channel.
    Members(Vec<crate::UserId>),
    /// Messages, in any order.
    Page(Vec<ChatMessage>),
    /// The agent returned.
    Answered { answer: AgentAnswer, took_all: bool },
    /// The orchestrator returned. It has a text to post, or none, or failed.
    Consulted(ConsultAnswer),
    /// The result of the host's waker.
    WakeOutcome(WakeOutcome),
    /// The callback room has stored its wake, or there is none.
    RoomWoken,
    /// The attempt failed.
    Failed(Failure),
}

impl Outcome {
    pub(crate) fn into_posted(self) -> Option<Result<MessageId, Failure>> {
        if let Self::Posted(message) = self {
            return Some(Ok(message));
        }
        self.into_failure().map(Err)
    }

    pub(crate) fn into_page(self) -> Option<Result<Vec<ChatMessage>, Failure>> {
        if let Self::Page(messages) = self {
            return Some(Ok(messages));
        }
        self.into_failure().map(Err)
    }

    pub(crate) fn into_members(self) -> Option<Result<Vec<crate::UserId>, Failure>> {
        if let Self::Members(users) = self {
            return Some(Ok(users));
        }
        self.into_failure().map(Err)
    }

    pub(crate) fn into_woken(self) -> Option<Result<WakeOutcome, Failure>> {
        if let Self::WakeOutcome(woken) = self {
            return Some(Ok(woken));
        }
        self.into_failure().map(Err)
    }

    pub(crate) fn into_failure(self) -> Option<Failure> {
        if let Self::Failed(failure) = self { Some(failure) } else { None }
    }
}

#[derive(Debug)]
pub(crate) enum AgentAnswer {
    /// The part of the reply that is delivered, and how the turn ends then.
    Say { said: Said, end: ReplyEnd },
    /// The agent has nothing to say.
    Pass,
    /// The agent failed or panicked.
    Failed,
}

#[derive(Debug)]
pub(crate) enum ConsultAnswer {
    /// This text is posted.
    Say { text: String, extras: Option<Arc<Extras>> },
    /// The messages count as answered.
    Pass,
    /// It failed or panicked, so the agent gets the messages.
    Failed,
}

/// The purpose of an action, which receives its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Commit,
    ReadBack,
    /// Posts the head of the voice lane.
    Voice,
    FindPart,
    Wake,
    Delete(MessageId),
    Read,
    /// Finds out whether the chat answers again.
    Probe,
    Call {
        agent: AgentKey,
        run: RunId,
    },
    Consult(Ticket),
    Outbox(OutboxKind),
}

/// A reply that was given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub(crate) agent: AgentKey,
    pub(crate) run: RunId,
    /// The number of its parts in the channel, and the number of all its parts.
    pub(crate) posted: usize,
    pub(crate) parts: usize,
    pub(crate) failure: Option<PostFailure>,
}

/// An action without duration. The caller of the room performs it at once and in order.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Tells the agent of this call that its turn was taken away.
    Cancel(ActionId),
    /// Drops the call of an agent that did not return after it was cancelled.
    Drop(ActionId),
    /// Tells the agent of this call that its turn was taken away, because another process has the channel. If the agent
    /// has not returned at this time, drops the call.
    Leave { id: ActionId, drop_at: Timestamp },
    /// Tells the agent of this call that its turn waits, or goes on.
    Pause { id: ActionId, waits: bool },
    /// Tells the agent of this call that it takes long.
    Slow(ActionId),
    /// Tells listeners that a reply could not be posted.
    ReplyLost(Lost),
    /// Reports that the run of this turn is cut off at this time, if it does not end before.
    Overrun { agent: AgentKey, turn: TurnId, ends_at: Timestamp },
    /// Passes people's messages to the agent of this call.
    Inject { id: ActionId, agent: AgentKey, messages: Vec<Arc<ChatMessage>> },
    /// Drops the question to the orchestrator.
    DropConsult(ActionId),
    /// Tells a deferred run that its turn has come.
    TellDeferred { key: DeferralKey, turn: TurnId },
    /// Drops these deferrals, so their waiters get `None`.
    DropDeferrals(Vec<DeferralKey>),
}
