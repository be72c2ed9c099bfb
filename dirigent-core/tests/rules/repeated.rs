//! What was said before counts as nothing to add (rule 77).

use crate::room::{A, B, Room, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, Input, Outcome, PhaseKind};

/// F29
#[test]
fn a_round_in_which_all_repeat_themselves_ends_as_one_of_silence() {
    let mut room = Room::chat(2);
    room.human("hello");
    for agent in [A, B] {
        room.start(agent);
        assert_eq!(room.ends(agent, Outcome::Repeated).causes()[0], Cause::Repeated);
    }
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Passed]);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// F29
#[test]
fn what_it_posted_is_not_waited_for_and_what_still_comes_wakes_and_ends_nothing() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.says(A, "as I said");
    assert_eq!(room.ends(A, Outcome::Repeated).causes()[0], Cause::Repeated);
    assert_eq!(room.speaker(), Some(B));
    room.start(B);
    room.says(A, "before");
    room.ends(B, Outcome::Pass);
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Passed]);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
}

/// F29
#[test]
fn a_reply_among_repetitions_keeps_the_channel_awake() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.ends(A, Outcome::Repeated);
    room.start(B);
    room.ends(B, spoke("something new"));
    room.says(B, "something new");
    room.members();
    assert_eq!(room.speaker(), Some(A));
}

/// F29
#[test]
fn a_receipt_says_what_stands_there_and_not_that_it_is_worth_an_answer() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let run = Some(room.run_of(A));
    let messages = vec![room.newest()];
    room.tell(Input::Receipt { agent: A, run, messages });
    assert_eq!(room.ends(A, Outcome::Repeated).causes()[0], Cause::Repeated);
    assert_eq!(room.turns()[0], SeatTurn::Passed);
    assert_eq!(room.speaker(), Some(B));
}
