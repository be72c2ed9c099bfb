//! What is beyond the plain rotation, as it stands in a file. Absent is what is empty.

use dirigent_core::snapshot::{ChatOutage, SpokenTurn, Steering, TurnTerms, Waiting, WaitingFrom};
use dirigent_core::view::{Away, Budget, Span};
use dirigent_core::{AgentKey, MessageId, Outcome, RunId, Tail, Ticket, Timestamp};

use crate::record::form::{enums, structs};

structs! {
    struct SteeringFile for Steering as "Steering" {
        [opt] terms: TurnTerms,
        [opt] waiting: Option<Waiting>,
        [opt] queued: Option<Span>,
        [opt] away: Vec<Away>,
        [opt] chosen: Option<AgentKey>,
        [opt] round: Vec<AgentKey>,
        [opt] next_round: Vec<AgentKey>,
        [opt] cut: Option<AgentKey>,
        [opt] awaits_human: bool,
        [opt] spoken: Vec<SpokenTurn>,
        [opt] budget: Budget,
        [opt] outage: Option<ChatOutage>,
    }

    struct OutageFile for ChatOutage as "ChatOutage" {
        since: Timestamp,
        counted_from: Timestamp,
    }

    struct TermsFile for TurnTerms as "TurnTerms" {
        [opt] until: Option<Timestamp>,
        [opt] slow_at: Option<Timestamp>,
        [opt] spoken: bool,
        continued: u8,
        [opt] awaits_human: bool,
    }

    struct SpanFile for Span as "Span" {
        first: MessageId,
        last: MessageId,
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

    struct AwayFile for Away as "Away" {
        agent: AgentKey,
        offline: bool,
    }

    struct SpokenFile for SpokenTurn as "SpokenTurn" {
        agent: AgentKey,
        at: Timestamp,
    }

    struct BudgetFile for Budget as "Budget" {
        turns: u32,
        cycles: u32,
        cost = u64,
        announced: bool,
    }
}

enums! {
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
