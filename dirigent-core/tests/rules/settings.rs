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
        ("delivery_timeout", |it, wait| it.delivery_timeout = wait),
        ("poll_first", |it, wait| it.poll_first = wait),
        ("poll_interval", |it, wait| it.poll_interval = wait),
        ("refresh_deadline", |it, wait| it.refresh_deadline = wait),
        ("recount_interval", |it, wait| it.recount_interval = wait),
        ("forget_after", |it, wait| it.forget_after = wait),
        ("start_deadline", |it, wait| it.start_deadline = Some(wait)),
        ("run_deadline", |it, wait| it.run_deadline = Some(wait)),
        ("discussion_time_max", |it, wait| it.discussion_time_max = Some(wait)),
        ("overdue_archive_after", |it, wait| it.overdue_archive_after = Some(wait)),
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
    if field == "poll_interval" { "poll_interval_max must not be below poll_interval" } else { "" }
}

/// F01, F28, R119
#[test]
fn numbers_out_of_range_cannot_be_obeyed() {
    assert_eq!(verdict(|it| it.fingerprint_length = 64), "");
    let fingerprint = "fingerprint_length must be at most 64";
    assert_eq!(verdict(|it| it.fingerprint_length = 65), fingerprint);
    assert_eq!(verdict(|it| it.poll_interval_max = secs(1)), "", "it need not grow");
    let poll = "poll_interval_max must not be below poll_interval";
    assert_eq!(verdict(|it| it.poll_interval_max = millis(999)), poll);
    let none = "must be at least 1, or none for no ceiling";
    assert_eq!(verdict(|it| it.turns_max = Some(0)), format!("turns_max {none}"));
    assert_eq!(verdict(|it| it.cycles_max = Some(0)), format!("cycles_max {none}"));
    let rounds = verdict(|it| it.discussion_cycles_max = Some(0));
    assert_eq!(rounds, format!("discussion_cycles_max {none}"));
    let turns = verdict(|it| it.discussion_turns_max = Some(0));
    assert_eq!(turns, format!("discussion_turns_max {none}"));
    assert_eq!(verdict(|it| it.turns_max = Some(1)), "");
    assert_eq!(verdict(|it| it.cycles_max = Some(1)), "");
    assert_eq!(verdict(|it| it.discussion_cycles_max = Some(1)), "");
}

/// R118
#[test]
fn the_longest_and_the_shortest_waits_overflow_nothing() {
    let all = |wait: Duration| {
        move |it: &mut Config| {
            let positive = wait.max(millis(1));
            (it.delivery_timeout, it.quiet_period) = (positive, wait);
            (it.poll_first, it.poll_interval, it.poll_interval_max) =
                (positive, positive, positive);
            (it.start_deadline, it.run_deadline) = (Some(positive), Some(positive));
            (it.late_grace, it.refresh_deadline, it.list_fresh) = (wait, positive, wait);
            (it.recount_interval, it.forget_after) = (positive, positive);
            it.trigger_cleanup = TriggerCleanup::After(wait);
            (it.discussion_time_max, it.overdue_archive_after) = (Some(positive), Some(positive));
            (it.reminder_interval, it.farewell, it.bot_notice_interval) = (wait, wait, wait);
            (it.retriggers, it.fingerprint_length) = (u8::MAX, 0);
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
    expected.start_deadline = None;
    expected.run_deadline = None;
    expected.turns_max = None;
    expected.cycles_max = None;
    expected.discussion_turns_max = None;
    expected.discussion_cycles_max = None;
    expected.list_fresh = Duration::MAX;
    expected.any_message_fallback = false;
    expected.acknowledge = false;
    expected.skip_last_speaker = false;
    expected.mentions = MentionRule::Ignored;
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
const WAITS: [SetWait; 7] = [
    |it, wait| it.quiet_period = wait,
    |it, wait| it.late_grace = wait,
    |it, wait| it.list_fresh = wait,
    |it, wait| it.trigger_cleanup = TriggerCleanup::After(wait),
    |it, wait| it.reminder_interval = wait,
    |it, wait| it.farewell = wait,
    |it, wait| it.bot_notice_interval = wait,
];

/// Every wait of at least a millisecond; the last two are the poll intervals, the first not above the other.
const POSITIVE_WAITS: [SetWait; 14] = [
    |it, wait| it.delivery_timeout = wait,
    |it, wait| it.poll_first = wait,
    |it, wait| it.refresh_deadline = wait,
    |it, wait| it.recount_interval = wait,
    |it, wait| it.forget_after = wait,
    |it, wait| it.consult_deadline = wait,
    |it, wait| it.outage_max = wait,
    |it, wait| it.turn_deadline = Some(wait),
    |it, wait| it.slow_after = Some(wait),
    |it, wait| it.start_deadline = Some(wait),
    |it, wait| it.run_deadline = Some(wait),
    |it, wait| it.discussion_time_max = Some(wait),
    |it, wait| it.overdue_archive_after = Some(wait),
    |it, wait| it.poll_interval = wait.min(it.poll_interval_max),
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
    let longest_poll: SetWait = |it, wait| it.poll_interval_max = wait.max(it.poll_interval);
    set(&WAITS, &[None, Some(Duration::ZERO), Some(millis(1)), Some(Duration::MAX)]);
    set(&[longest_poll], &[None, Some(millis(1)), Some(Duration::MAX)]);
    set(&POSITIVE_WAITS, &[None, Some(millis(1)), Some(Duration::MAX), Some(Duration::MAX)]);
    config.human_interrupt =
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
        (config.poll_interval, config.poll_interval_max) = (Duration::MAX, Duration::MAX);
    });
    room.human("hello");
    room.start(A);
    room.ends(A, spoke("a reply"));
    room.wait(millis(300));
    room.polled();
    room.wait(secs(15));
    assert_eq!(room.speaker(), Some(B), "the wait for the reply ends as ever");
}
