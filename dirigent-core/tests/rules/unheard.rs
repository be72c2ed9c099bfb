//! A word is heard when an agent was told of its turn, and stays in mind until then.

use crate::room::{A, B, Room, agents, secs};
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, Input, MessageId, PhaseKind, Settlement, WakeCause};

const DONE: Settlement = Settlement::Done { message: None };

/// A chat of two in which a person's word woke A, and the ticket of its trigger.
fn woken() -> (Room, dirigent_core::Ticket) {
    let mut room = Room::chat(2);
    let ticket = room.human("hello").tickets()[0];
    (room, ticket)
}

/// Whether the word still waits for an agent when none of them can be asked any more.
fn keeps_the_word(mut room: Room) -> bool {
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    // A word during the turn asked for another cycle.
    room.members_or_nothing();
    room.members_or_nothing();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    let is_kept = room.channel.view().is_wake_pending();
    let step = room.tell(Input::Unmute(B));
    assert_eq!(step.causes().contains(&Cause::HumanMessage), is_kept);
    is_kept
}

#[test]
fn a_word_is_kept_until_the_trigger_has_left() {
    let (room, _) = woken();
    assert!(keeps_the_word(room));
    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    assert!(!keeps_the_word(room));
}

#[test]
fn a_trigger_that_failed_is_not_heard_and_one_whose_agent_runs_anyway_is() {
    let failed = Settlement::Failed { retry_at: None };
    let (mut room, ticket) = woken();
    room.settle(ticket, failed);
    assert!(keeps_the_word(room));
    let (mut room, ticket) = woken();
    room.settle(ticket, failed);
    room.start(A);
    assert!(!keeps_the_word(room));
    let (mut room, ticket) = woken();
    room.start(A);
    room.settle(ticket, Settlement::Dropped);
    assert!(!keeps_the_word(room));
}

/// A host that calls agents itself settles the trigger when the call begins.
#[test]
fn a_run_whose_trigger_is_owed_has_not_heard_the_word() {
    let (mut room, _) = woken();
    room.start(A);
    assert!(keeps_the_word(room));
    let (mut room, _) = woken();
    room.start(A);
    room.passes(A);
    assert!(!keeps_the_word(room), "it has answered all the same");
}

#[test]
fn a_word_that_woke_a_channel_on_hold_outlasts_the_turns_that_it_gave() {
    let mut room = Room::chat(2);
    room.tell(Input::Hold);
    room.human("hello");
    assert_eq!(room.speaker(), Some(A));
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(room.channel.view().is_wake_pending());
    assert!(room.tell(Input::Unmute(B)).causes().contains(&Cause::HumanMessage));
}

#[test]
fn a_word_that_no_agent_answered_in_time_wakes_an_agent_that_comes_back() {
    let mut room = Room::chat_with(2, |config| config.deadlines.retriggers = 0);
    room.tell(Input::Offline(B));
    room.human("hello");
    room.wait(secs(45));
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(Input::Online(B));
    room.tell(Input::Assign(B));
    assert_ne!(room.phase(), PhaseKind::Dormant);
}

/// In the turn of an agent that no trigger has reached, or that has not started.
#[test]
fn a_word_handed_to_an_agent_that_has_not_started_is_kept() {
    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    room.human("and one thing more");
    assert!(keeps_the_word(room));
    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    room.human("and one thing more");
    room.start(A);
    assert!(!keeps_the_word(room));
}

#[test]
fn what_a_discussion_posted_is_kept_like_a_word() {
    for cause in [WakeCause::Guide, WakeCause::Result] {
        let mut room = Room::discussion(2);
        room.tell(Input::Wake { first: None, cause });
        assert!(keeps_the_word(room), "{cause:?}");
    }
}

#[test]
fn what_a_lost_run_was_given_is_for_the_next_one() {
    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    room.tell(Input::Mute(B));
    room.start(A);
    let lost = room.tell(Input::RunsLost { rerun: false });
    assert_eq!(lost.causes()[..1], [Cause::RunLost]);
    room.members();
    assert_eq!(room.speaker(), Some(A), "no other agent may speak");

    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    room.start(A);
    room.tell(Input::RunsLost { rerun: false });
    assert_eq!((room.speaker(), room.seat(A).turn), (Some(B), SeatTurn::Skipped));
    room.passes(B);
    room.members();
    assert_ne!(room.phase(), PhaseKind::Dormant, "A has not answered yet");
}

#[test]
fn a_word_is_unheard_over_a_restart() {
    let (mut room, _) = woken();
    room.start(A);
    assert!(room.snapshot().state.words.wake_unserved);
    let receipt = Input::Receipt {
        agent: A,
        run: Some(room.run_of(A)),
        messages: vec![MessageId::new(2_000)],
    };
    room.tell(receipt);
    room.passes(A);
    assert!(!room.snapshot().state.words.wake_unserved);
    assert_eq!(room.order(), agents(2));
}
