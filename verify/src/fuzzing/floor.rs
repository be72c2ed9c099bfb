//! Who has the floor in a snapshot from bytes.

use dirigent_core::snapshot::{
    Floor, Grant, Phase, Purpose, Rare, Start, TurnRun, TurnTerms, Waiting, WaitingFrom,
};
use dirigent_core::view::Span;
use dirigent_core::{Outcome, Tail, TurnId};

use super::reader::Reader;
use super::snapshot::{agent, message, run, ticket};

/// Reads every field.
pub(super) fn read(r: &mut Reader<'_>) -> Floor {
    Floor {
        phase: phase(r),
        turn: TurnId::new(r.small()),
        terms: r.maybe(terms).map_or_else(Rare::default, Rare::from),
        waiting: r.maybe(waiting).map(Box::new),
        last_activity_at: r.moment(),
    }
}

fn terms(r: &mut Reader<'_>) -> TurnTerms {
    TurnTerms {
        until: r.maybe(Reader::moment),
        slow_at: r.maybe(Reader::moment),
        spoken: r.flag(),
        continued: r.byte(),
        awaits_human: r.flag(),
    }
}

fn phase(r: &mut Reader<'_>) -> Phase {
    match r.byte() % 14 {
        0 => Phase::Dead,
        1 => Phase::Archived,
        2 => Phase::Dormant,
        3 => Phase::Refreshing(Purpose::Boundary),
        4 => Phase::Refreshing(Purpose::Wake(r.maybe(agent).map_or(Start::First, Start::At))),
        5 => Phase::Granted(Grant {
            agent: agent(r),
            until: r.maybe(Reader::moment),
            attempt: r.byte(),
        }),
        6 => Phase::Running { run: turn_run(r), until: r.maybe(Reader::moment), receipt: r.flag() },
        7 => Phase::Confirming { run: turn_run(r), since: r.moment() },
        8 => Phase::Refreshing(Purpose::Wake(Start::After(agent(r)))),
        9 => Phase::Continuing { agent: agent(r), until: r.maybe(Reader::moment) },
        10 => Phase::Waiting(agent(r)),
        11 => Phase::Delivering { run: turn_run(r), receipt: r.flag() },
        12 => Phase::Unknown { failures: r.byte(), ask_at: r.maybe(Reader::moment) },
        _ => Phase::Disabled,
    }
}

fn turn_run(r: &mut Reader<'_>) -> TurnRun {
    TurnRun { agent: agent(r), id: r.maybe(run), anchor: r.maybe(message) }
}

pub(super) fn span(r: &mut Reader<'_>) -> Span {
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
