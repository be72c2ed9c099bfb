//! A word is heard when a turn took it, that is ended with a reply or a pass, and stays in mind until then.

use crate::room::{A, B, C, Room, agents, secs, spoke};
use dirigent_core::config::HumanInterrupt;
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, Input, MessageId, Outcome, PhaseKind, Settlement, Tail, WakeCause};

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

/// The word was posted for A, and A began.
fn begun() -> Room {
    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    room.start(A);
    room
}

#[test]
fn a_word_is_kept_until_a_turn_ended_with_a_reply_or_a_pass() {
    let (room, _) = woken();
    assert!(keeps_the_word(room), "A was not told");
    let (mut room, ticket) = woken();
    room.settle(ticket, DONE);
    assert!(keeps_the_word(room), "A was told, and did not begin");
    assert!(keeps_the_word(begun()), "A began");
    for (outcome, is_kept) in
        [(Outcome::Failed, true), (Outcome::Pass, false), (Outcome::Repeated, false)]
    {
        let mut room = begun();
        room.ends(A, outcome);
        assert_eq!(keeps_the_word(room), is_kept, "{outcome:?}");
    }
    let mut room = begun();
    room.ends(A, spoke("yes?"));
    room.says(A, "yes?");
    assert!(!keeps_the_word(room), "A replied");
    let mut room = begun();
    room.ends(A, Outcome::Unfinished { tail: Tail::of("well") });
    room.start(A);
    room.ends(A, Outcome::Failed);
    assert!(!keeps_the_word(room), "A replied before its run failed");
}

/// A host that calls agents itself settles the trigger when the call begins.
#[test]
fn a_run_whose_trigger_is_owed_takes_the_word_all_the_same() {
    let (mut room, _) = woken();
    room.start(A);
    assert!(keeps_the_word(room));
    let (mut room, _) = woken();
    room.start(A);
    room.passes(A);
    assert!(!keeps_the_word(room), "it has answered all the same");
}

/// A was handed the word and failed, and the others may not write. B may again while the list is read, or when the channel sleeps.
#[test]
fn a_word_with_which_an_agent_failed_is_for_one_that_may_write_again() {
    for sleeps in [false, true] {
        let mut room = Room::chat(3);
        for agent in [B, C] {
            room.tell(Input::MayNotWrite { agent, until: None });
        }
        room.human("hello");
        room.trigger_posted();
        room.start(A);
        let step = room.ends(A, Outcome::Failed);
        assert!(step.causes().contains(&Cause::CycleBoundary));
        if sleeps {
            assert_eq!(room.members().causes(), [Cause::AllPassed]);
            assert!(room.channel.view().is_wake_pending());
            room.tell(Input::MayWrite(B));
            assert_eq!(room.speaker(), Some(A), "it is asked again, as the first of the list");
            room.start(A);
            room.ends(A, Outcome::Failed);
        } else {
            room.tell(Input::MayWrite(B));
            room.members();
        }
        assert_eq!(room.speaker(), Some(B));
        room.start(B);
        room.passes(B);
        room.members_or_nothing();
        assert!(!room.channel.view().is_wake_pending(), "B had nothing to say to it");
    }
}

/// A could not be granted when its place came, and comes back while B runs, or when the list is read.
#[test]
fn a_word_with_which_an_agent_failed_is_for_one_that_came_back_too_late_for_its_place() {
    for (hinders, returns) in [
        (Input::MayNotWrite { agent: A, until: None }, Input::MayWrite(A)),
        (Input::Mute(A), Input::Unmute(A)),
        (Input::MemberLeft(A), Input::MemberJoined(A)),
    ] {
        for in_the_turn in [true, false] {
            let mut room = Room::chat(2);
            room.tell(hinders.clone());
            room.human("hello");
            room.trigger_posted();
            room.start(B);
            if in_the_turn {
                room.tell(returns.clone());
            }
            room.ends(B, Outcome::Failed);
            if !in_the_turn {
                room.tell(returns.clone());
            }
            room.members();
            assert_eq!(room.speaker(), Some(A), "{returns:?}, in the turn: {in_the_turn}");
        }
    }
}

/// Whom a person's word reaches in the midst of a turn, and who fails then, did not take it.
#[test]
fn a_word_that_is_handed_over_is_kept_until_a_turn_took_it() {
    use HumanInterrupt::{Inject, Interrupt, Queue};
    for (policy, takes) in
        [Inject, Queue, Interrupt].into_iter().flat_map(|it| [(it, false), (it, true)])
    {
        let mut room = Room::chat_with(2, |config| config.people.human_interrupt = policy);
        room.human("hello");
        room.trigger_posted();
        room.start(A);
        room.passes(A);
        room.trigger_posted();
        room.start(B);
        let step = room.human("and one thing more");
        if policy == Interrupt {
            room.settle(step.tickets()[0], Settlement::Failed { retry_at: None });
        }
        let mut agent = B;
        if policy == Queue {
            room.passes(B);
            room.members();
            agent = A;
            room.start(A);
        }
        room.ends(agent, if takes { Outcome::Pass } else { Outcome::Failed });
        assert_eq!(keeps_the_word(room), !takes, "{policy:?}");
    }
}

#[test]
fn a_question_can_be_taken_back_while_no_agent_was_told_of_it_or_who_was_has_failed() {
    let asked = || {
        let mut room = Room::chat_with(2, |config| config.people.withdraw_deleted = true);
        room.human("hello");
        room
    };
    let is_withdrawn = |mut room: Room| {
        let step = room.tell(Input::Deleted(room.newest()));
        let is_withdrawn = step.causes() == [Cause::Withdrawn];
        assert_eq!(is_withdrawn, room.phase() == PhaseKind::Dormant);
        assert!(!is_withdrawn || !room.channel.view().is_wake_pending());
        is_withdrawn
    };
    assert!(is_withdrawn(asked()));
    let told = || {
        let mut room = asked();
        let ticket = room.trigger.take().unwrap();
        room.settle(ticket, DONE);
        room
    };
    assert!(!is_withdrawn(told()));
    let mut room = told();
    room.start(A);
    assert!(!is_withdrawn(room));
    let mut room = told();
    room.start(A);
    room.ends(A, Outcome::Failed);
    assert!(is_withdrawn(room), "B is not told yet");
    let mut room = told();
    room.start(A);
    room.passes(A);
    assert!(!is_withdrawn(room), "A has taken it");
    // The run is permitted, and its agent is called later.
    let mut room = asked();
    room.start(A);
    assert!(is_withdrawn(room));
    // On hold no agent is told.
    let mut room = Room::chat_with(2, |config| config.people.withdraw_deleted = true);
    room.tell(Input::Hold);
    room.human("hello");
    assert!(is_withdrawn(room));
    let mut room = told();
    room.start(A);
    room.tell(Input::Hold);
    assert!(!is_withdrawn(room), "A runs");
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
