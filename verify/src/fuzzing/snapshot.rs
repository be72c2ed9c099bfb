//! A snapshot from bytes, sound or not.

use std::time::Duration;

use dirigent_core::snapshot::{
    Archived, DeliveryData, InitiatorPermit, PendingEffect, PermitRun, PhaseData, Piece, Refresh,
    RunFate, Slot, StaleTrigger,
};
use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{
    AgentKey, Effect, MessageId, Mode, Notice, ReminderPlace, RunId, Snapshot, Tail, Ticket, TurnId,
};

use super::reader::Reader;

/// Reads every field; whatever the bytes say, this is a snapshot.
pub(super) fn read(r: &mut Reader<'_>) -> Snapshot {
    Snapshot {
        version: if r.byte() == 255 { 2 } else { Snapshot::VERSION },
        mode: Mode::ALL.get(usize::from(r.byte() % 5)).copied().unwrap_or_default(),
        phase: phase(r),
        pause: r.maybe(rest),
        initiator: r.maybe(agent),
        archived: r.maybe(archived),
        list: r.list(70, slot),
        last_completer: r.maybe(agent),
        muted: r.list(70, agent),
        refresh: r.maybe(|r| Refresh { ticket: ticket(r), until: r.moment() }),
        permit: r.maybe(permit),
        pending: r.list(40, |r| PendingEffect { effect: effect(r), since: r.moment() }),
        next_ticket: r.small(),
        messages: r.list(255, message),
        horizon: r.maybe(message),
        newest: r.maybe(message),
        runs: r.list(40, |r| (run(r), if r.flag() { RunFate::Denied } else { RunFate::Ended })),
        delivery: r.maybe(delivery).map(Box::new),
        stale_triggers: r
            .list(20, |r| StaleTrigger { message: message(r), due: r.maybe(Reader::moment) }),
        created: r.flag(),
        wake_pending: r.flag(),
        wake_unserved: r.flag(),
        cycle_requested: r.flag(),
        ceiling_announced: r.flag(),
        talk_since: r.moment(),
        turn: TurnId::new(r.small()),
        turns: u32::try_from(r.small()).unwrap_or(u32::MAX),
        cycles: u32::try_from(r.small()).unwrap_or(u32::MAX),
        now: r.moment(),
        last_activity_at: r.moment(),
        list_at: r.maybe(Reader::moment),
        asked_at: r.maybe(Reader::moment),
        reminded_at: r.maybe(Reader::moment),
        reminder_due: r.maybe(Reader::moment),
        steering: r.maybe(|r| Box::new(super::steering::read(r))),
        reminders: r.byte() % 5,
        rng: r.small(),
        revision: r.small(),
    }
}

fn rest(r: &mut Reader<'_>) -> Pause {
    match r.byte() % 4 {
        0 | 1 => Pause::Stopped,
        2 => Pause::Finished,
        _ => Pause::Held,
    }
}

pub(super) fn agent(r: &mut Reader<'_>) -> AgentKey {
    AgentKey::new(u32::from(r.byte() % 5))
}

pub(super) fn message(r: &mut Reader<'_>) -> MessageId {
    MessageId::new(r.small())
}

pub(super) fn run(r: &mut Reader<'_>) -> RunId {
    RunId::new(r.small())
}

pub(super) fn ticket(r: &mut Reader<'_>) -> Ticket {
    Ticket::new(r.small())
}

fn slot(r: &mut Reader<'_>) -> Slot {
    let turns = [SeatTurn::Ahead, SeatTurn::Passed, SeatTurn::Spoke, SeatTurn::Skipped];
    let mut slot = Slot::new(agent(r));
    slot.turn = turns.get(usize::from(r.byte() % 4)).copied().unwrap_or_default();
    slot.left = r.byte() % 8 == 7;
    slot.grace_from = r.maybe(Reader::moment);
    slot.nothing_new = r.byte() % 4 == 3;
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

fn permit(r: &mut Reader<'_>) -> InitiatorPermit {
    let running = r.maybe(|r| PermitRun::Running {
        id: r.maybe(run),
        until: r.maybe(Reader::moment),
        spoke: r.flag(),
        replied: r.flag(),
    });
    InitiatorPermit { agent: agent(r), run: running.unwrap_or(PermitRun::Offered) }
}

fn delivery(r: &mut Reader<'_>) -> DeliveryData {
    let words = |r: &mut Reader<'_>| Tail::of(&"words ".repeat(usize::from(r.byte() % 16)));
    DeliveryData {
        fingerprint: words(r),
        pieces: r.list(10, |r| Piece { id: message(r), tail: words(r) }),
        last_seen: r.moment(),
        arrivals: r.list(6, Reader::moment),
    }
}

fn phase(r: &mut Reader<'_>) -> PhaseData {
    match r.byte() % 14 {
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
        8 => PhaseData::RefreshingWakeAfter { sender: agent(r) },
        9 => PhaseData::Continuing { agent: agent(r), until: r.maybe(Reader::moment) },
        10 => PhaseData::Waiting { agent: agent(r) },
        11 => PhaseData::Delivering {
            agent: agent(r),
            run: r.maybe(run),
            anchor: r.maybe(message),
            receipt: r.flag(),
        },
        12 => PhaseData::Unknown { failures: r.byte(), ask_at: r.maybe(Reader::moment) },
        _ => PhaseData::Disabled,
    }
}

fn effect(r: &mut Reader<'_>) -> Effect {
    let (kind, ticket) = (r.byte() % 8, ticket(r));
    match kind {
        0 => Effect::FetchMembers { ticket },
        1 => Effect::Delete { ticket, message: message(r) },
        2 => Effect::Poll { ticket, after: r.maybe(message) },
        3 => {
            let agent = agent(r);
            let notices = [
                Notice::Ceiling,
                Notice::Budget,
                Notice::TimedOut { agent },
                Notice::Disconnected { agent },
                Notice::Stopped { message: MessageId::new(r.small()) },
                Notice::Resumed { message: MessageId::new(r.small()) },
                Notice::ResumedIdle { message: MessageId::new(r.small()) },
            ];
            let notice = notices.get(usize::from(r.byte() % 7)).copied();
            Effect::Notice { ticket, notice: notice.unwrap_or(Notice::Ceiling) }
        }
        4 => {
            let place = if r.flag() { ReminderPlace::Discussion } else { ReminderPlace::Callback };
            Effect::Reminder { ticket, initiator: agent(r), place }
        }
        5 => Effect::CancelRun { agent: agent(r), run: None, turn: None },
        6 => {
            let (agent, turn) = (agent(r), TurnId::new(r.small()));
            Effect::Consult { ticket, agent, turn, first: message(r), last: message(r) }
        }
        _ => {
            let turn = TurnId::new(r.small());
            Effect::Trigger { ticket, agent: agent(r), turn, attempt: r.byte() }
        }
    }
}
