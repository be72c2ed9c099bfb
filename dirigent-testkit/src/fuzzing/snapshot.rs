//! A snapshot from bytes, sound or not.

use std::time::Duration;

use dirigent_core::{
    AgentKey, Archived, Away, Budget, Debt, DeliveryData, Effect, Litter, MessageId, Mode, Notice,
    Outcome, Permit, PermitRun, PhaseData, Piece, Refresh, ReminderPlace, Rest, Rested, RunFate,
    RunId, SeatTurn, Slot, Snapshot, Span, SpokenTurn, Steering, Tail, Ticket, TurnId, TurnTerms,
    Waiting,
};

use super::reader::Reader;

/// Reads every field; whatever the bytes say, this is a snapshot.
pub(super) fn read(r: &mut Reader<'_>) -> Snapshot {
    Snapshot {
        version: if r.byte() == 255 { 2 } else { Snapshot::VERSION },
        mode: Mode::ALL.get(usize::from(r.byte() % 5)).copied().unwrap_or_default(),
        phase: phase(r),
        rest: r.maybe(rest),
        initiator: r.maybe(agent),
        archived: r.maybe(archived),
        list: r.list(70, slot),
        last_completer: r.maybe(agent),
        muted: r.list(70, agent),
        refresh: r.maybe(|r| Refresh { ticket: ticket(r), until: r.moment() }),
        permit: r.maybe(permit),
        debts: r.list(40, |r| Debt { effect: effect(r), since: r.moment() }),
        next_ticket: r.small(),
        messages: r.list(255, message),
        horizon: r.maybe(message),
        newest: r.maybe(message),
        runs: r.list(40, |r| (run(r), if r.flag() { RunFate::Denied } else { RunFate::Ended })),
        delivery: r.maybe(delivery),
        litter: r.list(20, |r| Litter { message: message(r), due: r.maybe(Reader::moment) }),
        created: r.flag(),
        missed: r.flag(),
        vetoed: r.flag(),
        ceiling_announced: r.flag(),
        talk_since: r.moment(),
        turn: TurnId::new(r.small()),
        turns: u32::try_from(r.small()).unwrap_or(u32::MAX),
        cycles: u32::try_from(r.small()).unwrap_or(u32::MAX),
        now: r.moment(),
        stirred_at: r.moment(),
        list_at: r.maybe(Reader::moment),
        asked_at: r.maybe(Reader::moment),
        reminded_at: r.maybe(Reader::moment),
        reminder_due: r.maybe(Reader::moment),
        rng: r.small(),
        revision: r.small(),
        unheard: r.flag(),
        steering: r.maybe(|r| Box::new(steering(r))),
    }
}

fn rest(r: &mut Reader<'_>) -> Rest {
    match r.byte() {
        2 => Rest::Finished,
        byte if byte & 1 == 1 => Rest::Held,
        _ => Rest::Stopped,
    }
}

fn agent(r: &mut Reader<'_>) -> AgentKey {
    AgentKey::new(u32::from(r.byte() % 5))
}

fn message(r: &mut Reader<'_>) -> MessageId {
    MessageId::new(r.small())
}

fn run(r: &mut Reader<'_>) -> RunId {
    RunId::new(r.small())
}

fn ticket(r: &mut Reader<'_>) -> Ticket {
    Ticket::new(r.small())
}

fn slot(r: &mut Reader<'_>) -> Slot {
    let turns = [SeatTurn::Ahead, SeatTurn::Passed, SeatTurn::Spoke, SeatTurn::Skipped];
    let mut slot = Slot::new(agent(r));
    slot.turn = turns.get(usize::from(r.byte() % 4)).copied().unwrap_or_default();
    slot.left = r.byte() % 8 == 7;
    slot.grace_from = r.maybe(Reader::moment);
    slot.passed = slot.turn == SeatTurn::Passed && slot.grace_from.is_some();
    slot
}

fn archived(r: &mut Reader<'_>) -> Archived {
    Archived {
        at: r.moment(),
        concluded: r.flag(),
        leaving: [r.maybe(agent), r.maybe(agent)],
        bot_notice_at: r.maybe(Reader::moment),
    }
}

fn permit(r: &mut Reader<'_>) -> Permit {
    let running = r.maybe(|r| PermitRun::Running {
        id: r.maybe(run),
        until: r.maybe(Reader::moment),
        spoke: r.flag(),
    });
    Permit { agent: agent(r), run: running.unwrap_or(PermitRun::Offered) }
}

fn steering(r: &mut Reader<'_>) -> Steering {
    Steering {
        terms: TurnTerms {
            until: r.maybe(Reader::moment),
            slow_at: r.maybe(Reader::moment),
            spoken: r.flag(),
            continued: r.byte() % 5,
            awaits_human: r.flag(),
        },
        waiting: r.maybe(waiting),
        held: r.maybe(span),
        away: r.list(70, |r| Away { agent: agent(r), offline: r.flag() }),
        chosen: r.maybe(agent),
        round: r.list(70, agent),
        next_round: r.list(70, agent),
        awaits_human: r.flag(),
        spoken: r.list(70, |r| SpokenTurn { agent: agent(r), at: r.moment() }),
        budget: Budget {
            turns: u32::try_from(r.small()).unwrap_or(u32::MAX),
            cycles: u32::try_from(r.small()).unwrap_or(u32::MAX),
            cost: r.small(),
            announced: r.flag(),
        },
    }
}

fn span(r: &mut Reader<'_>) -> Span {
    Span { first: message(r), last: message(r) }
}

fn waiting(r: &mut Reader<'_>) -> Waiting {
    let rested = match r.byte() % 3 {
        0 => Rested::Granted { attempt: r.byte() },
        1 => Rested::Running {
            run: r.maybe(run),
            anchor: r.maybe(message),
            until: r.maybe(Reader::moment),
            receipt: r.flag(),
        },
        _ => Rested::Continuing,
    };
    Waiting {
        rested,
        since: r.moment(),
        consult: ticket(r),
        until: r.moment(),
        asked: span(r),
        more: r.maybe(span),
        unanswered: r.maybe(span),
        end: r.maybe(|r| if r.flag() { Outcome::Pass } else { Outcome::Failed }),
    }
}

fn delivery(r: &mut Reader<'_>) -> DeliveryData {
    let words = |r: &mut Reader<'_>| Tail::of(&"words ".repeat(usize::from(r.byte() % 16)));
    DeliveryData {
        fingerprint: words(r),
        pieces: r.list(10, |r| Piece { id: message(r), tail: words(r) }),
        last_seen: r.moment(),
    }
}

fn phase(r: &mut Reader<'_>) -> PhaseData {
    match r.byte() % 12 {
        0 => PhaseData::Dead,
        1 => PhaseData::Archived,
        2 => PhaseData::Dormant,
        3 => PhaseData::RefreshingBoundary,
        4 => PhaseData::RefreshingWake { first: r.maybe(agent) },
        5 => PhaseData::Granted {
            agent: agent(r),
            until: r.maybe(Reader::moment),
            attempt: r.byte(),
        },
        6 => PhaseData::Running {
            agent: agent(r),
            run: r.maybe(run),
            anchor: r.maybe(message),
            until: r.maybe(Reader::moment),
            receipt: r.flag(),
        },
        7 => PhaseData::Confirming {
            agent: agent(r),
            run: r.maybe(run),
            anchor: r.maybe(message),
            since: r.moment(),
            poll: r.maybe(ticket),
            poll_next: r.moment(),
            poll_interval: Duration::from_millis(r.small()),
        },
        9 => PhaseData::RefreshingWakeAfter { sender: agent(r) },
        10 => PhaseData::Continuing { agent: agent(r), until: r.maybe(Reader::moment) },
        11 => PhaseData::Waiting { agent: agent(r) },
        _ => PhaseData::Disabled,
    }
}

fn effect(r: &mut Reader<'_>) -> Effect {
    let (kind, ticket) = (r.byte() % 8, ticket(r));
    match kind {
        0 => Effect::FetchMembers { ticket },
        1 => Effect::Delete { ticket, message: message(r) },
        2 => Effect::Poll { ticket, after: r.maybe(message) },
        3 => Effect::Notice { ticket, notice: Notice::Ceiling },
        4 => {
            let place = if r.flag() { ReminderPlace::Discussion } else { ReminderPlace::Callback };
            Effect::Reminder { ticket, initiator: agent(r), place }
        }
        7 => {
            let (agent, turn) = (agent(r), TurnId::new(r.small()));
            let Span { first, last } = span(r);
            Effect::Consult { ticket, agent, turn, first, last }
        }
        5 => Effect::CancelRun { agent: agent(r), run: None, turn: None },
        _ => {
            let turn = TurnId::new(r.small());
            Effect::Trigger { ticket, agent: agent(r), turn, attempt: r.byte() }
        }
    }
}
