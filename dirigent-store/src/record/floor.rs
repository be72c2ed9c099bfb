//! The form of the floor in a file: the agent that has it, and how far that turn got.

use dirigent_core::snapshot::{
    Floor, Grant, Phase, Purpose, Rare, Start, TurnRun, TurnTerms, Waiting, WaitingFrom,
};
use dirigent_core::view::Span;
use dirigent_core::{AgentKey, MessageId, Outcome, RunId, Tail, Ticket, Timestamp, TurnId};

use crate::record::form::{enums, structs};

structs! {
    struct FloorFile for Floor as "Floor" {
        phase: Phase,
        turn: TurnId,
        last_activity_at: Timestamp,
        [opt] terms: Rare<TurnTerms>,
        [opt] waiting: Option<Box<Waiting>>,
    }

    struct GrantFile for Grant as "Grant" {
        agent: AgentKey,
        [opt] until: Option<Timestamp>,
        attempt: u8,
    }

    struct TurnRunFile for TurnRun as "TurnRun" {
        agent: AgentKey,
        [opt] id: Option<RunId>,
        [opt] anchor: Option<MessageId>,
    }

    struct TermsFile for TurnTerms as "TurnTerms" {
        [opt] until: Option<Timestamp>,
        [opt] slow_at: Option<Timestamp>,
        [opt] spoken: bool,
        continued: u8,
        [opt] awaits_human: bool,
    }

    struct WaitingFile for Waiting as "Waiting" {
        from: WaitingFrom,
        since: Timestamp,
        consult: Ticket,
        until: Timestamp,
        asked: Span,
        [opt] more: Option<Span>,
        [opt] unanswered: Option<Span>,
        [opt] end: Option<Outcome>,
    }
}

enums! {
    enum PhaseFile for Phase {
        Disabled,
        Dead,
        Archived,
        Dormant,
        Refreshing(purpose: Purpose),
        Granted(grant: Grant),
        Running { run: TurnRun, [opt] until: Option<Timestamp>, receipt: bool, },
        Delivering { run: TurnRun, receipt: bool, },
        Unknown { failures: u8, [opt] ask_at: Option<Timestamp>, },
        Confirming { run: TurnRun, since: Timestamp, },
        Continuing { agent: AgentKey, [opt] until: Option<Timestamp>, },
        Waiting(agent: AgentKey),
    }

    enum PurposeFile for Purpose {
        Boundary,
        Wake(start: Start),
    }

    enum StartFile for Start {
        First,
        At(agent: AgentKey),
        After(agent: AgentKey),
    }

    enum WaitingFromFile for WaitingFrom {
        Granted { attempt: u8, },
        Running {
            [opt] run: Option<RunId>,
            [opt] anchor: Option<MessageId>,
            [opt] until: Option<Timestamp>,
            receipt: bool,
            [opt] replied: bool,
        },
        Continuing,
    }

    enum OutcomeFile for Outcome [newer] {
        Pass,
        Spoke { tail: Tail, },
        Unfinished { tail: Tail, },
        AwaitsHuman { tail: Tail, },
        Repeated,
        Failed,
    }
}
