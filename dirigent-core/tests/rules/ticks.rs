//! A tick may come late: what is due happens then, as if it had come in time, and nothing happens before.

use std::time::Duration;

use dirigent_core::config::HumanInterrupt;
use dirigent_core::{Deadline, DeadlineReason, Input};

use crate::room::{A, Room, Step, millis, secs, spoke};

/// Rooms that wait for something.
fn waiting() -> Vec<Room> {
    let woken = || {
        let mut room = Room::chat(3);
        room.human("hello");
        room
    };
    let running = |change: fn(&mut dirigent_core::Config)| {
        let mut room = Room::chat_with(3, change);
        room.human("hello");
        room.start(A);
        room
    };
    let mut confirming = running(|_| {});
    confirming.ends(A, spoke("it never arrives"));
    let mut quiet = confirming.clone();
    quiet.says(A, "It arrives in other words");
    let mut consulting =
        running(|config| config.people.human_interrupt = HumanInterrupt::Interrupt);
    consulting.human("wait");
    let mut idle = Room::discussion(2);
    idle.human("hello");
    idle.all_pass();
    let mut away = woken();
    away.tell(Input::Chat { away: true });
    let slow = running(|config| config.deadlines.slow_after = Some(secs(5)));
    let (resting, unknown) = (Room::chat(3), Room::unknown());
    vec![
        woken(),
        running(|_| {}),
        confirming,
        quiet,
        consulting,
        idle,
        away,
        slow,
        resting,
        unknown,
    ]
}

/// So much time passes unnoticed, then comes a tick.
fn tick(room: &mut Room, after: Duration) -> Step {
    room.sleep(after);
    room.tell(Input::Tick)
}

/// Compares a tick in time with an early one and with late ones. Returns the room after the one in time.
fn compare(room: &Room, due: Deadline) -> Room {
    let (reason, left) = (due.reason, due.at.since(room.now));
    let mut early = room.clone();
    let nothing = tick(&mut early, left.saturating_sub(millis(1)));
    assert!(nothing.is_silent(), "{reason:?}: {:?}", nothing.all());
    let mut exact = room.clone();
    let in_time = tick(&mut exact, left);
    for late in [millis(1), millis(90), secs(10_000)] {
        let mut room = room.clone();
        let step = tick(&mut room, left + late);
        // What else became due meanwhile follows.
        let (asks, causes) = (step.asks(), step.causes());
        assert!(asks.starts_with(&in_time.asks()), "{reason:?}, {late:?}: {asks:?}");
        assert!(causes.starts_with(&in_time.causes()), "{reason:?}, {late:?}: {causes:?}");
        if late < millis(100) {
            assert_eq!(causes, in_time.causes(), "{reason:?}, {late:?}");
            assert_eq!((room.phase(), room.speaker()), (exact.phase(), exact.speaker()));
        }
    }
    for room in [early, exact.clone()] {
        assert!(room.channel.next_deadline().is_none_or(|next| next.at > room.now), "{reason:?}");
    }
    exact
}

/// R281
#[test]
fn a_tick_at_any_later_time_does_what_one_in_time_does_and_none_does_anything_before() {
    let mut reasons = Vec::new();
    for mut room in waiting() {
        for _ in 0..6 {
            let Some(due) = room.channel.next_deadline() else {
                break;
            };
            reasons.push(due.reason);
            room = compare(&room, due);
        }
    }
    let expected = [
        DeadlineReason::Start,
        DeadlineReason::Run,
        DeadlineReason::Slow,
        DeadlineReason::Consult,
        DeadlineReason::Poll,
        DeadlineReason::Delivery,
        DeadlineReason::Outage,
        DeadlineReason::Members,
        DeadlineReason::Quiet,
        DeadlineReason::Forget,
    ];
    let missing: Vec<_> = expected.into_iter().filter(|reason| !reasons.contains(reason)).collect();
    assert_eq!(missing, [], "{reasons:?}");
}
