//! What a room asks its runtime to do, and what may come of it.

use std::sync::Arc;

use dirigent_core::{AgentKey, MessageId, RunId, Ticket, Timestamp, TurnId};

use super::attempts::Failure;
use super::inbox::Brought;
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

/// Names an action of a room from its start to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ActionId(pub(crate) u64);

/// An action that starts now.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) id: ActionId,
    pub(crate) action: Action,
    /// When the runtime ends it as unanswered.
    pub(crate) time_out: Option<Timestamp>,
    /// While it waits for an answer it is not polled beyond this time: the chat may have forgotten its nonce by then, with which another process may have posted
    /// while this one stood still.
    pub(crate) not_after: Option<Timestamp>,
}

/// One thing to do. Each is one attempt; repeating it is the room's decision.
#[derive(Debug)]
pub(crate) enum Action {
    /// Store the room's record.
    Commit(Commit),
    /// Read the room's record, to find out whose it is.
    ReadBack,
    /// Post a message.
    Post { account: Account, post: Post },
    /// Let the host's waker call an agent.
    Wake(Box<WakeRequest>),
    /// Delete a message of the moderator's, or of another account's.
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

/// What a hosted agent is given with its turn.
#[derive(Debug)]
pub(crate) struct CallRequest {
    pub(crate) agent: AgentKey,
    /// `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: RunId,
    pub(crate) attempt: u8,
    pub(crate) newest: Option<MessageId>,
    pub(crate) brought: Brought,
    pub(crate) late: Option<Box<Late>>,
    /// Whether its newest reply said nothing new.
    pub(crate) repeated: bool,
    /// Whether the turn waits already.
    pub(crate) paused: bool,
}

/// What the host's waker is given.
#[derive(Debug)]
pub(crate) struct WakeRequest {
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) attempt: u8,
    pub(crate) newest: Option<MessageId>,
    pub(crate) brought: Brought,
    /// Whether its newest reply said nothing new.
    pub(crate) repeated: bool,
    pub(crate) deferral: Option<DeferralKey>,
}

/// What the orchestrator is asked.
#[derive(Debug)]
pub(crate) struct ConsultRequest {
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) messages: Vec<Arc<ChatMessage>>,
}

/// What came of an action.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// The record is stored under this revision.
    Committed(Revision),
    /// The store holds another record.
    Conflict,
    /// The store takes nothing more of this process for the channel, whatever it holds: it is another process's.
    Elsewhere,
    /// What the store holds.
    Record(Option<Box<StoredChannel>>),
    /// It was posted, now or by an earlier attempt.
    Posted(MessageId),
    /// The message does not exist any more.
    Deleted,
    /// Who can see the channel.
    Members(Vec<crate::UserId>),
    /// Messages, in any order.
    Page(Vec<ChatMessage>),
    /// The agent returned.
    Answered { answer: AgentAnswer, took_all: bool },
    /// The orchestrator returned: with a text to be posted, with none, or failed.
    Consulted(ConsultAnswer),
    /// What the host's waker did.
    WakeOutcome(WakeOutcome),
    /// The callback room has stored its wake, or there is none.
    RoomWoken,
    /// The attempt failed.
    Failed(Failure),
}

impl Outcome {
    /// The message that was posted, or why it was not.
    pub(crate) fn into_posted(self) -> Option<Result<MessageId, Failure>> {
        if let Self::Posted(message) = self {
            return Some(Ok(message));
        }
        self.into_failure().map(Err)
    }

    /// The messages that were read, or why they were not.
    pub(crate) fn into_page(self) -> Option<Result<Vec<ChatMessage>, Failure>> {
        if let Self::Page(messages) = self {
            return Some(Ok(messages));
        }
        self.into_failure().map(Err)
    }

    /// Who can see the channel, or why that could not be read.
    pub(crate) fn into_members(self) -> Option<Result<Vec<crate::UserId>, Failure>> {
        if let Self::Members(users) = self {
            return Some(Ok(users));
        }
        self.into_failure().map(Err)
    }

    /// What the host's waker did, or why it failed.
    pub(crate) fn into_woken(self) -> Option<Result<WakeOutcome, Failure>> {
        if let Self::WakeOutcome(woken) = self {
            return Some(Ok(woken));
        }
        self.into_failure().map(Err)
    }

    /// Why the attempt failed, if it did.
    pub(crate) fn into_failure(self) -> Option<Failure> {
        if let Self::Failed(failure) = self { Some(failure) } else { None }
    }
}

/// What a hosted agent returned.
#[derive(Debug)]
pub(crate) enum AgentAnswer {
    /// What of the reply is delivered, and what becomes of the turn then.
    Say { said: Said, end: ReplyEnd },
    /// Nothing to say.
    Pass,
    /// It failed or panicked.
    Failed,
}

/// What the orchestrator returned.
#[derive(Debug)]
pub(crate) enum ConsultAnswer {
    /// This is to be posted.
    Say { text: String, extras: Option<Arc<Extras>> },
    /// The messages count as answered.
    Pass,
    /// It failed or panicked: the messages are handed to the agent.
    Failed,
}

/// Why an action was started: what its outcome is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Commit,
    ReadBack,
    /// The head of the voice lane is posted.
    Voice,
    /// The parts of the reply are looked for.
    FindPart,
    /// The host's waker is asked.
    Wake,
    Delete(MessageId),
    /// Something of the chat is read.
    Read,
    /// Whether the chat answers again.
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
    /// How many of its parts are in the channel, and how many it has.
    pub(crate) posted: usize,
    pub(crate) parts: usize,
    /// How the last attempt failed.
    pub(crate) failure: Option<PostFailure>,
}

/// An action without duration: performed by the caller of the room, at once and in order.
#[derive(Debug)]
pub(crate) enum Signal {
    /// Tell the agent of this call that its turn was taken away.
    Cancel(ActionId),
    /// Drop the call of an agent that did not return after it was cancelled.
    Drop(ActionId),
    /// Another process has the channel: tell the agent of this call that its turn was taken away, and drop the call at this time, if the agent
    /// has not returned.
    Leave { id: ActionId, drop_at: Timestamp },
    /// Tell the agent of this call that its turn waits, or goes on.
    Pause { id: ActionId, waits: bool },
    /// Tell the agent of this call that it takes long.
    Slow(ActionId),
    /// Tell listeners that a reply could not be posted.
    ReplyLost(Lost),
    /// Tell that the run of this turn is cut off at this time, if it does not end before.
    Overrun { agent: AgentKey, turn: TurnId, ends_at: Timestamp },
    /// Hand people's messages to the agent of this call.
    Inject { id: ActionId, agent: AgentKey, messages: Vec<Arc<ChatMessage>> },
    /// Drop the question to the orchestrator.
    DropConsult(ActionId),
    /// Tell a run that was put off that its turn has come.
    TellDeferred { key: DeferralKey, turn: TurnId },
    /// Those who waited for these deferrals wait in vain.
    DropDeferrals(Vec<DeferralKey>),
}
