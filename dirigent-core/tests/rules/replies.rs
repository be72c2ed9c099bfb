//! Replies that the library delivers: the turn waits for them as long as it takes.

use dirigent_core::config::HumanInterrupt;
use dirigent_core::view::{PendingReply, SeatTurn};
use dirigent_core::{Cause, Input, MessageId, Outcome, PhaseKind, Reason, Refusal, Settlement};

use super::room::{A, B, C, Room, secs, spoke};

/// A chat of three in which A's whole reply is delivered.
fn delivering() -> Room {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    replied(&mut room);
    room
}

fn replied(room: &mut Room) {
    let run = Some(room.run_of(A));
    let step = room.tell(Input::Replied { agent: A, run, next: None });
    assert_eq!(step.causes(), [Cause::Replied]);
}

fn undelivered(room: &Room, posted: bool) -> Input {
    Input::Undelivered { agent: A, run: Some(room.run_of(A)), posted }
}

fn receipt(room: &mut Room) {
    room.message += 1;
    let (run, messages) = (Some(room.run_of(A)), vec![room.newest()]);
    room.tell(Input::Receipt { agent: A, run, messages });
}

#[test]
fn a_reply_that_is_delivered_has_no_deadline() {
    let mut room = Room::chat_with(2, |config| {
        config.deadlines.turn = Some(secs(60));
        config.deadlines.slow_after = Some(secs(5));
    });
    room.human("hello");
    room.start(A);
    replied(&mut room);
    assert_eq!(room.phase(), PhaseKind::Delivering);
    assert!(room.wait(secs(86_400)).is_silent());
    let reply = PendingReply {
        agent: A,
        run: Some(room.run_of(A)),
        turn: Some(room.channel.view().turn()),
        waits: false,
    };
    assert_eq!(room.channel.view().pending_reply(), Some(reply));
    receipt(&mut room);
    room.ends(A, spoke("at last"));
    assert_eq!((room.speaker(), room.turns()), (Some(B), vec![SeatTurn::Spoke, SeatTurn::Ahead]));
}

#[test]
fn a_reply_is_reported_once_and_only_by_the_run_that_holds_the_floor() {
    let mut room = delivering();
    let run = Some(room.run_of(A));
    assert_eq!(room.refusal(Input::Replied { agent: A, run, next: None }), Refusal::StaleRun);
    assert_eq!(room.refusal(Input::Replied { agent: B, run, next: None }), Refusal::StaleRun);
    let other = Some(room.fresh_run());
    assert_eq!(
        room.refusal(Input::Undelivered { agent: A, run: other, posted: true }),
        Refusal::StaleRun
    );
}

#[test]
fn nobody_else_may_speak_while_a_reply_is_delivered() {
    let mut room = delivering();
    assert_eq!(room.explain(A), Reason::TurnAlreadyUsed);
    assert_eq!(room.explain(B), Reason::NotYourTurn { speaker: A });
    assert_eq!(room.gate(A).reason(), Reason::TurnAlreadyUsed);
    let again = room.run_of(A);
    assert_eq!(room.gate_run(A, again).reason(), Reason::RunAlreadyDenied);
}

#[test]
fn a_persons_word_during_a_delivery_is_held_for_the_next_agent() {
    for how in [HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt] {
        let mut room = Room::chat_with(2, |config| config.people.human_interrupt = how);
        room.human("hello");
        room.start(A);
        replied(&mut room);
        assert!(room.human("wait").is_silent(), "{how:?}");
        let word = room.newest();
        receipt(&mut room);
        let step = room.ends(A, spoke("so"));
        assert_eq!(room.speaker(), Some(B));
        assert!(step.asks().first().is_some_and(|it| it.contains(&word.get().to_string())));
    }
}

#[test]
fn runs_lost_do_not_lose_a_reply() {
    for rerun in [false, true] {
        let mut room = delivering();
        assert!(room.tell(Input::RunsLost { rerun }).is_silent());
        assert_eq!(room.phase(), PhaseKind::Delivering);
    }
}

#[test]
fn an_agent_that_leaves_or_is_muted_or_a_stop_ends_the_delivery() {
    for input in [Input::MemberLeft(A), Input::Mute(A), Input::Stop] {
        let mut room = delivering();
        let step = room.tell(input);
        assert!(step.asks().iter().any(|it| it.starts_with("cancel")), "{:?}", step.asks());
        assert_ne!(room.phase(), PhaseKind::Delivering);
    }
}

#[test]
fn a_reply_of_an_agent_that_goes_offline_still_goes_out() {
    let mut room = delivering();
    let step = room.tell(Input::Offline(A));
    assert_eq!((step.causes(), room.phase()), (vec![Cause::AgentOffline], PhaseKind::Delivering));
    receipt(&mut room);
    room.ends(A, spoke("goodbye"));
    assert_eq!(room.speaker(), Some(B));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

#[test]
fn an_agent_that_is_offline_is_not_asked_to_go_on() {
    let mut room = delivering();
    room.tell(Input::Offline(A));
    let tail = dirigent_core::Tail::of("more");
    let step = room.ends(A, Outcome::Unfinished { tail });
    assert!(step.causes().starts_with(&[Cause::AgentOffline]));
    assert_eq!((room.speaker(), room.seat(A).turn), (Some(B), SeatTurn::Spoke));
}

#[test]
fn a_turn_that_goes_on_after_a_delivery_has_all_its_time_again() {
    let mut room = Room::chat_with(2, |config| config.deadlines.turn = Some(secs(30)));
    room.human("hello");
    room.start(A);
    replied(&mut room);
    room.wait(secs(3_600));
    let tail = dirigent_core::Tail::of("more");
    room.ends(A, Outcome::Unfinished { tail });
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(30)));
}

#[test]
fn a_reply_that_is_given_up_counts_as_spoken_only_if_a_part_was_posted() {
    for (posted, turn) in [(true, SeatTurn::Spoke), (false, SeatTurn::Skipped)] {
        let mut room = delivering();
        let input = undelivered(&room, posted);
        assert!(room.tell(input.clone()).causes().starts_with(&[Cause::Undelivered]));
        assert_eq!((room.speaker(), room.seat(A).turn), (Some(B), turn));
        assert_eq!(room.refusal(input), Refusal::StaleRun);
    }
}

#[test]
fn replies_that_are_given_up_are_no_silence() {
    let mut room = delivering();
    let input = undelivered(&room, false);
    room.tell(input);
    room.passes(B);
    room.passes(C);
    assert_eq!(room.members().causes(), [Cause::AllPassed], "B and C had nothing to say");
    let mut room = Room::chat(2);
    room.human("hello");
    for agent in [A, B] {
        room.start(agent);
        let run = Some(room.run_of(agent));
        room.tell(Input::Replied { agent, run, next: None });
        room.tell(Input::Undelivered { agent, run, posted: false });
    }
    assert_eq!(room.members().causes(), [Cause::Unanswered]);
}

/// An idle discussion whose initiator's permitted run made its reply.
fn permitted() -> Room {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    room.members();
    room.start(A);
    replied(&mut room);
    room
}

#[test]
fn a_permitted_reply_has_no_deadline_and_survives_lost_runs_and_an_offline_agent() {
    let mut room = permitted();
    room.tell(Input::RunsLost { rerun: true });
    room.tell(Input::Offline(A));
    room.wait(secs(3_600));
    assert!(room.channel.view().pending_reply().is_some());
    assert_eq!(room.explain(A), Reason::TurnAlreadyUsed);
    receipt(&mut room);
    room.ends(A, spoke("done"));
    assert_eq!(room.channel.view().pending_reply(), None);
}

#[test]
fn a_permitted_reply_that_is_given_up_uses_the_permit_up() {
    for posted in [false, true] {
        let mut room = permitted();
        let input = undelivered(&room, posted);
        let step = room.tell(input);
        assert!(step.causes().starts_with(&[Cause::Undelivered, Cause::PermitUsed]));
        assert_eq!(room.phase() == PhaseKind::Dormant, !posted);
    }
}

#[test]
fn a_reply_that_is_made_while_its_turn_rests_is_delivered_when_it_goes_on() {
    let mut room =
        Room::chat_with(2, |config| config.people.human_interrupt = HumanInterrupt::Interrupt);
    room.human("hello");
    room.start(A);
    room.human("one question");
    assert_eq!(room.phase(), PhaseKind::Waiting);
    replied(&mut room);
    assert!(room.channel.view().pending_reply().is_some_and(|reply| reply.waits));
    assert_eq!(room.explain(A), Reason::TurnAlreadyUsed);
    let ticket = room.consult.take().expect("the orchestrator is asked");
    room.settle(ticket, Settlement::Failed { retry_at: None });
    assert_eq!(room.phase(), PhaseKind::Delivering);
    assert_eq!(room.channel.view().queued().map(|span| span.first), Some(MessageId::new(1_002)));
}
