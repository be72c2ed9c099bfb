//! The settings: their defaults to the letter, and which values cannot be obeyed.

use std::time::Duration;

use crate::room::{A, B, Room, SEED, agents, ended, gate, message, millis, secs, spoke};
use dirigent_core::config::{HumanInterrupt, MentionRule, TriggerCleanup};
use dirigent_core::{
    Author, Cause, Config, Creation, Input, MessageKind, Mode, Outcome, PhaseKind, Reason, Refusal,
    Settlement, Timestamp,
};

/// What `validate` says of the default with this change; "" when it is content.
fn verdict(change: impl FnOnce(&mut Config)) -> String {
    let mut config = Config::default();
    change(&mut config);
    config.validate().map_or_else(|error| error.to_string(), |()| String::new())
}

/// D57, D64, R117
#[test]
fn a_wait_of_less_than_a_millisecond_cannot_be_obeyed() {
    type Set = fn(&mut Config, Duration);
    let waits: [(&str, Set); 10] = [
        ("confirmation.delivery_timeout", |it, wait| it.confirmation.delivery_timeout = wait),
        ("confirmation.poll_first", |it, wait| it.confirmation.poll_first = wait),
        ("confirmation.poll_interval", |it, wait| it.confirmation.poll_interval = wait),
        ("members.refresh_deadline", |it, wait| it.members.refresh_deadline = wait),
        ("members.recount_interval", |it, wait| it.members.recount_interval = wait),
        ("members.forget_after", |it, wait| it.members.forget_after = wait),
        ("deadlines.start", |it, wait| it.deadlines.start = Some(wait)),
        ("deadlines.run", |it, wait| it.deadlines.run = Some(wait)),
        ("ceilings.discussion_time", |it, wait| it.ceilings.discussion_time = Some(wait)),
        ("discussion.overdue_archive_after", |it, wait| {
            it.discussion.overdue_archive_after = Some(wait);
        }),
    ];
    for (field, set) in waits {
        let sentence = format!("{field} must be at least one millisecond");
        assert_eq!(verdict(|it| set(it, Duration::ZERO)), sentence);
        assert_eq!(verdict(|it| set(it, Duration::from_micros(999))), sentence);
        assert_eq!(verdict(|it| set(it, millis(1))), "", "{field}");
        assert_eq!(verdict(|it| set(it, Duration::MAX)), poll_too_slow(field), "{field}");
    }
}

/// The first poll interval may not pass the longest one, and nothing else has an upper end.
fn poll_too_slow(field: &str) -> &'static str {
    if field == "confirmation.poll_interval" {
        "confirmation.poll_interval_max must not be below poll_interval"
    } else {
        ""
    }
}

/// F01, F28, R119
#[test]
fn numbers_out_of_range_cannot_be_obeyed() {
    assert_eq!(verdict(|it| it.confirmation.fingerprint_length = 64), "");
    let fingerprint = "confirmation.fingerprint_length must be at most 64";
    assert_eq!(verdict(|it| it.confirmation.fingerprint_length = 65), fingerprint);
    assert_eq!(verdict(|it| it.confirmation.poll_interval_max = secs(1)), "", "it need not grow");
    let poll = "confirmation.poll_interval_max must not be below poll_interval";
    assert_eq!(verdict(|it| it.confirmation.poll_interval_max = millis(999)), poll);
    let none = "must be at least 1, or none for no ceiling";
    assert_eq!(
        verdict(|it| it.ceilings.chat.turns = Some(0)),
        format!("ceilings.chat.turns {none}")
    );
    assert_eq!(
        verdict(|it| it.ceilings.chat.cycles = Some(0)),
        format!("ceilings.chat.cycles {none}")
    );
    let rounds = verdict(|it| it.ceilings.discussion.cycles = Some(0));
    assert_eq!(rounds, format!("ceilings.discussion.cycles {none}"));
    let turns = verdict(|it| it.ceilings.discussion.turns = Some(0));
    assert_eq!(turns, format!("ceilings.discussion.turns {none}"));
    assert_eq!(verdict(|it| it.ceilings.chat.turns = Some(1)), "");
    assert_eq!(verdict(|it| it.ceilings.chat.cycles = Some(1)), "");
    assert_eq!(verdict(|it| it.ceilings.discussion.cycles = Some(1)), "");
}

/// R118
#[test]
fn the_longest_and_the_shortest_waits_overflow_nothing() {
    let all = |wait: Duration| {
        move |it: &mut Config| {
            let positive = wait.max(millis(1));
            (it.confirmation.delivery_timeout, it.confirmation.quiet_period) = (positive, wait);
            (
                it.confirmation.poll_first,
                it.confirmation.poll_interval,
                it.confirmation.poll_interval_max,
            ) = (positive, positive, positive);
            (it.deadlines.start, it.deadlines.run) = (Some(positive), Some(positive));
            (it.confirmation.late_grace, it.members.refresh_deadline, it.members.list_fresh) =
                (wait, positive, wait);
            (it.members.recount_interval, it.members.forget_after) = (positive, positive);
            it.trigger_cleanup = TriggerCleanup::After(wait);
            (it.ceilings.discussion_time, it.discussion.overdue_archive_after) =
                (Some(positive), Some(positive));
            it.discussion.reminder_interval = wait;
            (it.deadlines.retriggers, it.confirmation.fingerprint_length) = (u8::MAX, 0);
        }
    };
    for wait in [Duration::ZERO, Duration::MAX] {
        for mut room in [Room::chat_with(3, all(wait)), Room::discussion_with(3, all(wait))] {
            room.human("hello");
            room.members_or_nothing();
            for agent in room.order() {
                let run = Some(room.fresh_run());
                let _ = room.give(gate(agent, run));
                let _ = room.give(ended(agent, run, spoke("a reply")));
                room.says(agent, "a reply");
                room.sleep(millis(1));
                room.tell(Input::Tick);
            }
            for now in [u64::MAX, 0, 1_700_000_000_000] {
                room.now = Timestamp::from_millis(now);
                room.tell(Input::Tick);
            }
            // A discussion of a millisecond is over by now.
            if room.phase() != PhaseKind::Archived {
                room.tell(Input::Stop);
                assert_eq!(room.phase(), PhaseKind::Dormant, "{wait:?}");
                room.tell(Input::Resume);
                room.human("hello again");
                assert_ne!(room.phase(), PhaseKind::Dormant, "{wait:?}");
            }
        }
    }
}

/// D53, D64, D69, F01
#[test]
fn the_seed_to_the_letter_is_the_default_without_its_safety_nets() {
    let literal = Config::seed_literal();
    assert_eq!(literal.validate(), Ok(()));
    let mut expected = Config::default();
    expected.deadlines.start = None;
    expected.deadlines.run = None;
    expected.ceilings.chat.turns = None;
    expected.ceilings.chat.cycles = None;
    expected.ceilings.discussion.turns = None;
    expected.ceilings.discussion.cycles = None;
    expected.members.list_fresh = Duration::MAX;
    expected.confirmation.any_message_fallback = false;
    expected.people.acknowledge = false;
    expected.order.skip_last_speaker = false;
    expected.people.mentions = MentionRule::Ignored;
    assert_eq!(literal, expected);
    assert_ne!(literal, Config::default());
}

/// D53, D64, D69
#[test]
fn by_the_letter_of_the_seed_nobody_is_hurried_and_nothing_but_the_tail_confirms() {
    let mut room = Room::chat_with(2, |config| *config = Config::seed_literal());
    room.wait(secs(100_000));
    room.human("hello");
    assert_eq!(room.phase(), PhaseKind::Granted, "the list is not read anew on waking");
    room.wait(secs(100_000));
    assert_eq!(room.phase(), PhaseKind::Granted, "it may start when it likes");
    room.start(A);
    room.wait(secs(100_000));
    assert_eq!(room.phase(), PhaseKind::Running, "it may run as long as it likes");
    room.ends(A, spoke("what it meant to say"));
    room.says(A, "something else");
    room.wait(millis(14_999));
    assert_eq!(room.phase(), PhaseKind::Confirming, "any message is not enough");
    room.wait(millis(1));
    assert_eq!(room.speaker(), Some(B));
}

/// SD2: each item of the list in the docs of `Config::seed_literal`; the rest of it is in the next test.
#[test]
fn to_the_letter_keeps_what_its_list_says() {
    let literal = |config: &mut Config| *config = Config::seed_literal();
    let mut unknown = Room::with(Config::seed_literal(), SEED);
    unknown.tell(Input::SetMode(Mode::Chat));
    unknown.members_fail();
    assert_eq!(unknown.explain(A), Reason::MembersUnknown);

    let mut away = Room::chat_with(2, literal);
    away.human("hello");
    away.start(A);
    away.ends(A, spoke("it arrives later"));
    away.tell(Input::Chat { away: true });
    away.wait(secs(3_000));
    assert_eq!(away.phase(), PhaseKind::Confirming, "it waits for the chat");

    let mut late = Room::chat_with(2, literal);
    late.human("hello");
    late.start(A);
    late.ends(A, spoke("it arrives in pieces that are late"));
    late.wait(secs(15));
    late.start(B);
    late.ends(B, spoke("another reply"));
    late.says(A, "it arrives in pieces");
    let stands = (late.phase(), late.speaker());
    assert_eq!(stands, (PhaseKind::Confirming, Some(B)), "a late piece interrupts no reply");

    let mut twice = Room::chat_with(2, literal);
    let hello = message(1, Author::Human, MessageKind::Conversation, "hello");
    twice.tell(hello.clone());
    assert_eq!(twice.refusal(hello), Refusal::RepeatedMessage);
    twice.tell(Input::Stop);
    assert_eq!(twice.explain(A), Reason::Stopped);
    let many = Creation { mode: Mode::Chat, members: agents(65), initiator: None };
    assert_eq!(Room::unknown().refusal(Input::Create(many)), Refusal::TooManyAgents);
}

/// SD2
#[test]
fn to_the_letter_it_keeps_what_lets_a_room_come_to_rest_and_a_person_be_heard() {
    let literal = |config: &mut Config| *config = Config::seed_literal();
    let mut alone = Room::chat_with(2, literal);
    alone.tell(Input::Mute(B));
    alone.human("hello");
    alone.speaks(A);
    assert_eq!(alone.members().causes(), [Cause::NoOtherAgent]);

    let mut unseen = Room::chat_with(2, literal);
    unseen.human("hello");
    unseen.passes(A);
    unseen.start(B);
    unseen.human("and this?");
    unseen.ends(B, Outcome::Pass);
    unseen.members();
    assert_eq!(unseen.speaker(), Some(A), "it has not seen the second message");
    unseen.passes(A);
    unseen.passes(B);
    unseen.members();
    assert_eq!(unseen.phase(), PhaseKind::Dormant);
    assert!(unseen.post(Author::Bot, MessageKind::Conversation, "beep").is_silent());
    assert_eq!(unseen.phase(), PhaseKind::Dormant, "a bot that is not registered wakes nobody");
}

type SetWait = fn(&mut Config, Duration);

/// Every wait that may be zero.
const WAITS: [SetWait; 5] = [
    |it, wait| it.confirmation.quiet_period = wait,
    |it, wait| it.confirmation.late_grace = wait,
    |it, wait| it.members.list_fresh = wait,
    |it, wait| it.trigger_cleanup = TriggerCleanup::After(wait),
    |it, wait| it.discussion.reminder_interval = wait,
];

/// Every wait of at least a millisecond; the last two are the poll intervals, the first not above the other.
const POSITIVE_WAITS: [SetWait; 14] = [
    |it, wait| it.confirmation.delivery_timeout = wait,
    |it, wait| it.confirmation.poll_first = wait,
    |it, wait| it.members.refresh_deadline = wait,
    |it, wait| it.members.recount_interval = wait,
    |it, wait| it.members.forget_after = wait,
    |it, wait| it.people.consult_deadline = wait,
    |it, wait| it.deadlines.outage_max = wait,
    |it, wait| it.deadlines.turn = Some(wait),
    |it, wait| it.deadlines.slow_after = Some(wait),
    |it, wait| it.deadlines.start = Some(wait),
    |it, wait| it.deadlines.run = Some(wait),
    |it, wait| it.ceilings.discussion_time = Some(wait),
    |it, wait| it.discussion.overdue_archive_after = Some(wait),
    |it, wait| it.confirmation.poll_interval = wait.min(it.confirmation.poll_interval_max),
];

/// Draws one of the values; a linear congruence is chance enough.
fn draw<T: Copy>(chance: &mut u64, values: &[T]) -> T {
    *chance =
        chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    values[usize::try_from(*chance >> 33).unwrap() % values.len()]
}

/// Each wait is drawn from its shortest value, a millisecond, its default and the longest of all.
fn extreme(config: &mut Config, chance: &mut u64) {
    let mut set = |waits: &[SetWait], values: &[Option<Duration>]| {
        for set in waits {
            if let Some(wait) = draw(chance, values) {
                set(config, wait);
            }
        }
    };
    let longest_poll: SetWait =
        |it, wait| it.confirmation.poll_interval_max = wait.max(it.confirmation.poll_interval);
    set(&WAITS, &[None, Some(Duration::ZERO), Some(millis(1)), Some(Duration::MAX)]);
    set(&[longest_poll], &[None, Some(millis(1)), Some(Duration::MAX)]);
    set(&POSITIVE_WAITS, &[None, Some(millis(1)), Some(Duration::MAX), Some(Duration::MAX)]);
    config.people.human_interrupt =
        draw(chance, &[HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt]);
    assert_eq!(config.validate(), Ok(()));
}

/// A turn whose reply is looked for by polls, one that is not started, one that runs too long, an outage.
fn a_hard_day(mut room: Room) {
    room.human("hello");
    room.members_or_nothing();
    if let Some(agent) = room.speaker() {
        let run = Some(room.fresh_run());
        let _ = room.give(gate(agent, run));
        let _ = room.give(ended(agent, run, spoke("a reply")));
        for _ in 0..4 {
            // The next deadline is the next poll, or the end of the wait.
            let Some(deadline) = room.channel.next_deadline() else { break };
            room.now = room.now.max(deadline.at);
            let step = room.tell(Input::Tick);
            for ticket in step.tickets() {
                let settlement = Settlement::Done { message: None };
                let _ = room.give(Input::Settled { ticket, settlement });
            }
        }
        room.says(agent, "a reply");
    }
    for away in [true, false] {
        room.tell(Input::Chat { away });
        room.sleep(millis(1));
        room.tell(Input::Tick);
    }
    for starts in [true, false] {
        room.human("and another thing");
        room.members_or_nothing();
        if let Some(agent) = room.speaker().filter(|_| starts) {
            let run = Some(room.fresh_run());
            let _ = room.give(gate(agent, run));
            room.human("in the middle of it");
        }
        for now in [room.now.as_millis() + 1, u64::MAX / 2, u64::MAX, 0] {
            room.now = Timestamp::from_millis(now);
            room.tell(Input::Tick);
        }
        room.now = Timestamp::from_millis(1_700_000_000_000);
    }
}

/// R118
#[test]
fn no_mixture_of_extreme_waits_overflows() {
    for seed in 0..2_000 {
        let chance = &mut (seed ^ 0x9E37_79B9_7F4A_7C15);
        let mut config = Config::default();
        extreme(&mut config, chance);
        a_hard_day(Room::chat_with(3, |it| it.clone_from(&config)));
        a_hard_day(Room::discussion_with(3, |it| it.clone_from(&config)));
    }
}

/// R118
#[test]
fn polls_of_the_longest_interval_do_not_overflow() {
    let mut room = Room::chat_with(2, |config| {
        (config.confirmation.poll_interval, config.confirmation.poll_interval_max) =
            (Duration::MAX, Duration::MAX);
    });
    room.human("hello");
    room.start(A);
    room.ends(A, spoke("a reply"));
    room.wait(millis(300));
    room.polled();
    room.wait(secs(15));
    assert_eq!(room.speaker(), Some(B), "the wait for the reply ends as ever");
}
