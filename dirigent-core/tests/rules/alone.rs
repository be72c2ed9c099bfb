//! One agent alone in a chat (rule 82).

use std::time::Duration;

use crate::room::{A, B, Room, STRANGER, secs};
use dirigent_core::{Cause, Config, Input, Mode, PhaseKind, Reason, TurnState};

fn alone() -> Config {
    let mut config = Config::default();
    config.order.single_agent = true;
    // What an agent says after its turn is no late piece of it.
    config.confirmation.late_grace = Duration::ZERO;
    config
}

fn chat() -> Room {
    Room::chat_with(1, |config| *config = alone())
}

/// A person asks, the agent answers, and the list is read.
#[track_caller]
fn answers(room: &mut Room) -> Vec<Cause> {
    assert_eq!(room.human("hello").asks(), ["trigger A"]);
    assert_eq!(room.speaks(A).asks(), ["fetch members"]);
    room.members().causes()
}

/// DG5, R036
#[test]
fn each_message_of_a_person_is_answered_once() {
    let mut room = chat();
    assert_eq!((room.phase(), room.state()), (PhaseKind::Dormant, TurnState::Normal));
    assert_eq!(room.explain(A), Reason::Dormant);
    for turns in 1..=3 {
        assert_eq!(answers(&mut room), [Cause::NoOtherAgent]);
        assert_eq!((room.phase(), room.grants()), (PhaseKind::Dormant, turns));
    }
    room.wait(secs(3_600));
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.human("again").asks(), ["fetch members"], "the list is old");
    assert_eq!(room.members().asks(), ["trigger A"]);
    room.passes(A);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    assert_eq!((room.phase(), room.grants()), (PhaseKind::Dormant, 4));
}

/// DG5: neither what it says while the channel is dormant, nor while the list is read, nor while the channel is stopped.
#[test]
fn its_own_words_never_wake_it() {
    let mut room = chat();
    answers(&mut room);
    assert!(room.says(A, "And one more thing.").asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.human("hello");
    room.speaks(A);
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    room.says(A, "And one more thing.");
    assert_eq!(room.members().causes(), [Cause::NoOtherAgent], "no other cycle");
    room.tell(Input::Stop);
    room.says(A, "And one more thing.");
    room.tell(Input::Resume);
    assert_eq!((room.phase(), room.grants()), (PhaseKind::Dormant, 2));
    assert_eq!(room.says(STRANGER, "May I?").asks(), ["trigger A"], "another agent's words do");
}

/// DG5
#[test]
fn what_a_person_says_during_the_turn_is_answered_as_well() {
    let mut room = chat();
    room.human("hello");
    room.start(A);
    room.human("and this?");
    room.ends(A, crate::room::spoke("To the first."));
    room.says(A, "To the first.");
    assert_eq!(room.members().asks(), ["trigger A"]);
    room.speaks(A);
    assert_eq!(room.members().causes(), [Cause::NoOtherAgent]);
}

/// DG5, R042
#[test]
fn with_a_second_agent_the_ordinary_rules_hold() {
    let mut room = chat();
    room.human("hello");
    room.joins(B);
    room.speaks(A);
    assert_eq!(room.members().asks(), ["trigger A"], "an agent is new: another cycle");
    assert_eq!(room.state(), TurnState::Normal);
    assert_eq!(room.passes(A).asks(), ["trigger B"]);
    room.passes(B);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
    assert_eq!(room.says(A, "And one more thing.").asks(), ["trigger A"], "its words wake again");
    room.all_pass();
    room.leaves(B);
    room.members();
    assert_eq!(room.order(), [A]);
    assert!(room.says(A, "And one more thing.").asks().is_empty(), "it is alone again");
    assert_eq!(answers(&mut room), [Cause::NoOtherAgent]);
}

/// DG5, R036, R037, R040
#[test]
fn without_the_option_in_a_discussion_or_without_agents_no_turns_are_kept() {
    let without = Room::chat(1);
    let discussion = Room::discussion_with(1, |config| *config = alone());
    let mut empty = Room::with(alone(), 7);
    empty.tell(Input::SetMode(Mode::Chat));
    assert_eq!(empty.members().causes(), [Cause::TooFewAgents]);
    for room in [without, discussion, empty] {
        assert_eq!((room.phase(), room.state()), (PhaseKind::Disabled, TurnState::Disabled));
        assert_eq!(room.explain(A), Reason::TooFewAgents);
    }
}

/// DG5, R043
#[test]
fn however_the_list_becomes_one_turns_are_kept() {
    let mut set = Room::with(alone(), 7);
    set.tell(Input::SetMode(Mode::Chat));
    set.present = vec![A];
    assert!(set.members().causes().is_empty());
    assert_eq!(answers(&mut set), [Cause::NoOtherAgent]);
    // From two.
    let mut left = Room::chat_with(2, |config| *config = alone());
    left.human("hello");
    left.leaves(B);
    left.speaks(A);
    assert_eq!(left.members().causes(), [Cause::NoOtherAgent]);
    // From none.
    let mut empty = Room::with(alone(), 7);
    empty.tell(Input::SetMode(Mode::Chat));
    empty.members();
    empty.human("hello");
    assert_eq!(empty.joins(A).asks(), ["fetch members"]);
    let step = empty.members();
    assert_eq!(step.asks(), ["trigger A"], "what the person said is kept in mind");
    assert_eq!(step.causes()[0], Cause::EnoughAgents);
}

/// DG5: the option counts from the next list on.
#[test]
fn the_option_can_be_changed_while_the_channel_is_used() {
    let mut room = Room::chat(1);
    room.tell(Input::Reconfigure(alone().into()));
    assert_eq!(room.phase(), PhaseKind::Disabled);
    room.wait(secs(31));
    assert_eq!(room.human("hello").asks(), ["fetch members"]);
    assert_eq!(room.members().asks(), ["trigger A"]);
    room.tell(Input::Reconfigure(Config::default().into()));
    assert_eq!(room.state(), TurnState::Normal, "its turn is not taken away");
    room.speaks(A);
    assert_eq!(room.members().causes(), [Cause::TooFewAgents]);
    assert_eq!(room.state(), TurnState::Disabled);
}
