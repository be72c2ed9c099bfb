//! The phase of a channel as plain data.

use core::time::Duration;

use crate::state::{Delivery, Grant, Phase, Polls, Purpose, Start, TurnRun};
use crate::{AgentKey, MessageId, RunId, Ticket, Timestamp};

/// The phase as plain data; see the public docs of [`PhaseKind`](crate::PhaseKind) for meanings.
///
/// ```
/// use dirigent_core::snapshot::PhaseData;
/// assert_eq!(PhaseData::default(), PhaseData::Disabled);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "plain data that stores map variant by variant")]
#[expect(missing_docs, reason = "the fields are those of the phase of the same name")]
pub enum PhaseData {
    /// All agents may speak.
    #[default]
    Disabled,
    /// No agent may speak.
    Dead,
    /// The channel is archived and accepts no more turns.
    Archived,
    /// No agent has the floor.
    Dormant,
    /// The list is read at the end of a cycle.
    RefreshingBoundary,
    /// The list is read on waking.
    RefreshingWake { first: Option<AgentKey> },
    /// The list is read on waking, and the next after the sender speaks first.
    RefreshingWakeAfter { sender: AgentKey },
    /// An agent has the floor.
    Granted { agent: AgentKey, until: Option<Timestamp>, attempt: u8 },
    /// An agent runs.
    Running {
        agent: AgentKey,
        run: Option<RunId>,
        anchor: Option<MessageId>,
        until: Option<Timestamp>,
        receipt: bool,
    },
    /// The library delivers the agent's reply.
    Delivering { agent: AgentKey, run: Option<RunId>, anchor: Option<MessageId>, receipt: bool },
    /// The member list was never read. `failures` counts the answers that did not come; `ask_at` is
    /// none while an answer is waited for.
    Unknown { failures: u8, ask_at: Option<Timestamp> },
    /// A reply is on its way.
    Confirming {
        agent: AgentKey,
        run: Option<RunId>,
        anchor: Option<MessageId>,
        since: Timestamp,
        poll: Option<Ticket>,
        poll_next: Timestamp,
        poll_interval: Duration,
    },
    /// An agent has spoken without finishing.
    Continuing { agent: AgentKey, until: Option<Timestamp> },
    /// The turn of an agent waits.
    Waiting { agent: AgentKey },
}

impl PhaseData {
    /// Writes a phase down, with how the reply is looked for where one is.
    pub(super) fn of(phase: &Phase, delivery: Option<&Delivery>) -> Self {
        match *phase {
            Phase::Disabled => Self::Disabled,
            Phase::Dead => Self::Dead,
            Phase::Archived => Self::Archived,
            Phase::Dormant => Self::Dormant,
            Phase::Refreshing(Purpose::Boundary) => Self::RefreshingBoundary,
            Phase::Refreshing(Purpose::Wake(Start::First)) => Self::RefreshingWake { first: None },
            Phase::Refreshing(Purpose::Wake(Start::At(agent))) => {
                Self::RefreshingWake { first: Some(agent) }
            }
            Phase::Refreshing(Purpose::Wake(Start::After(sender))) => {
                Self::RefreshingWakeAfter { sender }
            }
            Phase::Continuing { agent, until } => Self::Continuing { agent, until },
            Phase::Waiting(agent) => Self::Waiting { agent },
            Phase::Unknown { failures, ask_at } => Self::Unknown { failures, ask_at },
            Phase::Delivering { run: TurnRun { agent, id: run, anchor }, receipt } => {
                Self::Delivering { agent, run, anchor, receipt }
            }
            Phase::Granted(Grant { agent, until, attempt }) => {
                Self::Granted { agent, until, attempt }
            }
            Phase::Running { run: TurnRun { agent, id: run, anchor }, until, receipt } => {
                Self::Running { agent, run, anchor, until, receipt }
            }
            Phase::Confirming { run: TurnRun { agent, id: run, anchor }, since } => {
                let polls = delivery.map_or_else(Polls::default, |delivery| delivery.polls);
                Self::Confirming {
                    agent,
                    run,
                    anchor,
                    since,
                    poll: polls.open,
                    poll_next: polls.next,
                    poll_interval: polls.interval,
                }
            }
        }
    }

    /// How the reply is looked for, where one is.
    pub(super) fn polls(&self) -> Option<Polls> {
        if let Self::Confirming { poll: open, poll_next: next, poll_interval: interval, .. } = *self
        {
            Some(Polls { open, next, interval })
        } else {
            None
        }
    }
}

impl From<PhaseData> for Phase {
    fn from(data: PhaseData) -> Self {
        match data {
            PhaseData::Disabled => Self::Disabled,
            PhaseData::Dead => Self::Dead,
            PhaseData::Archived => Self::Archived,
            PhaseData::Dormant => Self::Dormant,
            PhaseData::RefreshingBoundary => Self::Refreshing(Purpose::Boundary),
            PhaseData::RefreshingWake { first } => {
                Self::Refreshing(Purpose::Wake(first.map_or(Start::First, Start::At)))
            }
            PhaseData::RefreshingWakeAfter { sender } => {
                Self::Refreshing(Purpose::Wake(Start::After(sender)))
            }
            PhaseData::Continuing { agent, until } => Self::Continuing { agent, until },
            PhaseData::Waiting { agent } => Self::Waiting(agent),
            PhaseData::Unknown { failures, ask_at } => Self::Unknown { failures, ask_at },
            PhaseData::Delivering { agent, run, anchor, receipt } => {
                Self::Delivering { run: TurnRun { agent, id: run, anchor }, receipt }
            }
            PhaseData::Granted { agent, until, attempt } => {
                Self::Granted(Grant { agent, until, attempt })
            }
            PhaseData::Running { agent, run, anchor, until, receipt } => {
                Self::Running { run: TurnRun { agent, id: run, anchor }, until, receipt }
            }
            PhaseData::Confirming { agent, run, anchor, since, .. } => {
                Self::Confirming { run: TurnRun { agent, id: run, anchor }, since }
            }
        }
    }
}
