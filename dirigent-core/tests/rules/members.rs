//! Who is in the list, and what happens when agents come and go.

use crate::room::{A, B, C, D, Room, STRANGER, agents, ended, secs, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    AgentKey, Cause, Creation, Input, Mode, Outcome, PhaseKind, Reason, Refusal, TurnState,
};

/// R041, R078, R180, D10, D36
#[test]
fn only_those_in_the_answer_are_listed() {
    let mut room = Room::unknown();
    room.tell(Input::SetMode(Mode::Chat));
    // People, unregistered bots and the moderator have no agent key: they cannot be in the answer,
    // and their messages put nobody into the list.
    room.human("hello");
    room.bot("beep");
    room.moderator("a notice");
    room.says(STRANGER, "I am only visiting");
    room.present = vec![B, A];
    room.members();
    assert_eq!(room.order(), [B, A]);
    assert_eq!(room.state(), TurnState::Normal);
}

/// R041, R078
#[test]
fn writing_or_asking_does_not_put_an_agent_into_the_list() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.says(STRANGER, "may I?");
    assert_eq!(room.gate(STRANGER).reason(), Reason::NotListed);
    assert_eq!(room.order(), [A, B]);
    room.speaks(A);
    room.speaks(B);
    room.members();
    assert_eq!(room.order(), [A, B]);
}

/// R181, R041, W1
#[test]
fn the_list_is_built_from_the_members_without_configuration() {
    let mut room = Room::unknown();
    let step = room.tell(Input::SetMode(Mode::Chat));
    assert_eq!(step.asks(), ["fetch members"]);
    room.present = vec![C, A, B];
    assert!(room.members().asks().is_empty());
    assert_eq!(room.order(), [C, A, B], "in the order of the answer");
    assert_eq!(room.human("hello").asks(), ["trigger C"]);
}

/// R181, D82
#[test]
fn duplicates_count_once() {
    let mut room = Room::unknown();
    let members = vec![B, A, B, A];
    room.tell(Input::Create(Creation { mode: Mode::Chat, members, initiator: None }));
    assert_eq!(room.order(), [B, A]);
    room.human("hello");
    room.speaks(B);
    room.speaks(A);
    room.present = vec![A, A, B, C, C];
    room.members();
    let mut order = room.order();
    order.sort();
    assert_eq!(order, [A, B, C]);
}

/// R132, D74
#[test]
fn who_leaves_is_skipped_when_its_slot_comes() {
    let mut room = Room::chat(3);
    room.human("hello");
    assert!(room.leaves(B).asks().is_empty());
    assert!(room.seat(B).left);
    assert_eq!(room.passes(A).asks(), ["trigger C"]);
    assert_eq!(room.seat(B).turn, SeatTurn::Skipped);
    assert_eq!(room.gate(B).reason(), Reason::NotListed);
    room.speaks(C);
    room.members();
    assert!(!room.order().contains(&B));
}

/// R133, D74
#[test]
fn when_the_speaker_leaves_the_turn_advances_at_once() {
    let mut room = Room::chat(3);
    room.human("hello");
    let step = room.leaves(A);
    assert_eq!(step.asks(), ["trigger B"], "it had not started: nothing to cancel");
    assert!(step.causes().contains(&Cause::AgentLeft));
    room.start(B);
    assert_eq!(room.leaves(B).asks(), ["cancel the run of B", "trigger C"]);
    let run = Some(room.run_of(B));
    assert_eq!(room.refusal(ended(B, run, Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.turns(), [SeatTurn::Skipped, SeatTurn::Skipped, SeatTurn::Ahead]);
}

/// R133, D74
#[test]
fn when_the_speaker_leaves_during_delivery_the_wait_is_dropped() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "on its way");
    let asks = room.leaves(A).asks();
    assert!(asks.contains(&"trigger B".to_owned()));
    assert!(room.wait(secs(20)).asks().is_empty(), "no poll, no time-out");
    assert!(room.says(A, "on its way").is_silent(), "what still arrives is late");
}

/// R134, D74
#[test]
fn a_result_stays_counted_when_its_agent_leaves() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.speaks(A);
    room.leaves(A);
    room.passes(B);
    room.passes(C);
    room.members();
    assert_ne!(room.phase(), PhaseKind::Dormant, "somebody spoke");
}

/// R132, D75
#[test]
fn who_comes_back_before_its_slot_keeps_it() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.leaves(C);
    room.passes(A);
    room.joins(C);
    assert!(!room.seat(C).left);
    assert_eq!(room.passes(B).asks(), ["trigger C"]);
}

/// R135
#[test]
fn who_joins_mid_cycle_has_no_turn_before_the_boundary() {
    let mut room = Room::chat(2);
    room.human("hello");
    let before = room.snapshot();
    assert!(room.joins(D).is_silent());
    assert_eq!(before.state.roster.list.slots, room.snapshot().state.roster.list.slots);
    assert_eq!(room.state(), TurnState::Normal);
    room.speaks(A);
    assert_eq!(room.gate(D).reason(), Reason::NotListed);
    assert_eq!(room.speaks(B).asks(), ["fetch members"]);
    room.members();
    assert!(room.order().contains(&D));
    assert_eq!(room.state(), TurnState::Shuffle);
}

/// R043, D12
#[test]
fn a_join_starts_a_channel_that_had_one_agent() {
    let mut room = Room::chat(1);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert_eq!(room.joins(B).asks(), ["fetch members"]);
    let step = room.members();
    assert_eq!(step.causes(), [Cause::EnoughAgents]);
    assert!(step.asks().is_empty(), "nobody has said anything yet");
    assert_eq!(room.state(), TurnState::Normal);
    assert_eq!(room.human("hello").asks(), ["trigger A"]);
}

/// R043, D12
#[test]
fn a_message_recounts_and_is_not_lost() {
    let mut room = Room::chat(1);
    room.wait(secs(30));
    room.present.push(B);
    assert_eq!(room.human("is anybody here?").asks(), ["fetch members"]);
    assert_eq!(room.members().asks(), ["trigger A"]);
}

/// R043, R064, D12
#[test]
fn recounts_are_at_least_thirty_seconds_apart() {
    let mut room = Room::chat(1);
    room.wait(secs(30));
    assert_eq!(room.gate(A).asks(), ["fetch members"]);
    assert!(room.gate(A).is_silent(), "one at a time");
    room.members();
    for _ in 0..29 {
        room.wait(secs(1));
        assert!(room.gate(A).is_silent());
        assert!(room.says(A, "hm").asks().is_empty());
    }
    room.wait(secs(1));
    assert_eq!(room.says(A, "hm").asks(), ["fetch members"]);
}

/// R042, R040, D13
#[test]
fn when_all_leave_the_channel_is_let_go() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.leaves(A);
    let asks = room.leaves(B).asks();
    assert_eq!(asks, ["fetch members"]);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert!(room.order().is_empty());
}

/// R078, R081
#[test]
fn an_answer_may_replace_everybody() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.speaks(A);
    room.speaks(B);
    room.present = vec![C, D];
    assert!(room.members().asks()[0].starts_with("trigger "));
    assert_eq!(room.order(), [C, D]);
}

/// R041
#[test]
fn at_most_sixty_four_agents_are_listed() {
    let mut room = Room::unknown();
    room.tell(Input::SetMode(Mode::Chat));
    let ticket = room.fetch.unwrap();
    let many: Vec<AgentKey> = agents(65);
    let refused = Input::Members { ticket, agents: many.clone() };
    assert_eq!(room.refusal(refused), Refusal::TooManyAgents);
    room.tell(Input::Members { ticket, agents: agents(64) });
    assert_eq!(room.order().len(), 64, "the question was still open");
    let mut fresh = Room::unknown();
    let creation = Creation { mode: Mode::Chat, members: many, initiator: None };
    assert_eq!(fresh.refusal(Input::Create(creation)), Refusal::TooManyAgents);
}

/// R132, R134
#[test]
fn leaving_twice_or_without_being_listed_is_harmless() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.leaves(B);
    let before = room.snapshot();
    assert!(room.leaves(B).is_silent());
    assert!(room.leaves(STRANGER).is_silent());
    assert_eq!(before.state.roster.list.slots, room.snapshot().state.roster.list.slots);
    room.start(A);
    assert_eq!(room.ends(A, spoke("hm")).causes(), [Cause::Spoke]);
}

/// R132, R028
#[test]
fn where_no_turns_are_kept_nobody_is_marked() {
    let mut room = Room::chat(3);
    room.leaves(C);
    room.tell(Input::SetMode(Mode::None));
    let before = room.snapshot();
    for step in [room.joins(C), room.leaves(B), room.joins(D)] {
        assert!(step.is_silent());
    }
    assert_eq!(before, room.snapshot(), "the marks stay for the day when turns are kept again");
    let mut archived = Room::discussion(3);
    archived.leaves(B);
    archived.tell(Input::Archive);
    let before = archived.snapshot();
    for step in [archived.joins(B), archived.leaves(C)] {
        assert!(step.is_silent());
    }
    assert_eq!(before, archived.snapshot(), "nobody will ever speak here");
}
