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

/// What came before a part of a reply, or before a receipt, was taken with it; what came later was not, however the turn ends then.
#[test]
fn a_word_that_came_after_a_part_of_a_reply_is_kept_if_the_turn_fails_with_it() {
    let refused = Input::MayNotWrite { agent: A, until: None };
    let cuts = [Input::Offline(A), refused, Input::Mute(A), Input::MemberLeft(A)];
    for (says_more, whole, cut) in [(false, true), (true, true), (false, false), (true, false)]
        .into_iter()
        .flat_map(|(more, whole)| cuts.clone().map(|cut| (more, whole, cut)))
    {
        let mut room = begun();
        if whole {
            let (run, messages) = (Some(room.run_of(A)), vec![MessageId::new(8_000)]);
            room.tell(Input::Receipt { agent: A, run, messages });
        } else {
            room.ends(A, Outcome::Unfinished { tail: Tail::of("well") });
            room.start(A);
        }
        if says_more {
            room.human("and one thing more");
        }
        room.tell(cut.clone());
        assert_eq!(keeps_the_word(room), says_more, "{cut:?}, whole: {whole}");
    }
    let late = |starts: bool| {
        let mut room = begun();
        room.ends(A, Outcome::Unfinished { tail: Tail::of("well") });
        room.human("and one thing more");
        if starts {
            room.start(A);
        }
        room
    };
    for (starts, cause) in [(false, Cause::SignalMissing), (true, Cause::RunTimedOut)] {
        let mut room = late(starts);
        let due = room.channel.next_deadline().unwrap().at.since(room.now);
        assert_eq!(room.wait(due).causes()[0], cause);
        assert!(keeps_the_word(room), "{cause:?}");
    }
    for (outcome, is_kept) in [(Outcome::Failed, true), (Outcome::Pass, false)] {
        let mut room = late(true);
        room.ends(A, outcome);
        assert_eq!(keeps_the_word(room), is_kept, "{outcome:?}");
    }
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

/// Its mark is cleared by the list at the cycle's end; nobody said that it joined.
#[test]
fn a_word_with_which_an_agent_failed_is_for_one_that_the_list_brings_back() {
    let mut room = Room::chat(2);
    room.tell(Input::MemberLeft(A));
    room.human("hello");
    room.start(B);
    room.ends(B, Outcome::Failed);
    room.members();
    assert_eq!(room.speaker(), Some(A));
}

#[test]
fn an_agent_that_is_back_is_not_asked_where_a_turn_took_the_word() {
    for takes in [true, false] {
        let mut room = Room::chat(2);
        room.tell(Input::Mute(A));
        room.human("hello");
        room.start(B);
        room.tell(Input::Unmute(A));
        room.ends(B, if takes { Outcome::Pass } else { Outcome::Failed });
        room.members();
        assert_eq!(room.speaker(), Some(A).filter(|_| !takes));
    }
}

#[test]
fn an_agent_that_is_back_is_not_asked_where_it_may_not_write_either() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(A));
    room.tell(Input::MayNotWrite { agent: A, until: None });
    room.human("hello");
    room.start(B);
    room.tell(Input::Unmute(A));
    room.ends(B, Outcome::Failed);
    assert_eq!(room.members().causes(), [Cause::AllPassed]);
}

/// B passed, and C was cut off with what it was given. That is for A, and no news to B.
#[test]
fn the_cycle_for_an_agent_that_is_back_is_no_news_to_the_others() {
    let mut room = Room::chat_with(3, |config| config.order.skip_passed = true);
    room.tell(Input::Mute(A));
    room.human("hello");
    room.passes(B);
    room.start(C);
    room.tell(Input::Unmute(A));
    room.tell(Input::Offline(C));
    room.members();
    assert_eq!(room.speaker(), Some(A));
    let step = room.passes(A);
    assert!(step.causes().contains(&Cause::CycleBoundary), "{:?}", step.causes());
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

/// A question, with the setting that lets people take it back.
fn asked() -> Room {
    let mut room = Room::chat_with(2, |config| config.people.withdraw_deleted = true);
    room.human("hello");
    room
}

/// The same, and A was told of it.
fn told() -> Room {
    let mut room = asked();
    let ticket = room.trigger.take().unwrap();
    room.settle(ticket, DONE);
    room
}

/// Whether the newest message is taken back when it is deleted.
fn is_withdrawn(room: &mut Room) -> bool {
    let step = room.tell(Input::Deleted(room.newest()));
    let is_withdrawn = step.causes() == [Cause::Withdrawn];
    assert!(is_withdrawn || step.is_silent());
    assert!(!is_withdrawn || room.phase() == PhaseKind::Dormant);
    assert!(!is_withdrawn || !room.channel.view().is_wake_pending());
    is_withdrawn
}

#[test]
fn a_question_can_be_taken_back_while_no_agent_was_told_of_it_or_who_was_has_failed() {
    assert!(is_withdrawn(&mut asked()));
    assert!(!is_withdrawn(&mut told()));
    let mut room = told();
    room.start(A);
    assert!(!is_withdrawn(&mut room));
    let mut room = told();
    room.start(A);
    room.ends(A, Outcome::Failed);
    assert!(is_withdrawn(&mut room), "B is not told yet");
    let mut room = told();
    room.start(A);
    room.passes(A);
    assert!(!is_withdrawn(&mut room), "A has taken it");
    // The run is permitted, and its agent is called later.
    let mut room = asked();
    room.start(A);
    assert!(is_withdrawn(&mut room));
    // On hold no agent is told.
    let mut room = Room::chat_with(2, |config| config.people.withdraw_deleted = true);
    room.tell(Input::Hold);
    room.human("hello");
    assert!(is_withdrawn(&mut room));
    let mut room = told();
    room.start(A);
    room.tell(Input::Hold);
    assert!(!is_withdrawn(&mut room), "A runs");
}

/// The trigger could not be posted, so A does not know of its turn, unless it was told before, or begins by itself.
#[test]
fn a_question_whose_trigger_failed_can_be_taken_back() {
    for settlement in [Settlement::Failed { retry_at: None }, Settlement::Dropped] {
        let fails = || {
            let mut room = asked();
            let ticket = room.trigger.take().unwrap();
            room.settle(ticket, settlement);
            room
        };
        assert!(is_withdrawn(&mut fails()));
        let mut room = fails();
        room.start(A);
        assert!(!is_withdrawn(&mut room), "A runs");
    }
    let mut room = told();
    room.wait(secs(45));
    let ticket = room.trigger.take().unwrap();
    room.settle(ticket, Settlement::Failed { retry_at: None });
    assert!(!is_withdrawn(&mut room), "A was told the first time");
}

#[test]
fn a_question_with_which_all_agents_failed_can_be_taken_back() {
    let all_fail = || {
        let mut room = told();
        for agent in [A, B] {
            room.start(agent);
            room.ends(agent, Outcome::Failed);
        }
        room
    };
    assert!(is_withdrawn(&mut all_fail()), "while the list is read");
    let asleep = || {
        let mut room = all_fail();
        room.members();
        assert!(room.channel.view().is_wake_pending());
        room
    };
    let mut room = asleep();
    assert!(is_withdrawn(&mut room));
    room.tell(Input::Mute(B));
    assert!(!room.tell(Input::Unmute(B)).causes().contains(&Cause::HumanMessage));
    let woken_again = || {
        let mut room = asleep();
        room.tell(Input::Mute(B));
        room.tell(Input::Unmute(B));
        assert_eq!(room.speaker(), Some(A));
        room
    };
    assert!(is_withdrawn(&mut woken_again()), "A is not told again yet");
    let mut room = woken_again();
    room.tell(Input::Stop);
    assert!(is_withdrawn(&mut room), "a stop does not make it heard");
    assert_eq!(room.tell(Input::Resume).causes(), [Cause::Resumed]);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    let mut room = asleep();
    room.tell(Input::Wake { first: None, cause: WakeCause::Operator });
    assert!(!is_withdrawn(&mut room), "an operator asks as well");
    let mut room = asked();
    room.passes(A);
    room.passes(B);
    room.members();
    assert!(!is_withdrawn(&mut room), "nothing waits");
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
