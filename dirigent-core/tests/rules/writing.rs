//! Agents whose messages the chat refuses (rule 81).

use crate::room::{A, B, C, D, Room, secs, spoke};
use dirigent_core::view::{AgentState, MayNotWrite, SeatTurn};
use dirigent_core::{AgentKey, Cause, Input, PhaseKind, Reason, Refusal, Timestamp};

fn refused(agent: AgentKey) -> Input {
    Input::MayNotWrite { agent, until: None }
}

fn woken(count: usize) -> Room {
    let mut room = Room::chat(count);
    room.human("hello");
    room
}

#[test]
fn who_may_not_write_keeps_its_place_and_is_passed_over() {
    let mut room = woken(3);
    room.tell(refused(B));
    let step = room.passes(A);
    assert_eq!(step.asks(), ["trigger C"]);
    assert!(step.causes().contains(&Cause::AgentMayNotWrite));
    assert_eq!(room.seat(B).turn, SeatTurn::Skipped);
    assert!(room.seat(B).may_not_write && !room.seat(B).muted && !room.seat(B).is_available());
    assert_eq!(room.explain(B), Reason::MayNotWrite);
    assert_eq!(room.gate(B).reason(), Reason::MayNotWrite);
    assert_eq!(room.refusal(Input::SpeakNext(B)), Refusal::MayNotWrite);
    assert_eq!(room.channel.agent_state(B), AgentState::Idle);
    assert!(room.tell(refused(B)).is_silent(), "twice changes nothing");
    room.tell(Input::MayWrite(B));
    assert!(room.tell(Input::MayWrite(B)).is_silent());
    assert!(room.seat(B).is_available());
}

#[test]
fn who_has_the_floor_loses_it_and_what_its_run_was_given_is_not_lost() {
    let mut room = woken(2);
    room.tell(refused(B));
    room.trigger_posted();
    room.start(A);
    let step = room.tell(refused(A));
    assert_eq!(
        step.all()[..2],
        ["cancel the run of A", "running > running A: agent-may-not-write"].map(str::to_owned)
    );
    room.members_or_nothing();
    room.members_or_nothing();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(room.channel.view().is_wake_pending());
    let step = room.tell(Input::MayWrite(B));
    assert_eq!(step.causes()[..2], [Cause::AgentMayWrite, Cause::HumanMessage]);
    room.members_or_nothing();
    assert_eq!(room.speaker(), Some(B));
}

/// The cycle of the word ends without a turn, and an agent comes back while the member list is read: the word is for it.
#[test]
fn an_agent_that_comes_back_while_the_list_is_read_is_given_the_word() {
    for (hinder, ends) in [
        ([A, B].map(refused), Input::MayWrite(B)),
        ([A, B].map(Input::Mute), Input::Unmute(B)),
        ([A, B].map(Input::Offline), Input::Online(B)),
    ] {
        let mut room = Room::chat_with(2, |config| config.order.auto_requeue = true);
        for input in hinder {
            room.tell(input);
        }
        if !room.human("hello").causes().contains(&Cause::CycleBoundary) {
            room.members_or_nothing();
        }
        assert_eq!(room.phase(), PhaseKind::Refreshing);
        room.tell(ends.clone());
        room.members_or_nothing();
        assert_eq!(room.speaker(), Some(B), "{ends:?}");
    }
}

#[test]
fn a_reply_that_cannot_be_posted_any_more_is_not_waited_for() {
    let mut room = woken(2);
    let run = Some(room.start(A).verdict()).and(Some(room.run_of(A)));
    room.tell(Input::Replied { agent: A, run, next: None });
    assert_eq!(room.phase(), PhaseKind::Delivering);
    room.tell(refused(A));
    assert_eq!(room.speaker(), Some(B));
    assert_eq!(
        room.refusal(Input::RunEnded { agent: A, run, outcome: spoke("late") }),
        Refusal::StaleRun
    );
}

#[test]
fn a_time_out_ends_by_itself_and_a_word_that_waited_is_heard() {
    let mut room = Room::chat(2);
    let until = room.now + secs(60);
    for agent in [A, B] {
        room.tell(Input::MayNotWrite { agent, until: Some(until) });
    }
    room.human("hello");
    room.members_or_nothing();
    room.members_or_nothing();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.channel.next_deadline().map(|due| due.at), Some(until));
    let step = room.wait(secs(60));
    assert!(step.causes().starts_with(&[Cause::AgentMayWrite]), "{:?}", step.causes());
    room.members_or_nothing();
    assert!(room.speaker().is_some());
    assert!(room.channel.view().may_not_write().is_empty());
}

/// WD13. An hour passes in one step: the list is late first, so the next cycle has nobody else to begin with, and then the
/// time-out ends.
#[test]
fn a_time_out_that_ends_in_the_late_step_of_the_list_comes_behind_the_next_grant() {
    let mut room = woken(3);
    room.start(A);
    let until = Some(room.now + secs(600));
    room.tell(Input::MayNotWrite { agent: B, until });
    room.leaves(C);
    room.human("and what of the sea?");
    room.talks_on(A, "it is salty");
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    room.sleep(secs(3_600));
    let step = room.tell(Input::Tick);
    let causes = step.causes();
    assert!(causes.starts_with(&[Cause::MembersLate, Cause::Reshuffled]), "{causes:?}");
    assert_eq!(causes.last(), Some(&Cause::AgentMayWrite), "{causes:?}");
    assert_eq!(room.speaker(), Some(A), "{causes:?}");
    assert_ne!(room.channel.view().list().next().map(|seat| seat.agent), Some(A));
    assert!(room.seat(B).is_available());
}

#[test]
fn an_end_can_be_moved_and_one_that_is_past_is_none() {
    let mut room = Room::chat(2);
    let until = |room: &Room, after| Some(room.now + secs(after));
    room.tell(Input::MayNotWrite { agent: A, until: until(&room, 60) });
    room.tell(Input::MayNotWrite { agent: A, until: until(&room, 600) });
    room.sleep(secs(60));
    assert_eq!(room.explain(A), Reason::MayNotWrite);
    room.tell(Input::MayNotWrite { agent: A, until: None });
    room.sleep(secs(3_600));
    assert_eq!(room.explain(A), Reason::MayNotWrite);
    room.tell(Input::MayNotWrite { agent: A, until: Some(Timestamp::from_millis(5)) });
    assert_eq!(room.explain(A), Reason::Dormant);
}

#[test]
fn each_mark_ends_by_itself() {
    let mut room = woken(3);
    room.tell(Input::Mute(B));
    room.tell(refused(B));
    room.tell(Input::Unmute(B));
    assert_eq!(room.explain(B), Reason::MayNotWrite);
    room.tell(Input::Mute(B));
    room.tell(Input::MayWrite(B));
    assert_eq!(room.explain(B), Reason::Muted);
}

#[test]
fn the_mark_stays_through_lists_modes_and_a_restart_and_sixty_four_are_kept() {
    let mut room = woken(3);
    room.tell(refused(C));
    room.all_pass();
    room.members_or_nothing();
    let known = [MayNotWrite { agent: C, until: None }];
    assert_eq!(room.channel.view().may_not_write(), known);
    let restored =
        dirigent_core::TurnMachine::restore(room.channel.config().clone(), &room.snapshot());
    assert_eq!(restored.unwrap().view().may_not_write(), known);
    for number in 100..163 {
        room.tell(refused(AgentKey::new(number)));
    }
    assert_eq!(room.refusal(refused(D)), Refusal::TooManyAgents);
    assert!(room.channel.audit().is_ok());
}
