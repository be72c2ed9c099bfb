//! Snapshots that no channel ever wrote: each rule of the audit turns its own kind down, and names
//! itself; the nearest snapshot that is true is taken.

use std::sync::Arc;
use std::time::Duration;

use crate::room::{A, B, C, Room, STRANGER};
use dirigent_core::snapshot::{
    Archived, ChatOutage, InitiatorPermit, PendingEffect, PermitRun, PhaseData, Refresh,
    RestoreError, StaleTrigger,
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

const fn floor(agent: dirigent_core::AgentKey) -> PhaseData {
    PhaseData::Granted { agent, until: None, attempt: 0 }
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
    forged(&good, "the speaker is in the list", &[&|it| it.phase = floor(STRANGER)]);
    forged(
        &good,
        "the speaker can be given the floor",
        &[&|it| it.muted = vec![B], &|it| it.list[1].left = true],
    );
    forged(
        &good,
        "the speaker's turn is not over",
        &[&|it| it.list[1].turn = SeatTurn::Spoke, &|it| it.list[1].turn = SeatTurn::Skipped],
    );
    forged(
        &good,
        "every slot before the speaker is done and every slot after it is ahead",
        &[&|it| it.phase = floor(C), &|it| it.list[0].turn = SeatTurn::Ahead, &|it| {
            it.list[2].turn = SeatTurn::Passed;
        }],
    );
}

/// D77
#[test]
fn nobody_stands_twice_in_a_list() {
    forged(&dormant(), "no agent is listed twice", &[&|it| it.list[2].agent = A]);
    forged(
        &dormant(),
        "the mute list ascends",
        &[&|it| it.muted = vec![B, A], &|it| it.muted = vec![A, A]],
    );
}

/// D77
#[test]
fn phase_mode_and_archiving_agree() {
    forged(
        &dormant(),
        "turns are kept only in chat and discussion",
        &[&|it| it.mode = Mode::None, &|it| it.mode = Mode::Work, &|it| it.mode = Mode::Report],
    );
    forged(
        &dormant(),
        "a channel is in phase archived exactly when it was archived",
        &[&|it| it.phase = PhaseData::Archived, &|it| it.archived = Some(HOW)],
    );
    forged(
        &dormant(),
        "a channel is in phase dead exactly in mode report",
        &[&|it| it.phase = PhaseData::Dead, &|it| {
            (it.mode, it.phase) = (Mode::Report, PhaseData::Disabled);
        }],
    );
    forged(
        &Snapshot::default(),
        "a channel that was never given a mode has none",
        &[&|it| it.mode = Mode::Work, &|it| it.mode = Mode::Chat],
    );
}

/// D77, F04
#[test]
fn a_stopped_channel_has_no_speaker_and_reads_no_list() {
    let rule = "a stopped channel has no speaker";
    forged(&granted(), rule, &[&|it| it.pause = Some(Pause::Stopped)]);
    forged(&waking(), rule, &[&|it| it.pause = Some(Pause::Stopped)]);
    let held = Snapshot { pause: Some(Pause::Held), ..granted() };
    assert_eq!(breach(&held), None, "on hold it keeps the floor");
}

/// D77, R148, D84
#[test]
fn a_permit_is_the_initiators_and_lasts_while_nobody_speaks() {
    let stolen = InitiatorPermit { agent: B, run: PermitRun::Offered };
    let own = InitiatorPermit { agent: A, run: PermitRun::Offered };
    forged(
        &reminded(),
        "only a discussion has an initiator",
        &[&|it| it.initiator = None, &|it| it.mode = Mode::Chat],
    );
    let rule = "a permit is the initiator's and only while dormant";
    forged(&reminded(), rule, &[&|it| it.permit = Some(stolen), &|it| it.phase = floor(A)]);
    forged(&dormant(), rule, &[&|it| it.permit = Some(own)]);
}

/// D77, D35
#[test]
fn a_list_is_read_when_it_is_owed_and_for_nobody_with_the_floor() {
    let good = waking();
    let ticket = good.refresh.unwrap().ticket.get();
    forged(
        &good,
        "while the phase is Refreshing, a member list is requested",
        &[&|it| {
            it.refresh = None;
            it.pending.clear();
        }],
    );
    forged(
        &good,
        "a list that is read is pending",
        &[&|it| it.pending.clear(), &|it| it.refresh = Some(refresh(ticket + 1))],
    );
    forged(
        &good,
        "a list is pending only while it is read",
        &[&|it| {
            it.pending.push(fetch(it.next_ticket));
            it.next_ticket += 1;
        }],
    );
    forged(
        &dormant(),
        "a list is pending only while it is read",
        &[&|it| (it.pending, it.next_ticket) = (vec![fetch(0)], 1)],
    );
    forged(&good, "no agent is granted while the list is read", &[&|it| it.phase = floor(A)]);
}

/// D77
#[test]
fn no_list_is_read_for_a_channel_without_turns() {
    let reads = |it: &mut Snapshot| {
        (it.refresh, it.pending, it.next_ticket) = (Some(refresh(0)), vec![fetch(0)], 1);
    };
    let rule = "a list is read only where turns are kept";
    forged(&Snapshot::default(), rule, &[&reads]);
    let mut archived = dormant();
    (archived.archived, archived.phase) = (Some(HOW), PhaseData::Archived);
    forged(&archived, rule, &[&reads]);
    let mut open = dormant();
    reads(&mut open);
    assert_eq!(breach(&open), None, "a chat is counted in the background");
}

/// D77, D78
#[test]
fn tickets_ascend_and_none_is_from_the_future() {
    let good = Snapshot { pending: vec![delete(3), delete(4)], next_ticket: 5, ..dormant() };
    forged(
        &good,
        "tickets ascend",
        &[&|it| it.pending = vec![delete(4), delete(3)], &|it| {
            it.pending = vec![delete(3), delete(3)];
        }],
    );
    let nameless = PendingEffect {
        effect: Effect::Inject { agent: A, turn: TurnId::new(1), message: MessageId::new(1) },
        since: Timestamp::default(),
    };
    forged(
        &good,
        "no ticket is from the future",
        &[&|it| it.next_ticket = 4, &|it| it.pending.push(nameless)],
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
        &[&|it| it.pending.retain(|effect| !matches!(effect.effect, Effect::Poll { .. }))],
    );
}

/// D77, D78
#[test]
fn remembered_messages_ascend_and_none_is_above_the_newest() {
    let ids = |ids: &[u64]| ids.iter().copied().map(MessageId::new).collect::<Vec<_>>();
    let (horizon, newest) = (Some(MessageId::new(10)), Some(MessageId::new(20)));
    let good = Snapshot { horizon, newest, messages: ids(&[11, 15, 20]), ..dormant() };
    forged(
        &good,
        "remembered messages ascend",
        &[&|it| it.messages = ids(&[15, 11]), &|it| it.messages = ids(&[11, 11]), &|it| {
            it.messages = ids(&[20, 21]);
        }],
    );
    let late = Snapshot { messages: ids(&[9, 15]), ..good };
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
        &[&|it| it.list_at = Some(it.now), &|it| {
            it.phase = PhaseData::Unknown { failures: 1, ask_at: None }
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
        &[&|it| it.phase = PhaseData::Granted { agent: A, until, attempt: 0 }],
    );
    let ahead = room.now + Duration::from_secs(1);
    let outage = |it: &mut Snapshot, since: Option<Timestamp>, counted_from| {
        let outage = it.steering.as_mut().and_then(|steering| steering.outage.as_mut()).unwrap();
        *outage = ChatOutage { since: since.unwrap_or(outage.since), counted_from };
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
    assert_eq!(good.last_completer, Some(A));
    forged(
        &good,
        "the last completer completed a turn of this cycle",
        &[&|it| it.last_completer = Some(B), &|it| it.last_completer = Some(C), &|it| {
            it.list[0].turn = SeatTurn::Skipped;
        }],
    );
    let gone = Snapshot { last_completer: Some(STRANGER), ..good };
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
            &[&|it| it.cycle_requested = true, &|it| it.last_completer = Some(STRANGER), &|it| {
                it.list[0].turn = SeatTurn::Skipped;
            }],
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
        &[&|it| it.next_ticket = TOO_HIGH, &|it| it.turn = TurnId::new(TOO_HIGH), &|it| {
            it.revision = TOO_HIGH;
        }],
    );
    let high = TOO_HIGH - 1;
    let turn = TurnId::new(high);
    let good = Snapshot { next_ticket: high, turn, revision: high, ..dormant() };
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
        let phases = [
            PhaseData::Granted { agent: B, until, attempt: u8::MAX },
            PhaseData::Running { agent: B, run: None, anchor: None, until, receipt: false },
            PhaseData::Confirming {
                agent: B,
                run: None,
                anchor: None,
                since: at,
                poll: None,
                poll_next: at,
                poll_interval: Duration::MAX,
            },
        ];
        for (phase, now) in phases.into_iter().flat_map(|phase| MOMENTS.map(|now| (phase, now))) {
            let mut room =
                room_of(&Snapshot { phase, list_at: until, talk_since: at, ..granted() });
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
    let phase =
        PhaseData::Running { agent: B, run: None, anchor: None, until: past, receipt: false };
    let mut room = room_of(&Snapshot { phase, ..granted() });
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
        let archived = Snapshot {
            archived: Some(Archived { bot_notice_at: Some(at), ..HOW }),
            phase: PhaseData::Archived,
            reminder_due: Some(at),
            reminded_at: Some(at),
            asked_at: Some(at),
            list_at: Some(at),
            pending: vec![PendingEffect { effect: trigger, since: at }],
            next_ticket: 1,
            stale_triggers: stale,
            ..dormant()
        };
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
        let mut room = room_of(&Snapshot { pending, next_ticket: 1, ..dormant() });
        room.settle(ticket, settlement);
        room.tell(Input::Tick);
        assert_eq!((room.phase(), room.triggers()), (PhaseKind::Dormant, 0), "{effect:?}");
        let again = Input::Settled { ticket, settlement };
        assert_eq!(room.refusal(again), Refusal::UnknownTicket, "{effect:?}");
        room.human("hello");
        assert_eq!(room.phase(), PhaseKind::Granted, "{effect:?}");
    }
}
