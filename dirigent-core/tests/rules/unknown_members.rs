//! A member list that was never read is not an empty list.

use dirigent_core::snapshot::Phase;
use dirigent_core::{
    Author, Cause, Input, MessageKind, Mode, PhaseKind, Reason, Refusal, TurnMachine,
};

use super::room::{A, B, Room, secs};

/// A chat whose first list cannot be read.
fn unread() -> Room {
    let mut room = Room::unknown();
    room.present = vec![A, B];
    room.tell(Input::SetMode(Mode::Chat));
    room.members_fail();
    room
}

#[test]
fn a_first_list_that_cannot_be_read_lets_no_agent_run() {
    let mut room = unread();
    assert_eq!(room.phase(), PhaseKind::Unknown);
    assert_eq!(room.gate(A).reason(), Reason::MembersUnknown);
    assert_eq!(room.explain(B), Reason::MembersUnknown);
    assert_eq!(room.refusal(Input::SpeakNext(A)), Refusal::NotListed);
}

#[test]
fn a_first_list_that_is_late_lets_no_agent_run() {
    let mut room = Room::unknown();
    room.tell(Input::SetMode(Mode::Chat));
    let step = room.wait(secs(10));
    assert_eq!(step.causes(), [Cause::MembersLate, Cause::MembersUnknown]);
    assert_eq!(room.phase(), PhaseKind::Unknown);
}

#[test]
fn the_list_is_asked_for_again_later_and_later() {
    let mut room = unread();
    for wait in [1, 2, 5, 10, 30, 30] {
        assert_eq!(room.channel.next_deadline().map(|due| due.at), Some(room.now + secs(wait)));
        assert_eq!(room.wait(secs(wait)).asks(), ["fetch members"]);
        room.members_fail();
    }
}

#[test]
fn a_word_said_meanwhile_is_answered_when_the_list_was_read() {
    let mut room = unread();
    room.human("hello");
    assert!(room.channel.view().is_wake_pending());
    room.wait(secs(1));
    let step = room.members();
    assert!(step.causes().contains(&Cause::EnoughAgents));
    assert_eq!(room.speaker(), Some(A));
}

#[test]
fn a_word_that_woke_the_channel_is_kept_when_the_list_cannot_be_read() {
    let mut room = Room::unknown();
    room.present = vec![A, B];
    room.tell(Input::SetMode(Mode::Chat));
    room.human("hello");
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    room.members_fail();
    assert_eq!(room.phase(), PhaseKind::Unknown);
    room.wait(secs(1));
    room.members();
    assert_eq!(room.speaker(), Some(A));
}

#[test]
fn an_answer_with_one_agent_lets_it_speak() {
    let mut room = unread();
    room.present = vec![A];
    room.wait(secs(1));
    room.members();
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert_eq!(room.gate(A).reason(), Reason::TooFewAgents);
}

#[test]
fn a_join_asks_at_once() {
    let mut room = unread();
    assert_eq!(room.joins(B).asks(), ["fetch members"]);
    assert!(room.joins(A).is_silent(), "an answer is waited for");
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

#[test]
fn a_stop_ends_the_asking() {
    let mut room = unread();
    room.tell(Input::Stop);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(room.wait(secs(300)).asks().is_empty());
    room.post(Author::Human, MessageKind::Conversation, "hello");
    room.tell(Input::Resume);
    room.members();
    assert_eq!(room.speaker(), Some(A));
}

#[test]
fn a_snapshot_that_is_disabled_though_no_list_was_read_is_turned_down() {
    let mut torn = unread().snapshot();
    torn.state.floor.phase = Phase::Disabled;
    let refused = TurnMachine::restore(std::sync::Arc::default(), &torn).unwrap_err();
    assert!(refused.to_string().ends_with("a list that was never read does not disable"));
}
