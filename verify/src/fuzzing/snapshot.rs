//! A snapshot from bytes, sound or not.

use std::time::Duration;

use dirigent_core::snapshot::{
    Archived, Attendance, CeilingCounts, ChatOutage, Cycle, Delivery, Hourly, InitiatorPermit,
    MayNotWrite, Pending, PendingEffect, PermitRun, Piece, Plans, Polls, Quota, Rare, Recent,
    Refresh, Reminders, Rng, Roster, RunFate, Seen, Settling, Situation, Slot, SpeakerList,
    SpokenTurn, StaleTrigger, State, Words,
};
use dirigent_core::view::{Away, Budget, Pause, SeatTurn};
use dirigent_core::{
    AgentKey, Effect, MessageId, Mode, Notice, ReminderPlace, RunId, Snapshot, Tail, Ticket, TurnId,
};

use super::floor::span;
use super::reader::Reader;

/// Reads every field; whatever the bytes say, this is a snapshot.
pub(super) fn read(r: &mut Reader<'_>) -> Snapshot {
    Snapshot {
        version: if r.byte() == 255 { 99 } else { Snapshot::VERSION },
        now: r.moment(),
        revision: r.small(),
        state: State {
            standing: standing(r),
            floor: super::floor::read(r),
            roster: Roster {
                list: SpeakerList { slots: r.list(70, slot) },
                read_at: r.maybe(Reader::moment),
                asked_at: r.maybe(Reader::moment),
                refresh: r.maybe(|r| Refresh { ticket: ticket(r), until: r.moment() }),
                muted: r.list(70, agent).into(),
                attendance: rare(r, |r| Attendance {
                    away: r.list(70, away),
                    may_not_write: r.list(70, may_not_write),
                }),
            },
            cycle: Cycle { last_completer: r.maybe(agent), plans: rare(r, plans) },
            words: Words {
                wake_pending: r.flag(),
                wake_unserved: r.flag(),
                cycle_requested: r.flag(),
                returned: r.flag(),
                awaits_human: r.flag(),
                queue: r.maybe(span).into(),
            },
            quota: quota(r),
            reminders: rare(r, reminders),
            seen: Seen {
                horizon: r.maybe(message),
                newest: r.maybe(message),
                recent: r.maybe(recent).map(Box::new),
            },
            delivery: r.maybe(delivery).map(Box::new),
            rng: Rng(r.small()),
        },
        pending: Pending {
            effects: r.list(40, |r| PendingEffect { effect: effect(r), since: r.moment() }),
            next_ticket: r.small(),
            stale: r
                .list(20, |r| StaleTrigger { message: message(r), due: r.maybe(Reader::moment) })
                .into(),
        },
    }
}

fn rare<T: Clone + Default + PartialEq>(
    r: &mut Reader<'_>,
    read: impl Fn(&mut Reader<'_>) -> T,
) -> Rare<T> {
    r.maybe(read).map_or_else(Rare::default, Rare::from)
}

fn standing(r: &mut Reader<'_>) -> Situation {
    Situation {
        mode: Mode::ALL.get(usize::from(r.byte() % 5)).copied().unwrap_or_default(),
        created: r.flag(),
        pause: r.maybe(rest),
        initiator: r.maybe(agent),
        archived: r.maybe(archived).map(Box::new),
        outage: r
            .maybe(|r| ChatOutage { since: r.moment(), counted_from: r.moment() })
            .map(Box::new),
    }
}

fn away(r: &mut Reader<'_>) -> Away {
    Away { agent: agent(r), offline: r.flag() }
}

fn may_not_write(r: &mut Reader<'_>) -> MayNotWrite {
    MayNotWrite { agent: agent(r), until: r.maybe(Reader::moment) }
}

fn plans(r: &mut Reader<'_>) -> Plans {
    Plans {
        chosen: r.maybe(agent),
        handed_to: r.maybe(agent),
        round: r.list(70, agent),
        next_round: r.list(70, agent),
        cut: r.maybe(agent),
        settling: r.maybe(|r| Settling { until: r.moment(), latest: r.moment() }),
        question: r.maybe(message),
        told: r.maybe(|r| TurnId::new(r.small())),
    }
}

fn quota(r: &mut Reader<'_>) -> Quota {
    let count = |r: &mut Reader<'_>| u32::try_from(r.small()).unwrap_or(u32::MAX);
    Quota {
        limits: CeilingCounts {
            turns: count(r),
            cycles: count(r),
            announced: r.flag(),
            since: r.moment(),
        },
        budget: rare(r, |r| Budget {
            turns: count(r),
            cycles: count(r),
            cost: r.small(),
            announced: r.flag(),
        }),
        hourly: rare(r, |r| Hourly {
            spoken: r.list(255, |r| SpokenTurn { agent: agent(r), at: r.moment() }),
        }),
    }
}

fn reminders(r: &mut Reader<'_>) -> Reminders {
    Reminders {
        permit: r.maybe(permit),
        last_at: r.maybe(Reader::moment),
        due_at: r.maybe(Reader::moment),
        sent: r.byte() % 5,
    }
}

fn recent(r: &mut Reader<'_>) -> Recent {
    let fate = |r: &mut Reader<'_>| if r.flag() { RunFate::Denied } else { RunFate::Ended };
    Recent { messages: r.list(255, message), runs: r.list(40, |r| (run(r), fate(r))).into() }
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

fn delivery(r: &mut Reader<'_>) -> Delivery {
    let words = |r: &mut Reader<'_>| Tail::of(&"words ".repeat(usize::from(r.byte() % 16)));
    let mut delivery = Delivery {
        fingerprint: words(r),
        pieces: r.list(10, |r| Piece { id: message(r), tail: words(r) }),
        last_seen: r.moment(),
        arrivals: r.list(6, Reader::moment),
        polls: Polls {
            open: r.maybe(ticket),
            next: r.moment(),
            interval: Duration::from_millis(r.small()),
        },
    };
    if r.byte() % 4 > 0 {
        delivery.pieces.sort_by_key(|piece| piece.id);
        delivery.pieces.dedup_by_key(|piece| piece.id);
    }
    delivery
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
