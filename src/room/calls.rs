//! Calls of hosted agents and questions to the orchestrator.

use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, RunId, Ticket, Timestamp, TurnId};

use super::action::ActionId;
use super::commit::Stamp;

/// Runs of hosted agents are named by the ticket of the trigger that called for them, so that a turn
/// that is given again is another run. The bit keeps them apart from the names that hosts give.
const HOSTED: u64 = 1 << 63;

/// The run that the trigger, or the reminder, with this ticket starts.
pub(crate) const fn hosted_run(ticket: Ticket) -> RunId {
    RunId::new(HOSTED | ticket.get())
}

/// Whether the library named this run.
pub(crate) const fn is_hosted_run(run: RunId) -> bool {
    run.get() & HOSTED != 0
}

/// The run of a hosted agent that is permitted, and called once that is stored.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) agent: AgentKey,
    /// `None` for the run after a reminder.
    pub(crate) turn: Option<TurnId>,
    pub(crate) run: RunId,
    pub(crate) attempt: u8,
    /// What must be committed before the agent is called.
    pub(crate) stamp: Stamp,
    pub(crate) under_way: Option<ActionId>,
}

/// A call whose turn was taken away and whose agent has not returned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Abandoned {
    pub(crate) id: ActionId,
    pub(crate) drop_at: Timestamp,
}

/// The question to the orchestrator that is owed.
#[derive(Debug)]
pub(crate) struct Consult {
    pub(crate) ticket: Ticket,
    pub(crate) agent: AgentKey,
    pub(crate) turn: TurnId,
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
    pub(crate) stamp: Stamp,
    pub(crate) under_way: Option<ActionId>,
    /// When the machine asked: part of the nonces of the answer.
    pub(crate) since: Timestamp,
    /// What is to be posted of the answer, once there is one.
    pub(crate) parts: Vec<String>,
    /// How many of the parts are posted.
    pub(crate) posted: usize,
    /// The first message of the answer.
    pub(crate) answer: Option<MessageId>,
}

/// How long an agent may go on after its call was cancelled, until the call is dropped.
pub(crate) const CANCEL_GRACE: Duration = Duration::from_secs(10);
