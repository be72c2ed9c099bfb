//! Snapshots that no channel ever wrote: each rule of the audit turns its own kind down, and names
//! itself; the nearest snapshot that is true is taken.

use std::sync::Arc;
use std::time::Duration;

use crate::room::{A, B, C, Room, STRANGER, changed};
use dirigent_core::snapshot::{
    Archived, ChatOutage, Delivery, Grant, InitiatorPermit, PendingEffect, PermitRun, Phase, Piece,
    Polls, Recent, Refresh, Reminders, RestoreError, StaleTrigger, TurnRun,
};
use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{
    Config, Effect, Input, MessageId, Mode, Notice, PhaseKind, Refusal, ReminderPlace, Settlement,
    Snapshot, Ticket, Timestamp, TurnId, TurnMachine,
};

/// The rule that a snapshot breaks, in words; `None` when it is taken.
fn breach(snapshot: &Snapshot) -> Option<String> {
    match TurnMachine::restore(Arc::new(Config::default()), snapshot) {
        Ok(_) => None,
        Err(RestoreError::Broken(breach)) => Some(breach.to_string()),
        Err(other) => panic!("{other}"),
    }
}

/// Asserts that every one of these changes to a good snapshot breaks this rule and no other before.
#[track_caller]
fn forged(good: &Snapshot, rule: &str, changes: &[&dyn Fn(&mut Snapshot)]) {
    assert_eq!(breach(good), None, "the snapshot itself is true");
    for (at, change) in changes.iter().enumerate() {
        let mut snapshot = good.clone();
        change(&mut snapshot);
        assert_eq!(breach(&snapshot).as_deref(), Some(rule), "change {at}");
    }
}

/// A chat of three at rest.
fn dormant() -> Snapshot {
    Room::chat(3).snapshot()
}

/// A chat of three in which B has the floor and A has passed.
fn granted() -> Snapshot {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.snapshot()
}

/// A chat whose list is read on waking.
fn waking() -> Snapshot {
    let mut room = Room::chat(3);
    room.wait(crate::room::secs(100));
    room.human("hello");
    room.snapshot()
}

/// A discussion at rest, whose initiator A was reminded.
fn reminded() -> Snapshot {
    let mut room = Room::discussion(3);
    room.human("hello");
    room.all_pass();
    room.members();
    room.snapshot()
}

fn fetch(ticket: u64) -> PendingEffect {
    let effect = Effect::FetchMembers { ticket: Ticket::new(ticket) };
    PendingEffect { effect, since: Timestamp::default() }
}

fn delete(ticket: u64) -> PendingEffect {
    let effect = Effect::Delete { ticket: Ticket::new(ticket), message: MessageId::new(1) };
    PendingEffect { effect, since: Timestamp::default() }
}

fn refresh(ticket: u64) -> Refresh {
    Refresh { ticket: Ticket::new(ticket), until: Timestamp::default() }
}

const fn floor(agent: dirigent_core::AgentKey) -> Phase {
    Phase::Granted(Grant { agent, until: None, attempt: 0 })
}

const HOW: Archived = Archived {
    at: Timestamp::from_millis(1),
    concluded: false,
    leaving: [None; 2],
    bot_notice_at: None,
};

/// D77
#[test]
fn the_floor_is_held_by_a_listed_agent_who_may_and_whose_slot_it_is() {
    let good = granted();
    forged(&good, "the speaker is in the list", &[&|it| it.state.floor.phase = floor(STRANGER)]);
    forged(
        &good,
        "the speaker can be given the floor",
        &[&|it| it.state.roster.muted = vec![B].into(), &|it| {
            it.state.roster.list.slots[1].left = true;
        }],
    );
    forged(
        &good,
        "the speaker's turn is not over",
        &[&|it| it.state.roster.list.slots[1].turn = SeatTurn::Spoke, &|it| {
            it.state.roster.list.slots[1].turn = SeatTurn::Skipped;
        }],
    );
    forged(
        &good,
        "every slot before the speaker is done and every slot after it is ahead",
        &[
            &|it| it.state.floor.phase = floor(C),
            &|it| it.state.roster.list.slots[0].turn = SeatTurn::Ahead,
            &|it| {
                it.state.roster.list.slots[2].turn = SeatTurn::Passed;
            },
        ],
    );
}

/// D77
#[test]
fn nobody_stands_twice_in_a_list() {
    forged(
        &dormant(),
        "no agent is listed twice",
        &[&|it| it.state.roster.list.slots[2].agent = A],
    );
    forged(
        &dormant(),
        "the mute list ascends",
        &[&|it| it.state.roster.muted = vec![B, A].into(), &|it| {
            it.state.roster.muted = vec![A, A].into();
        }],
    );
}

/// D77
#[test]
fn phase_mode_and_archiving_agree() {
    forged(
        &dormant(),
        "turns are kept only in chat and discussion",
        &[
            &|it| it.state.standing.mode = Mode::None,
            &|it| it.state.standing.mode = Mode::Work,
            &|it| it.state.standing.mode = Mode::Report,
        ],
    );
    forged(
        &dormant(),
        "a channel is in phase archived exactly when it was archived",
        &[&|it| it.state.floor.phase = Phase::Archived, &|it| {
            it.state.standing.archived = Some(HOW.into());
        }],
    );
    forged(
        &dormant(),
        "a channel is in phase dead exactly in mode report",
        &[&|it| it.state.floor.phase = Phase::Dead, &|it| {
            (it.state.standing.mode, it.state.floor.phase) = (Mode::Report, Phase::Disabled);
        }],
    );
    forged(
        &Snapshot::default(),
        "a channel that was never given a mode has none",
        &[&|it| it.state.standing.mode = Mode::Work, &|it| {
            it.state.standing.mode = Mode::Chat;
            it.state.roster.read_at = Some(Timestamp::default());
        }],
    );
}

/// D77, F04
#[test]
fn a_stopped_channel_has_no_speaker_and_reads_no_list() {
    let rule = "a stopped channel has no speaker";
    forged(&granted(), rule, &[&|it| it.state.standing.pause = Some(Pause::Stopped)]);
    forged(&waking(), rule, &[&|it| it.state.standing.pause = Some(Pause::Stopped)]);
    let held = changed(granted(), |it| it.state.standing.pause = Some(Pause::Held));
    assert_eq!(breach(&held), None, "on hold it keeps the floor");
}

/// D77, R148, D84
#[test]
fn a_permit_is_the_initiators_and_lasts_while_nobody_speaks() {
    let stolen = InitiatorPermit { agent: B, run: PermitRun::Offered };
    let permit = |it: &mut Snapshot, permit: InitiatorPermit| {
        it.state.reminders =
            Reminders { permit: Some(permit), ..it.state.reminders.value() }.into();
    };
    let own = InitiatorPermit { agent: A, run: PermitRun::Offered };
    forged(
        &reminded(),
        "only a discussion has an initiator",
        &[&|it| it.state.standing.initiator = None, &|it| it.state.standing.mode = Mode::Chat],
    );
    let rule = "a permit is the initiator's and only while dormant";
    forged(&reminded(), rule, &[&|it| permit(it, stolen), &|it| it.state.floor.phase = floor(A)]);
    forged(&dormant(), rule, &[&|it| permit(it, own)]);
}

/// D77, D35
#[test]
fn a_list_is_read_when_it_is_owed_and_for_nobody_with_the_floor() {
    let good = waking();
    let ticket = good.state.roster.refresh.unwrap().ticket.get();
    forged(
        &good,
        "while the phase is Refreshing, a member list is requested",
        &[&|it| {
            it.state.roster.refresh = None;
            it.pending.effects.clear();
        }],
    );
    forged(
        &good,
        "a list that is read is pending",
        &[&|it| it.pending.effects.clear(), &|it| {
            it.state.roster.refresh = Some(refresh(ticket + 1));
        }],
    );
    forged(
        &good,
        "a list is pending only while it is read",
        &[&|it| {
            it.pending.effects.push(fetch(it.pending.next_ticket));
            it.pending.next_ticket += 1;
        }],
    );
    forged(
        &dormant(),
        "a list is pending only while it is read",
        &[&|it| (it.pending.effects, it.pending.next_ticket) = (vec![fetch(0)], 1)],
    );
    forged(
        &good,
        "no agent is granted while the list is read",
        &[&|it| it.state.floor.phase = floor(A)],
    );
}

/// D77
#[test]
fn no_list_is_read_for_a_channel_without_turns() {
    let reads = |it: &mut Snapshot| {
        (it.state.roster.refresh, it.pending.effects, it.pending.next_ticket) =
            (Some(refresh(0)), vec![fetch(0)], 1);
    };
    let rule = "a list is read only where turns are kept";
    forged(&Snapshot::default(), rule, &[&reads]);
    let mut archived = dormant();
    (archived.state.standing.archived, archived.state.floor.phase) =
        (Some(HOW.into()), Phase::Archived);
    forged(&archived, rule, &[&reads]);
    let mut open = dormant();
    reads(&mut open);
    assert_eq!(breach(&open), None, "a chat is counted in the background");
}

/// D77, D78
#[test]
fn tickets_ascend_and_none_is_from_the_future() {
    let good = changed(dormant(), |it| {
        it.pending.effects = vec![delete(3), delete(4)];
        it.pending.next_ticket = 5;
    });
    forged(
        &good,
        "tickets ascend",
        &[&|it| it.pending.effects = vec![delete(4), delete(3)], &|it| {
            it.pending.effects = vec![delete(3), delete(3)];
        }],
    );
    let nameless = PendingEffect {
        effect: Effect::Inject { agent: A, turn: TurnId::new(1), message: MessageId::new(1) },
        since: Timestamp::default(),
    };
    forged(
        &good,
        "no ticket is from the future",
        &[&|it| it.pending.next_ticket = 4, &|it| it.pending.effects.push(nameless)],
    );
}

/// D77, R106
#[test]
fn an_open_poll_is_owed() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "on its way");
    room.wait(crate::room::millis(300));
    forged(
        &room.snapshot(),
        "an open poll is pending",
        &[&|it| it.pending.effects.retain(|effect| !matches!(effect.effect, Effect::Poll { .. }))],
    );
}

/// D77
#[test]
fn a_reply_that_is_confirmed_is_looked_for_and_its_pieces_ascend() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "on its way");
    let pieces = |ids: [u64; 2]| {
        let pieces = ids.map(|id| Piece { id: MessageId::new(id), ..Piece::default() });
        Some(Box::new(Delivery { pieces: pieces.to_vec(), ..Delivery::default() }))
    };
    forged(
        &room.snapshot(),
        "a reply that is confirmed is looked for",
        &[&|it| it.state.delivery = None],
    );
    forged(
        &room.snapshot(),
        "the pieces of a reply ascend",
        &[&|it| it.state.delivery = pieces([2, 1]), &|it| it.state.delivery = pieces([1, 1])],
    );
}

/// D77, D78
#[test]
fn remembered_messages_ascend_and_none_is_above_the_newest() {
    let recent = |ids: &[u64]| {
        let messages = ids.iter().copied().map(MessageId::new).collect();
        Some(Box::new(Recent { messages, ..Recent::default() }))
    };
    let (horizon, newest) = (Some(MessageId::new(10)), Some(MessageId::new(20)));
    let good = changed(dormant(), |it| {
        it.state.seen.horizon = horizon;
        it.state.seen.newest = newest;
        it.state.seen.recent = recent(&[11, 15, 20]);
    });
    forged(
        &good,
        "remembered messages ascend",
        &[
            &|it| it.state.seen.recent = recent(&[15, 11]),
            &|it| it.state.seen.recent = recent(&[11, 11]),
            &|it| {
                it.state.seen.recent = recent(&[20, 21]);
            },
        ],
    );
    let late = changed(good, |it| it.state.seen.recent = recent(&[9, 15]));
    assert_eq!(breach(&late), None, "a message that was read late lies below the horizon");
}

#[test]
fn the_members_are_unknown_only_where_no_list_was_read_and_it_is_asked_for() {
    let mut room = Room::unknown();
    room.tell(Input::SetMode(Mode::Chat));
    room.members_fail();
    forged(
        &room.snapshot(),
        "the members are unknown only while no list was ever read",
        &[&|it| it.state.roster.read_at = Some(it.now), &|it| {
            it.state.floor.phase = Phase::Unknown { failures: 1, ask_at: None };
        }],
    );
}

#[test]
fn while_the_chat_is_away_no_agent_is_late() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.tell(Input::Chat { away: true });
    let until = Some(room.now);
    forged(
        &room.snapshot(),
        "no agent has a start deadline while the chat is away",
        &[&|it| it.state.floor.phase = Phase::Granted(Grant { agent: A, until, attempt: 0 })],
    );
    let ahead = room.now + Duration::from_secs(1);
    let outage = |it: &mut Snapshot, since: Option<Timestamp>, counted_from| {
        let outage = it.state.standing.outage.as_mut().unwrap();
        **outage = ChatOutage { since: since.unwrap_or(outage.since), counted_from };
    };
    forged(
        &room.snapshot(),
        "an outage is counted from its beginning or from later, and neither lies ahead",
        &[
            &|it| outage(it, None, Timestamp::from_millis(1)),
            &|it| outage(it, None, ahead),
            &|it| outage(it, Some(ahead), ahead),
        ],
    );
}

/// D77, D30
#[test]
fn the_last_completer_completed_its_turn() {
    let good = granted();
    assert_eq!(good.state.cycle.last_completer, Some(A));
    forged(
        &good,
        "the last completer completed a turn of this cycle",
        &[
            &|it| it.state.cycle.last_completer = Some(B),
            &|it| it.state.cycle.last_completer = Some(C),
            &|it| {
                it.state.roster.list.slots[0].turn = SeatTurn::Skipped;
            },
        ],
    );
    let gone = changed(good, |it| it.state.cycle.last_completer = Some(STRANGER));
    assert_eq!(breach(&gone), None, "it may have left the list since");
}

/// D77
#[test]
fn outside_a_cycle_nothing_of_one_is_left() {
    let rule = "outside a cycle nothing of one is remembered";
    for good in [dormant(), waking()] {
        forged(
            &good,
            rule,
            &[
                &|it| it.state.words.cycle_requested = true,
                &|it| it.state.cycle.last_completer = Some(STRANGER),
                &|it| {
                    it.state.roster.list.slots[0].turn = SeatTurn::Skipped;
                },
            ],
        );
    }
}

/// D77
#[test]
fn counters_have_room_to_rise() {
    const TOO_HIGH: u64 = u64::MAX / 2;
    forged(
        &dormant(),
        "the counters have room to rise",
        &[
            &|it| it.pending.next_ticket = TOO_HIGH,
            &|it| it.state.floor.turn = TurnId::new(TOO_HIGH),
            &|it| {
                it.revision = TOO_HIGH;
            },
        ],
    );
    let high = TOO_HIGH - 1;
    let turn = TurnId::new(high);
    let good = changed(dormant(), |it| {
        it.pending.next_ticket = high;
        it.state.floor.turn = turn;
        it.revision = high;
    });
    assert_eq!(breach(&good), None, "just below they have");
}

/// A room whose channel was brought back from this.
fn room_of(snapshot: &Snapshot) -> Room {
    let mut room = Room::chat(3);
    room.channel = TurnMachine::restore(Arc::new(Config::default()), snapshot).unwrap();
    room.message = 5_000;
    room
}

/// Moments no clock will ever show, and one that it may.
const MOMENTS: [Timestamp; 5] = [
    Timestamp::from_millis(0),
    Timestamp::from_millis(1),
    crate::room::START,
    Timestamp::from_millis(u64::MAX - 1),
    Timestamp::from_millis(u64::MAX),
];

/// D77, R118
#[test]
fn a_deadline_at_any_moment_overflows_nothing_and_an_order_ends_the_wait() {
    for at in MOMENTS {
        let until = Some(at);
        let run = TurnRun { agent: B, id: None, anchor: None };
        let polls = Polls { open: None, next: at, interval: Duration::MAX };
        let phases = [
            Phase::Granted(Grant { agent: B, until, attempt: u8::MAX }),
            Phase::Running { run, until, receipt: false },
            Phase::Confirming { run, since: at },
        ];
        for (phase, now) in phases.into_iter().flat_map(|phase| MOMENTS.map(|now| (phase, now))) {
            let mut room = room_of(&changed(granted(), |it| {
                it.state.floor.phase = phase;
                it.state.delivery = Some(Delivery { polls, ..Delivery::default() }.into());
                it.state.roster.read_at = until;
                it.state.quota.limits.since = at;
            }));
            room.now = now;
            room.tell(Input::Tick);
            room.now = crate::room::START;
            room.tell(Input::Tick);
            room.tell(Input::Stop);
            assert_eq!(room.phase(), PhaseKind::Dormant, "{at:?} {now:?}");
            room.tell(Input::Resume);
            room.human("hello");
            room.members_or_nothing();
            assert_eq!(room.phase(), PhaseKind::Granted, "{at:?} {now:?}");
        }
    }
}

/// D77, R118
#[test]
fn a_deadline_long_gone_ends_its_turn_at_the_first_look() {
    let past = Some(Timestamp::from_millis(0));
    let phase = Phase::Running {
        run: TurnRun { agent: B, id: None, anchor: None },
        until: past,
        receipt: false,
    };
    let mut room = room_of(&changed(granted(), |it| it.state.floor.phase = phase));
    room.tell(Input::Tick);
    assert_eq!(room.speaker(), Some(C));
}

/// D77, R075
#[test]
fn an_archive_full_of_deadlines_and_pending_effects_does_nothing_but_clear_up() {
    let trigger =
        Effect::Trigger { ticket: Ticket::new(0), agent: A, turn: TurnId::new(1), attempt: 0 };
    for at in MOMENTS {
        let stale = vec![StaleTrigger { message: MessageId::new(7), due: Some(at) }];
        let archived = changed(dormant(), |it| {
            it.state.standing.archived = Some(Archived { bot_notice_at: Some(at), ..HOW }.into());
            it.state.floor.phase = Phase::Archived;
            it.state.reminders =
                Reminders { due_at: Some(at), last_at: Some(at), ..Reminders::default() }.into();
            it.state.roster.asked_at = Some(at);
            it.state.roster.read_at = Some(at);
            it.pending.effects = vec![PendingEffect { effect: trigger, since: at }];
            it.pending.next_ticket = 1;
            it.pending.stale = (stale).into();
        });
        let mut room = room_of(&archived);
        let first = room.tell(Input::Tick).asks();
        room.settle(Ticket::new(0), Settlement::Done { message: Some(MessageId::new(9)) });
        for now in MOMENTS {
            room.now = now;
            let asks = room.tell(Input::Tick).asks();
            let clears = |ask: &String| ask.starts_with("delete");
            assert!(first.iter().chain(&asks).all(clears), "{at:?} {now:?}: {first:?} {asks:?}");
            assert!(room.tell(Input::Tick).asks().is_empty(), "{at:?} {now:?}");
        }
        assert_eq!(room.phase(), PhaseKind::Archived);
        assert_eq!((room.triggers(), room.speaker()), (0, None));
    }
}

/// D77, D78
#[test]
fn a_pending_effect_of_a_dormant_channel_is_settled_and_wakes_nobody() {
    let ticket = Ticket::new(0);
    let effects = [
        Effect::Trigger { ticket, agent: B, turn: TurnId::new(1), attempt: u8::MAX },
        Effect::Trigger { ticket, agent: STRANGER, turn: TurnId::new(u64::MAX), attempt: 0 },
        Effect::Delete { ticket, message: MessageId::new(u64::MAX) },
        Effect::Poll { ticket, after: Some(MessageId::new(u64::MAX)) },
        Effect::Notice { ticket, notice: Notice::Ceiling },
        Effect::Reminder { ticket, initiator: STRANGER, place: ReminderPlace::Discussion },
    ];
    let settlements = [
        Settlement::Done { message: Some(MessageId::new(4_000)) },
        Settlement::Doubtful,
        Settlement::Done { message: None },
    ];
    for (effect, settlement) in effects.into_iter().flat_map(|e| settlements.map(|s| (e, s))) {
        let pending = vec![PendingEffect { effect, since: Timestamp::from_millis(u64::MAX) }];
        let mut room = room_of(&changed(dormant(), |it| {
            it.pending.effects = pending;
            it.pending.next_ticket = 1;
        }));
        room.settle(ticket, settlement);
        room.tell(Input::Tick);
        assert_eq!((room.phase(), room.triggers()), (PhaseKind::Dormant, 0), "{effect:?}");
        let again = Input::Settled { ticket, settlement };
        assert_eq!(room.refusal(again), Refusal::UnknownTicket, "{effect:?}");
        room.human("hello");
        assert_eq!(room.phase(), PhaseKind::Granted, "{effect:?}");
    }
}
