//! Runs that are gone, doubled or confused with others.

use crate::room::{A, B, C, Room, STRANGER, ended, secs, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Author, Cause, Input, MessageId, MessageKind, Outcome, PhaseKind, Reason, Refusal, RunId,
};

const SKIP: Input = Input::RunsLost { rerun: false };
const RERUN: Input = Input::RunsLost { rerun: true };

fn gate(agent: dirigent_core::AgentKey, run: Option<RunId>) -> Input {
    Input::Gate { agent: Some(agent), run, latest: None }
}

/// An idle discussion whose initiator A was reminded and may run once.
fn reminded() -> Room {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    room.members();
    assert_eq!(room.channel.view().permit(), Some(A));
    room
}

/// F19, D77
#[test]
fn a_run_that_a_restart_cut_off_is_skipped() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let lost = room.run_of(A);
    let step = room.tell(SKIP);
    assert_eq!(step.causes(), [Cause::RunLost, Cause::NextInList]);
    assert_eq!(room.seat(A).turn, SeatTurn::Skipped);
    assert_eq!(room.speaker(), Some(B));
    assert_eq!(room.refusal(ended(A, Some(lost), Outcome::Pass)), Refusal::StaleRun);
}

/// F19, D77
#[test]
fn a_run_that_a_restart_cut_off_is_run_again_if_wanted() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let (lost, turn) = (room.run_of(A), room.channel.view().turn());
    let step = room.tell(RERUN);
    assert_eq!(step.all(), ["running > granted A: run-lost", "trigger A"]);
    assert_eq!(room.channel.view().turn(), turn, "it is the same turn");
    assert_eq!(room.tell(gate(A, Some(lost))).reason(), Reason::RunAlreadyEnded);
    room.passes(A);
    assert_eq!(room.speaker(), Some(B));
}

/// F19, D46
#[test]
fn what_a_lost_run_has_said_has_been_said() {
    for input in [SKIP, RERUN] {
        let mut room = Room::chat(2);
        room.human("hello");
        room.start(A);
        room.says(A, "half a reply");
        room.tell(input.clone());
        assert_eq!(room.phase(), PhaseKind::Confirming);
        room.wait(secs(2));
        assert_eq!(room.seat(A).turn, SeatTurn::Spoke, "{input:?}");
    }
}

/// F19
#[test]
fn a_receipt_of_a_lost_run_confirms_it() {
    for input in [SKIP, RERUN] {
        let mut room = Room::chat(2);
        room.human("hello");
        room.start(A);
        let (run, messages) = (Some(room.run_of(A)), vec![MessageId::new(5_000)]);
        room.tell(Input::Receipt { agent: A, run, messages });
        room.tell(input.clone());
        assert_eq!(room.seat(A).turn, SeatTurn::Spoke, "{input:?}");
        assert_eq!(room.speaker(), Some(B));
    }
}

/// F19
#[test]
fn where_nothing_ran_nothing_is_lost() {
    for prepare in [|_: &mut Room| (), |room: &mut Room| drop(room.human("hello"))] {
        let mut room = Room::chat(2);
        prepare(&mut room);
        let before = room.snapshot();
        assert!(room.tell(RERUN).is_silent());
        assert!(room.tell(SKIP).is_silent());
        assert_eq!(room.snapshot(), before);
    }
}

/// F19, D84
#[test]
fn a_lost_permitted_run_is_over_or_offered_again() {
    let mut room = reminded();
    room.start(A);
    let lost = room.run_of(A);
    assert_eq!(room.tell(RERUN).causes(), [Cause::RunLost, Cause::InitiatorReminded]);
    assert_eq!(room.channel.view().permit(), Some(A));
    assert_eq!(room.tell(gate(A, Some(lost))).reason(), Reason::RunAlreadyEnded);
    room.start(A);
    assert_eq!(room.tell(SKIP).causes(), [Cause::PermitUsed]);
    assert_eq!(room.channel.view().permit(), None);
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// F19, D84
#[test]
fn a_lost_permitted_run_that_spoke_wakes_the_channel() {
    for input in [SKIP, RERUN] {
        let mut room = reminded();
        room.start(A);
        room.says(A, "one more question");
        room.tell(input);
        assert_ne!(room.phase(), PhaseKind::Dormant);
    }
}

/// R148, D39, D84
#[test]
fn a_newer_permitted_run_replaces_the_older() {
    let mut room = reminded();
    room.start(A);
    let older = room.run_of(A);
    assert!(room.tell(gate(A, Some(older))).is_silent(), "the same run again changes nothing");
    assert!(room.tell(gate(A, None)).is_silent(), "nor does a call without a name");
    let step = room.gate(A);
    assert_eq!(step.causes(), [Cause::RunReplaced]);
    assert_eq!(room.refusal(ended(A, Some(older), Outcome::Pass)), Refusal::StaleRun);
    room.ends(A, Outcome::Pass);
    assert_eq!(room.channel.view().permit(), None);
}

/// R148, D84
#[test]
fn a_receipt_of_the_permitted_run_wakes_the_channel_at_its_end() {
    let mut room = reminded();
    room.start(A);
    let (run, messages) = (Some(room.run_of(A)), vec![MessageId::new(5_000)]);
    let foreign = Input::Receipt { agent: B, run, messages: messages.clone() };
    assert_eq!(room.refusal(foreign), Refusal::StaleRun);
    room.tell(Input::Receipt { agent: A, run, messages });
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.ends(A, spoke("said"));
    assert_ne!(room.phase(), PhaseKind::Dormant);
}

/// R148, D50
#[test]
fn only_the_initiators_own_words_count_for_its_permitted_run() {
    let mut room = reminded();
    room.wait(secs(31));
    room.start(A);
    room.says(B, "I am not the initiator");
    assert_eq!(room.speaker(), Some(A), "another agent's message wakes as ever");
}

/// F02
#[test]
fn the_permitted_run_does_not_count_towards_the_ceiling() {
    let mut room = reminded();
    room.wait(secs(31));
    let before = room.channel.view().turns_since_human();
    room.start(A);
    room.says(A, "let me sum up");
    assert_eq!(room.channel.view().turns_since_human(), before);
    room.tell(Input::Stop);
    room.wait(secs(31));
    room.says(A, "after the stop");
    assert_eq!(room.channel.view().turns_since_human(), before + 1);
}

/// R093, D40
#[test]
fn a_turn_without_a_run_id_does_not_end_by_a_run_that_was_denied() {
    let mut room = Room::chat(2);
    room.human("hello");
    let denied = RunId::new(77);
    assert_eq!(room.gate_run(B, denied).reason(), Reason::NotYourTurn { speaker: A });
    room.passes(A);
    assert!(room.tell(gate(B, None)).verdict().is_allowed());
    assert_eq!(room.refusal(ended(B, Some(denied), Outcome::Pass)), Refusal::StaleRun);
    room.tell(ended(B, Some(RunId::new(78)), Outcome::Pass));
    assert_eq!(room.phase(), PhaseKind::Refreshing);
}

/// R093, R148, D40, D84
#[test]
fn a_permitted_run_without_an_id_does_not_end_by_a_run_that_was_denied() {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.start(A);
    room.ends(A, Outcome::Pass);
    let denied = RunId::new(77);
    assert!(!room.gate_run(A, denied).verdict().is_allowed());
    room.passes(B);
    room.members();
    assert!(room.tell(gate(A, None)).verdict().is_allowed());
    assert_eq!(room.refusal(ended(A, Some(denied), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.channel.view().permit(), Some(A));
}

/// R085, D39
#[test]
fn the_run_that_runs_is_not_confused_with_anothers_of_the_same_name() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let run = room.run_of(A);
    assert_eq!(room.tell(gate(STRANGER, Some(run))).reason(), Reason::NotListed);
    assert_eq!(room.tell(gate(STRANGER, Some(run))).reason(), Reason::RunAlreadyDenied);
    assert_eq!(room.tell(gate(A, Some(run))).reason(), Reason::YourTurn);
    let other = room.gate_run(A, RunId::new(500));
    assert_eq!(other.reason(), Reason::YourTurn);
    assert_eq!(room.tell(gate(A, Some(run))).reason(), Reason::RunAlreadyEnded);
}

/// R065, R072, D78
#[test]
fn a_run_denied_for_everybodys_reason_is_not_remembered() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.tell(Input::Stop);
    let run = RunId::new(9);
    assert_eq!(room.gate_run(A, run).reason(), Reason::Stopped);
    room.tell(Input::Resume);
    room.human("go on");
    assert_eq!(room.gate_run(A, run).reason(), Reason::YourTurn);
}

/// F04, D70
#[test]
fn only_what_qualifies_is_kept_in_mind_during_a_stop() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.all_pass();
    room.members();
    room.tell(Input::Stop);
    room.bot("beep");
    room.tell(Input::Resume);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(Input::Stop);
    room.human("hello again");
    room.tell(Input::Resume);
    assert_ne!(room.phase(), PhaseKind::Dormant);
}

/// R107, R117, D37
#[test]
fn a_message_from_before_the_turn_is_no_piece_of_the_reply() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "the whole reply");
    let old =
        crate::room::message(3, Author::Agent(A), MessageKind::Conversation, "the whole reply");
    room.tell(old);
    assert_eq!(room.phase(), PhaseKind::Confirming, "it stands before the anchor");
    room.says(A, "the whole reply");
    assert_eq!(room.speaker(), Some(B));
}

/// R128, F01
#[test]
fn an_agent_that_has_no_part_in_the_permit_does_not_mark_it() {
    let mut room = Room::discussion(3);
    room.human("hello");
    room.all_pass();
    room.members();
    room.wait(secs(31));
    room.start(A);
    let step = room.says(C, "something new");
    assert!(step.asks().contains(&"cancel the permitted run of A".to_owned()), "{:?}", step.all());
}

/// R148, D84
#[test]
fn the_permitted_run_is_not_confused_with_anothers_of_the_same_name() {
    let mut room = reminded();
    room.start(A);
    let run = room.run_of(A);
    assert!(!room.tell(gate(B, Some(run))).verdict().is_allowed());
    assert_eq!(room.tell(gate(A, Some(run))).reason(), Reason::InitiatorPermit);
    assert_eq!(room.channel.view().run(), Some(run));
}

/// R148, D84
#[test]
fn a_permit_that_was_not_used_yet_survives_a_restart() {
    for input in [SKIP, RERUN] {
        let mut room = reminded();
        assert!(room.tell(input).is_silent());
        assert_eq!(room.channel.view().permit(), Some(A));
    }
}

/// R115, R118
#[test]
fn the_deadline_of_the_permitted_run_moves_with_a_clock_that_steps_back() {
    let mut room = reminded();
    room.start(A);
    let until = room.channel.next_deadline().unwrap().at;
    room.now = room.now.saturating_sub(secs(3_600));
    room.tell(Input::Tick);
    let moved = room.channel.next_deadline().unwrap().at;
    assert_eq!(moved, until.saturating_sub(secs(3_600)));
}

/// R132, R133, D74
#[test]
fn somebody_elses_leaving_takes_no_permit() {
    let mut room = reminded();
    room.leaves(B);
    assert_eq!(room.channel.view().permit(), Some(A));
    room.leaves(A);
    assert_eq!(room.channel.view().permit(), None);
}

/// F02, R129, D84
#[test]
fn the_initiators_words_before_its_permitted_run_count() {
    let mut room = reminded();
    room.wait(secs(31));
    let before = room.channel.view().turns_since_human();
    room.says(A, "before I run");
    assert_eq!(room.channel.view().turns_since_human(), before + 2, "the message and the grant");
}

/// F01, R129
#[test]
fn at_the_ceiling_an_agents_message_does_nothing_at_all() {
    let mut room = Room::chat_with(2, |config| config.ceilings.chat.turns = Some(1));
    room.human("hello");
    room.speaks(A);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.wait(secs(31));
    assert!(room.says(B, "let us go on").is_silent());
}
