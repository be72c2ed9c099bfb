//! Agents that ask nobody before they run (rule 83).

use std::time::Duration;

use crate::room::{A, B, C, Room, secs};
use dirigent_core::{
    AgentKey, Author, Cause, Input, MessageKind, Mode, Outcome, PhaseKind, Refusal,
};

/// This agent writes, and asked nobody before it ran.
fn writes(room: &mut Room, agent: AgentKey) -> crate::room::Step {
    room.post(Author::Agent(agent), MessageKind::Unasked, "unasked")
}

fn chat() -> Room {
    Room::chat_with(3, |config| config.confirmation.late_grace = Duration::ZERO)
}

#[test]
fn out_of_turn_its_words_are_told_of_and_move_no_turn() {
    let mut dormant = chat();
    assert_eq!(writes(&mut dormant, B).all(), ["dormant > dormant B: unpermitted"]);

    let mut granted = chat();
    granted.human("hello");
    assert_eq!(writes(&mut granted, B).all(), ["granted > granted B: unpermitted"]);
    // No cycle was requested by it.
    for agent in [A, B, C] {
        granted.passes(agent);
    }
    assert_eq!(writes(&mut granted, B).all(), ["refreshing > refreshing B: unpermitted"]);
    assert_eq!(granted.members().causes(), [Cause::AllPassed]);

    let mut confirming = chat();
    confirming.human("hello");
    confirming.start(A);
    confirming.ends(A, crate::room::spoke("a reply that is on its way"));
    assert_eq!(confirming.phase(), PhaseKind::Confirming);
    assert_eq!(writes(&mut confirming, B).causes(), [Cause::Unpermitted], "it interrupts nothing");
    assert_eq!(confirming.speaker(), Some(A));

    let mut stopped = chat();
    stopped.tell(Input::Stop);
    assert_eq!(writes(&mut stopped, B).causes(), [Cause::Unpermitted]);
    assert!(stopped.tell(Input::Resume).asks().is_empty(), "nothing waits for the resume");
}

#[test]
fn out_of_turn_its_words_count_towards_the_ceiling() {
    let mut room = Room::chat_with(3, |config| {
        config.confirmation.late_grace = Duration::ZERO;
        config.ceilings.chat.turns = Some(4);
    });
    room.human("hello");
    for _ in 0..3 {
        writes(&mut room, B);
    }
    assert_eq!(room.passes(A).causes().last(), Some(&Cause::CeilingReached));
}

#[test]
fn in_its_turn_its_words_are_its_reply() {
    let mut room = chat();
    room.human("hello");
    room.start(A);
    assert!(writes(&mut room, A).is_silent());
    let ended = room.ends(A, crate::room::spoke("unasked"));
    assert_eq!(ended.causes().first(), Some(&Cause::Spoke));
    assert!(ended.causes().contains(&Cause::TailMatched));
    assert_eq!(ended.asks().last().map(String::as_str), Some("trigger B"));
}

#[test]
fn a_late_piece_of_its_turn_is_not_told_of() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    // The run broke off after a part of the reply was seen: the rest may follow.
    writes(&mut room, A);
    room.ends(A, Outcome::Failed);
    room.wait(secs(15));
    assert_eq!(room.speaker(), Some(B));
    assert!(writes(&mut room, A).is_silent());
    room.wait(secs(60));
    assert_eq!(writes(&mut room, A).causes(), [Cause::Unpermitted]);
}

#[test]
fn what_is_read_late_and_was_out_of_turn_is_told_and_counts_whoever_has_the_floor() {
    let mut room = Room::chat_with(3, |config| config.ceilings.chat.turns = Some(4));
    room.human("hello");
    room.start(A);
    let reads = |room: &mut Room, agent| {
        room.post(Author::Agent(agent), MessageKind::OutOfTurn, "read late")
    };
    assert_eq!(reads(&mut room, A).all(), ["running > running A: unpermitted"]);
    assert_eq!(reads(&mut room, B).causes(), [Cause::Unpermitted]);
    let ended = room.ends(A, Outcome::Failed);
    assert_eq!(ended.causes().first(), Some(&Cause::RunFailed), "it is no piece of the turn");
    // A turn that failed leaves its agent in grace.
    assert_eq!(reads(&mut room, A).causes(), [Cause::Unpermitted]);
    assert_eq!(room.passes(B).causes().last(), Some(&Cause::CeilingReached));
}

#[test]
fn where_all_may_speak_its_words_are_as_any_agents() {
    let mut room = Room::chat(1);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    let step = writes(&mut room, A);
    assert!(!step.causes().contains(&Cause::Unpermitted), "{:?}", step.all());
    let mut none = Room::chat(2);
    none.tell(Input::SetMode(Mode::None));
    assert!(writes(&mut none, A).is_silent());
}

#[test]
fn a_removed_message_changes_nothing_and_is_told_of() {
    let mut room = chat();
    room.human("hello");
    let step = room.tell(Input::Removed(B));
    assert_eq!(step.all(), ["granted > granted B: message-removed"]);
    room.tell(Input::SetMode(Mode::None));
    assert_eq!(room.refusal(Input::Removed(B)), Refusal::NotManaged);
    let mut archived = chat();
    archived.tell(Input::Archive);
    assert_eq!(archived.refusal(Input::Removed(B)), Refusal::Archived);
}
