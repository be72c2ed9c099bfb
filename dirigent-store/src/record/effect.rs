//! The form of pending effects in a file.

use dirigent::AgentId;
use dirigent_core::snapshot::PendingEffect;
use dirigent_core::{
    AgentKey, Cause, Effect, MessageId, Notice, PhaseKind, ReminderPlace, RunId, Ticket, Timestamp,
    Transition, TurnId,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::record::form::{Form, enums, structs};

structs! {
    struct PendingEffectFile for PendingEffect as "PendingEffect" {
        since: Timestamp,
        effect: Effect,
    }

    pub(crate) struct TransitionFile {
        at: Timestamp,
        from: PhaseKind,
        to: PhaseKind,
        cause: Cause,
        /// The agent's name in a history, if it is known.
        [opt] agent: Option<AgentId>,
        /// The agent's key, if there is no name.
        [opt] key: Option<AgentKey>,
        turn: TurnId,
    }
}

enums! {
    enum EffectFile for Effect {
        FetchMembers { ticket: Ticket, },
        Trigger { ticket: Ticket, agent: AgentKey, turn: TurnId, attempt: u8, },
        Delete { ticket: Ticket, message: MessageId, },
        Poll { ticket: Ticket, [opt] after: Option<MessageId>, },
        Notice { ticket: Ticket, notice: Notice, },
        Reminder { ticket: Ticket, initiator: AgentKey, place: ReminderPlace, },
        Inject { agent: AgentKey, turn: TurnId, message: MessageId, },
        Deliver { agent: AgentKey, turn: TurnId, first: MessageId, last: MessageId, },
        Consult {
            ticket: Ticket,
            agent: AgentKey,
            turn: TurnId,
            first: MessageId,
            last: MessageId,
        },
        CancelRun { agent: AgentKey, [opt] run: Option<RunId>, [opt] turn: Option<TurnId>, },
        Transition(transition: Transition),
    }

    enum NoticeFile for Notice [newer] {
        Archived,
        Closed,
        Ceiling,
        TimedOut { agent: AgentKey, },
        Disconnected { agent: AgentKey, },
        Budget,
        Stopped { message: MessageId, },
        Resumed { message: MessageId, },
        ResumedIdle { message: MessageId, },
    }
}

impl Form for Transition {
    fn write<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        TransitionFile::from(self).serialize(to)
    }

    fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        TransitionFile::deserialize(from).map(Self::from)
    }
}

impl From<&Transition> for TransitionFile {
    fn from(transition: &Transition) -> Self {
        let Transition { at, from, to, agent, turn, cause } = *transition;
        Self { at, from, to, cause, agent: None, key: agent, turn }
    }
}

impl From<TransitionFile> for Transition {
    fn from(file: TransitionFile) -> Self {
        let TransitionFile { at, from, to, cause, key, turn, .. } = file;
        Self { at, from, to, agent: key, turn, cause }
    }
}
