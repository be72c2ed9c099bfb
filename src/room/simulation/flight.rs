//! An action under way, and what is to become of it.

use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, RunId, Timestamp, TurnId};

use super::super::action::{Account, ActionId};
use crate::ports::discord::{HistoryRequest, Post};
use crate::ports::store::Commit;
use crate::values::error::ErrorKind;

#[derive(Debug)]
pub(super) struct Flight {
    pub(super) id: ActionId,
    pub(super) what: What,
    pub(super) fate: Fate,
    pub(super) began: Timestamp,
    /// When it can end at the earliest; `None` for what never ends by itself.
    pub(super) ready_at: Option<Timestamp>,
    pub(super) time_out: Option<Timestamp>,
    pub(super) not_after: Option<Timestamp>,
    /// The message that the post became, once it took effect.
    pub(super) landed: Option<MessageId>,
    /// The outcome of a commit, once it took effect.
    pub(super) stored:
        Option<Result<crate::record::channel::Revision, crate::record::channel::Revision>>,
    /// When its agent was told that its turn is over.
    pub(super) cancelled: Option<Timestamp>,
    /// Whether the agent took every word that was handed to it while it ran.
    pub(super) took_all: bool,
    /// People's words that the agent took while it ran.
    pub(super) taken: Vec<MessageId>,
}

#[derive(Debug)]
pub(super) enum What {
    Commit(Option<Commit>),
    ReadBack,
    Post { account: Account, post: Post },
    Wake { agent: AgentKey },
    Delete(MessageId),
    Members,
    History(HistoryRequest),
    Call { agent: AgentKey, turn: TurnId, run: RunId, words: Vec<MessageId> },
    Consult,
    WakeRoom,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is done, and the answer arrives.
    Done,
    /// It is done, and the answer is lost.
    Unheard,
    /// It is not done, and no answer arrives.
    Lost,
    /// It is done some seconds after it was given up.
    Late,
    /// It is refused with certainty.
    Refused(ErrorKind),
    /// The chat asks to wait.
    Limited(Duration),
}

impl Flight {
    pub(super) const fn is_call(&self) -> bool {
        matches!(self.what, What::Call { .. })
    }

    /// Whether it would change something beyond the room, and has not done so yet.
    pub(super) const fn may_take_effect(&self) -> bool {
        match self.what {
            What::Commit(ref commit) => commit.is_some(),
            What::Post { .. } => self.landed.is_none(),
            _ => false,
        }
    }

    pub(super) fn is_ready(&self, now: Timestamp) -> bool {
        self.ready_at.is_some_and(|at| at <= now)
    }
}
