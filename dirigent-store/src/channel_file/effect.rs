//! What is owed, as it stands in a file.

use dirigent::AgentId;
use dirigent_core::{
    AgentKey, Cause, Debt, Effect, MessageId, Notice, PhaseKind, ReminderPlace, RunId, Ticket,
    Transition, TurnId,
};
use serde::{Deserialize, Serialize};

use super::name::Name;
use super::scalar::{Id, Millis};

/// An owed effect.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DebtFile {
    since: Millis,
    effect: EffectFile,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum EffectFile {
    FetchMembers {
        ticket: u64,
    },
    Trigger {
        ticket: u64,
        agent: u32,
        turn: u64,
        attempt: u8,
    },
    Delete {
        ticket: u64,
        message: Id,
    },
    Poll {
        ticket: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<Id>,
    },
    Notice {
        ticket: u64,
        notice: NoticeFile,
    },
    Reminder {
        ticket: u64,
        initiator: u32,
        place: Name<ReminderPlace>,
    },
    Inject {
        agent: u32,
        turn: u64,
        message: Id,
    },
    Deliver {
        agent: u32,
        turn: u64,
        first: Id,
        last: Id,
    },
    Consult {
        ticket: u64,
        agent: u32,
        turn: u64,
        first: Id,
        last: Id,
    },
    CancelRun {
        agent: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Id>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
    },
    Transition(TransitionFile),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum NoticeFile {
    Archived,
    Closed,
    Ceiling,
    TimedOut {
        agent: u32,
    },
    Disconnected {
        agent: u32,
    },
    Budget,
    Stopped {
        message: Id,
    },
    Resumed {
        message: Id,
    },
    /// One that is newer than this crate: it cannot be written.
    #[serde(skip)]
    Newer,
}

/// A change of a channel.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TransitionFile {
    at: Millis,
    from: Name<PhaseKind>,
    to: Name<PhaseKind>,
    cause: Name<Cause>,
    /// The agent's name, in a history, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) agent: Option<AgentId>,
    /// The agent's key, where there is no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) key: Option<u32>,
    turn: u64,
}

impl From<&Transition> for TransitionFile {
    fn from(transition: &Transition) -> Self {
        let Transition { at, from, to, agent, turn, cause } = *transition;
        Self {
            at: Millis(at),
            from: Name(from),
            to: Name(to),
            cause: Name(cause),
            agent: None,
            key: agent.map(AgentKey::get),
            turn: turn.get(),
        }
    }
}

impl From<TransitionFile> for Transition {
    fn from(file: TransitionFile) -> Self {
        Self {
            at: file.at.0,
            from: file.from.0,
            to: file.to.0,
            agent: file.key.map(AgentKey::new),
            turn: TurnId::new(file.turn),
            cause: file.cause.0,
        }
    }
}

impl From<&Debt> for DebtFile {
    fn from(debt: &Debt) -> Self {
        Self { since: Millis(debt.since), effect: EffectFile::from(&debt.effect) }
    }
}

impl From<DebtFile> for Debt {
    fn from(file: DebtFile) -> Self {
        Self { since: file.since.0, effect: file.effect.into() }
    }
}

impl From<&Effect> for EffectFile {
    fn from(effect: &Effect) -> Self {
        match *effect {
            Effect::FetchMembers { ticket } => Self::FetchMembers { ticket: ticket.get() },
            Effect::Trigger { ticket, agent, turn, attempt } => Self::Trigger {
                ticket: ticket.get(),
                agent: agent.get(),
                turn: turn.get(),
                attempt,
            },
            Effect::Delete { ticket, message } => {
                Self::Delete { ticket: ticket.get(), message: Id(message.get()) }
            }
            Effect::Poll { ticket, after } => {
                Self::Poll { ticket: ticket.get(), after: after.map(|id| Id(id.get())) }
            }
            Effect::Notice { ticket, notice } => {
                Self::Notice { ticket: ticket.get(), notice: notice.into() }
            }
            Effect::Reminder { ticket, initiator, place } => Self::Reminder {
                ticket: ticket.get(),
                initiator: initiator.get(),
                place: Name(place),
            },
            Effect::Inject { agent, turn, message } => {
                Self::Inject { agent: agent.get(), turn: turn.get(), message: Id(message.get()) }
            }
            Effect::Deliver { agent, turn, first, last } => Self::Deliver {
                agent: agent.get(),
                turn: turn.get(),
                first: Id(first.get()),
                last: Id(last.get()),
            },
            Effect::Consult { ticket, agent, turn, first, last } => Self::Consult {
                ticket: ticket.get(),
                agent: agent.get(),
                turn: turn.get(),
                first: Id(first.get()),
                last: Id(last.get()),
            },
            Effect::CancelRun { agent, run, turn } => Self::CancelRun {
                agent: agent.get(),
                run: run.map(|id| Id(id.get())),
                turn: turn.map(TurnId::get),
            },
            Effect::Transition(transition) => Self::Transition((&transition).into()),
        }
    }
}

impl From<EffectFile> for Effect {
    fn from(file: EffectFile) -> Self {
        let (agent, turn) = (AgentKey::new, TurnId::new);
        match file {
            EffectFile::FetchMembers { ticket } => {
                Self::FetchMembers { ticket: Ticket::new(ticket) }
            }
            EffectFile::Trigger { ticket, agent: key, turn: number, attempt } => Self::Trigger {
                ticket: Ticket::new(ticket),
                agent: agent(key),
                turn: turn(number),
                attempt,
            },
            EffectFile::Delete { ticket, message } => {
                Self::Delete { ticket: Ticket::new(ticket), message: MessageId::new(message.0) }
            }
            EffectFile::Poll { ticket, after } => Self::Poll {
                ticket: Ticket::new(ticket),
                after: after.map(|id| MessageId::new(id.0)),
            },
            EffectFile::Notice { ticket, notice } => {
                Self::Notice { ticket: Ticket::new(ticket), notice: notice.into() }
            }
            EffectFile::Reminder { ticket, initiator, place } => Self::Reminder {
                ticket: Ticket::new(ticket),
                initiator: agent(initiator),
                place: place.0,
            },
            EffectFile::Inject { agent: key, turn: number, message } => Self::Inject {
                agent: agent(key),
                turn: turn(number),
                message: MessageId::new(message.0),
            },
            EffectFile::Deliver { agent: key, turn: number, first, last } => Self::Deliver {
                agent: agent(key),
                turn: turn(number),
                first: MessageId::new(first.0),
                last: MessageId::new(last.0),
            },
            EffectFile::Consult { ticket, agent: key, turn: number, first, last } => {
                Self::Consult {
                    ticket: Ticket::new(ticket),
                    agent: agent(key),
                    turn: turn(number),
                    first: MessageId::new(first.0),
                    last: MessageId::new(last.0),
                }
            }
            EffectFile::CancelRun { agent: key, run, turn: number } => Self::CancelRun {
                agent: agent(key),
                run: run.map(|id| RunId::new(id.0)),
                turn: number.map(turn),
            },
            EffectFile::Transition(transition) => Self::Transition(transition.into()),
        }
    }
}

impl From<Notice> for NoticeFile {
    fn from(notice: Notice) -> Self {
        match notice {
            Notice::Archived => Self::Archived,
            Notice::Closed => Self::Closed,
            Notice::Ceiling => Self::Ceiling,
            Notice::TimedOut { agent } => Self::TimedOut { agent: agent.get() },
            Notice::Disconnected { agent } => Self::Disconnected { agent: agent.get() },
            Notice::Budget => Self::Budget,
            Notice::Stopped { message } => Self::Stopped { message: Id(message.get()) },
            Notice::Resumed { message } => Self::Resumed { message: Id(message.get()) },
            _ => Self::Newer,
        }
    }
}

impl From<NoticeFile> for Notice {
    fn from(file: NoticeFile) -> Self {
        match file {
            NoticeFile::Archived => Self::Archived,
            NoticeFile::Closed => Self::Closed,
            NoticeFile::Ceiling | NoticeFile::Newer => Self::Ceiling,
            NoticeFile::TimedOut { agent } => Self::TimedOut { agent: AgentKey::new(agent) },
            NoticeFile::Disconnected { agent } => {
                Self::Disconnected { agent: AgentKey::new(agent) }
            }
            NoticeFile::Budget => Self::Budget,
            NoticeFile::Stopped { message } => Self::Stopped { message: MessageId::new(message.0) },
            NoticeFile::Resumed { message } => Self::Resumed { message: MessageId::new(message.0) },
        }
    }
}
