//! Falling asleep when nobody has anything to say.

use crate::room::{A, B, C, Room, secs};
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, PhaseKind, Reason};

/// R127, R182, R122
#[test]
fn when_all_pass_nobody_has_the_floor_and_nothing_is_remembered() {
    let mut room = Room::chat(3);
    room.human("hello");
    let boundary = room.all_pass();
    assert_eq!(boundary.asks(), ["fetch members"]);
    assert_eq!(room.members().all(), ["refreshing > dormant: all-passed"]);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.speaker(), None);
    assert_eq!(room.turns(), [SeatTurn::Ahead; 3], "an empty history");
    let snapshot = room.snapshot();
    assert_eq!(snapshot.state.cycle.last_completer, None);
    assert!(!snapshot.state.words.cycle_requested);
}

/// R127
#[test]
fn a_dormant_channel_triggers_nobody_however_long_it_sleeps() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.all_pass();
    room.members();
    let triggers = room.triggers();
    assert!(room.wait(secs(86_400)).asks().is_empty());
    for agent in [A, B, C] {
        room.gate(agent);
        assert_eq!(room.explain(agent), Reason::Dormant);
    }
    assert_eq!(room.triggers(), triggers);
}

/// R131
#[test]
fn after_each_wake_there_are_as_many_triggers_as_turns() {
    let mut room = Room::chat(3);
    for waking in 1..=5_u64 {
        room.human("hello");
        room.all_pass();
        room.members();
        assert_eq!(room.phase(), PhaseKind::Dormant);
        assert_eq!(room.grants(), waking * 3);
        assert_eq!(room.triggers() as u64, room.grants());
    }
}

/// R188, R189
#[test]
fn one_message_of_a_person_gives_all_their_turn_in_order() {
    let mut room = Room::chat(3);
    assert_eq!(room.human("who knows the answer?").asks(), ["trigger A"]);
    // The message itself started a run of everybody: two are denied, and have consumed it.
    room.gate(B);
    room.gate(C);
    assert_eq!(room.passes(A).asks(), ["trigger B"]);
    assert_eq!(room.passes(B).asks(), ["trigger C"], "no new message was needed");
    assert_eq!(room.talks(C, "I do").asks(), Vec::<String>::new());
    assert_eq!(room.says(C, "I do").asks(), ["fetch members"]);
    let turns = [SeatTurn::Passed, SeatTurn::Passed, SeatTurn::Spoke];
    assert_eq!(room.turns(), turns);
    assert_eq!(room.members().causes().last(), Some(&Cause::NextCycle));
}

/// R182, R088
#[test]
fn two_agents_that_pass_leave_no_speaker() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.passes(A);
    room.passes(B);
    assert_eq!(room.speaker(), None, "while the list is read");
    room.members();
    assert_eq!(room.speaker(), None, "and after");
}

/// D78, D46
#[test]
fn a_turn_that_lasts_for_hours_forgets_nothing() {
    let mut room = Room::chat_with(2, |config| config.deadlines.run = None);
    room.human("hello");
    room.start(A);
    room.says(A, "this will take a while");
    assert_eq!(room.channel.next_deadline(), None, "nothing is due while it runs");
    room.wait(secs(7_200));
    let again = crate::room::message(
        room.message,
        dirigent_core::Author::Agent(A),
        dirigent_core::MessageKind::Conversation,
        "this will take a while",
    );
    assert_eq!(room.refusal(again), dirigent_core::Refusal::RepeatedMessage);
    let step = room.ends(A, dirigent_core::Outcome::Pass);
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke, "what it said counts: {:?}", step.all());
}
