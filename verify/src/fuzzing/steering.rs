//! What a snapshot keeps beyond the plain rotation, from bytes.

use dirigent_core::snapshot::{ChatOutage, SpokenTurn, Steering, TurnTerms, Waiting, WaitingFrom};
use dirigent_core::view::{Away, Budget, Span};
use dirigent_core::{Outcome, Tail};

use super::reader::Reader;
use super::snapshot::{agent, message, run, ticket};

/// Reads every field.
pub(super) fn read(r: &mut Reader<'_>) -> Steering {
    Steering {
        terms: TurnTerms {
            until: r.maybe(Reader::moment),
            slow_at: r.maybe(Reader::moment),
            spoken: r.flag(),
            continued: r.byte(),
            awaits_human: r.flag(),
        },
        waiting: r.maybe(waiting),
        queued: r.maybe(span),
        away: r.list(70, |r| Away { agent: agent(r), offline: r.flag() }),
        chosen: r.maybe(agent),
        round: r.list(70, agent),
        next_round: r.list(70, agent),
        cut: r.maybe(agent),
        awaits_human: r.flag(),
        spoken: r.list(255, |r| SpokenTurn { agent: agent(r), at: r.moment() }),
        budget: Budget {
            turns: u32::try_from(r.small()).unwrap_or(u32::MAX),
            cycles: u32::try_from(r.small()).unwrap_or(u32::MAX),
            cost: r.small(),
            announced: r.flag(),
        },
        outage: r.maybe(|r| ChatOutage { since: r.moment(), counted_from: r.moment() }),
    }
}

fn span(r: &mut Reader<'_>) -> Span {
    Span { first: message(r), last: message(r) }
}

fn waiting(r: &mut Reader<'_>) -> Waiting {
    Waiting {
        from: waiting_from(r),
        since: r.moment(),
        consult: ticket(r),
        until: r.moment(),
        asked: span(r),
        more: r.maybe(span),
        unanswered: r.maybe(span),
        end: r.maybe(outcome),
    }
}

fn waiting_from(r: &mut Reader<'_>) -> WaitingFrom {
    match r.byte() % 4 {
        0 => WaitingFrom::Granted { attempt: r.byte() },
        1 => WaitingFrom::Continuing,
        _ => WaitingFrom::Running {
            run: r.maybe(run),
            anchor: r.maybe(message),
            until: r.maybe(Reader::moment),
            receipt: r.flag(),
            replied: r.flag(),
        },
    }
}

fn outcome(r: &mut Reader<'_>) -> Outcome {
    let tail = Tail::of("words");
    match r.byte() % 6 {
        0 => Outcome::Pass,
        1 => Outcome::Spoke { tail },
        2 => Outcome::Unfinished { tail },
        3 => Outcome::AwaitsHuman { tail },
        4 => Outcome::Repeated,
        _ => Outcome::Failed,
    }
}
