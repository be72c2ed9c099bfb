//! A discussion: its guide, its idle reminder, and its initiator's one run.

use crate::room::{A, B, C, Room, ended, gate, secs, spoke};
use dirigent_core::{
    Author, Cause, Input, MessageKind, Outcome, PhaseKind, Reason, Refusal, TurnState, WakeCause,
};

fn guide(room: &mut Room) -> crate::room::Step {
    room.moderator("the guide");
    room.tell(Input::Wake { first: None, cause: WakeCause::Guide })
}

/// A discussion of two that fell asleep, and what it did then.
fn idle() -> (Room, crate::room::Step) {
    let mut room = Room::discussion(2);
    guide(&mut room);
    room.all_pass();
    let step = room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    (room, step)
}

/// R144, D18, D83
#[test]
fn after_the_guide_the_first_speaker_is_woken() {
    let mut room = Room::discussion(2);
    assert!(room.moderator("the guide").is_silent(), "the guide itself wakes nobody");
    let step = room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    assert_eq!(step.all(), ["dormant > granted A: guide-posted", "trigger A"]);
}

/// R145
#[test]
fn turns_are_kept_as_in_a_chat() {
    let mut pair = Room::discussion(2);
    assert_eq!(pair.state(), TurnState::Normal);
    guide(&mut pair);
    pair.speaks(A);
    pair.speaks(B);
    pair.members();
    assert_eq!(pair.order(), [A, B]);
    let mut three = Room::discussion(3);
    assert_eq!(three.state(), TurnState::Shuffle);
    guide(&mut three);
    for agent in [A, B, C] {
        assert_eq!(three.speaker(), Some(agent));
        three.speaks(agent);
    }
    assert!(three.members().causes().contains(&Cause::Reshuffled));
    assert_ne!(three.order()[0], C);
}

/// R146, R127
#[test]
fn on_dormancy_the_initiator_is_reminded_once() {
    let (mut room, step) = idle();
    let story =
        ["refreshing > dormant: all-passed", "dormant > dormant A: initiator-reminded", "remind A"];
    assert_eq!(step.all(), story);
    assert!(room.wait(secs(86_400)).asks().is_empty(), "once per entry");
}

/// R146
#[test]
fn the_reminder_has_the_words_of_the_seed() {
    let words = "Discussion is idle. Please summarize and call discussion-complete.";
    assert_eq!(dirigent_core::IDLE_REMINDER, words);
}

/// R146, D85
#[test]
fn reminders_are_at_least_ten_minutes_apart() {
    let (mut room, _) = idle();
    room.wait(secs(50));
    room.human("go on");
    room.all_pass();
    assert!(room.members().asks().is_empty(), "too soon");
    assert!(room.wait(secs(549)).asks().is_empty());
    let later = room.wait(secs(1));
    assert_eq!(later.asks(), ["remind A"], "ten minutes after the first");
    assert!(room.wait(secs(3_600)).asks().is_empty());
}

/// R146, D85
#[test]
fn a_reminder_held_back_is_dropped_when_the_channel_wakes() {
    let (mut room, _) = idle();
    room.human("go on");
    room.all_pass();
    room.members();
    room.human("go on again");
    room.members_or_nothing();
    room.start(A);
    let asks = room.wait(secs(599)).asks();
    assert!(!asks.contains(&"remind A".to_owned()), "{asks:?}");
}

/// R147, D50
#[test]
fn the_reminder_itself_wakes_nobody() {
    let (mut room, _) = idle();
    assert!(room.moderator(dirigent_core::IDLE_REMINDER).is_silent());
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R148, D84
#[test]
fn after_the_reminder_the_initiator_may_run_once() {
    let (mut room, _) = idle();
    assert_eq!(room.explain(A), Reason::InitiatorPermit);
    assert_eq!(room.gate(B).reason(), Reason::Dormant);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit);
    assert_eq!(room.phase(), PhaseKind::Dormant);
    let step = room.ends(A, Outcome::Pass);
    assert_eq!(step.causes(), [Cause::PermitUsed]);
    assert_eq!(room.gate(A).reason(), Reason::Dormant, "once");
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R148, D84
#[test]
fn what_the_initiator_says_in_its_permitted_run_wakes_the_channel() {
    let (mut room, _) = idle();
    room.gate(A);
    assert!(room.says(A, "one more question").asks().is_empty(), "it still runs");
    let step = room.ends(A, spoke("one more question"));
    assert_eq!(step.asks(), ["trigger A"]);
}

/// R148, D84
#[test]
fn what_the_initiator_says_after_its_permitted_run_wakes_the_channel() {
    let (mut room, _) = idle();
    room.wait(secs(31));
    room.gate(A);
    room.ends(A, spoke("one more question"));
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.says(A, "one more question").asks(), ["trigger A"]);
}

/// R148, D40
#[test]
fn only_the_permitted_run_uses_the_permit_up() {
    let (mut room, _) = idle();
    let stray = Some(room.fresh_run());
    assert_eq!(room.refusal(ended(A, stray, Outcome::Pass)), Refusal::StaleRun);
    room.gate(A);
    assert_eq!(room.refusal(ended(A, stray, Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.refusal(ended(B, None, Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.explain(A), Reason::InitiatorPermit);
}

/// R148, R084
#[test]
fn the_permit_ends_when_the_channel_wakes() {
    let (mut room, _) = idle();
    room.gate(A);
    let permitted = room.run_of(A);
    let step = room.human("I am back");
    assert_eq!(step.asks(), ["cancel the permitted run of A", "trigger A"]);
    assert_eq!(room.refusal(ended(A, Some(permitted), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.tell(gate(A, Some(permitted))).reason(), Reason::RunAlreadyEnded);
}

/// R148, D64
#[test]
fn a_permitted_run_that_never_ends_is_cancelled() {
    let (mut room, _) = idle();
    room.gate(A);
    assert!(room.wait(secs(599)).asks().is_empty());
    let asks = room.wait(secs(1)).asks();
    assert_eq!(asks, ["cancel the permitted run of A"]);
    assert_eq!(room.explain(A), Reason::Dormant);
}

/// R146, R148, D84
#[test]
fn when_the_initiator_has_left_the_callback_channel_is_reminded() {
    let mut room = Room::discussion(3);
    guide(&mut room);
    room.leaves(A);
    room.all_pass();
    let step = room.members();
    assert_eq!(step.asks(), ["remind A in the callback channel"]);
    assert_ne!(room.explain(A), Reason::InitiatorPermit, "it is not here to run");
}

/// R037, D86
#[test]
fn a_discussion_with_one_agent_is_disabled_and_reminds_nobody() {
    let mut room = Room::discussion(1);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert!(room.wait(secs(86_400)).is_silent());
    room.tell(Input::Conclude { by: A });
    assert_eq!(room.phase(), PhaseKind::Archived);
}

/// R153, D17
#[test]
fn concluding_archives_at_once_also_in_the_middle_of_a_turn() {
    let mut room = Room::discussion(2);
    guide(&mut room);
    room.passes(A);
    room.start(B);
    let step = room.tell(Input::Conclude { by: A });
    let story = ["running > archived A: concluded", "cancel the run of B"];
    let (mut all, mut expected) = (step.all(), story.map(str::to_owned).to_vec());
    all.sort();
    expected.sort();
    assert_eq!(all, expected);
    assert_eq!(room.state(), TurnState::Archived);
    assert_eq!(room.refusal(ended(B, Some(room.run_of(B)), spoke("late"))), Refusal::Archived);
}

/// R153
#[test]
fn concluding_needs_a_discussion_and_its_initiator() {
    let mut room = Room::discussion(2);
    assert_eq!(room.refusal(Input::Conclude { by: B }), Refusal::NotTheInitiator);
    room.tell(Input::Conclude { by: A });
    assert_eq!(room.refusal(Input::Conclude { by: A }), Refusal::AlreadyConcluded);
    assert_eq!(room.refusal(Input::Conclude { by: B }), Refusal::AlreadyConcluded);
    let mut chat = Room::chat(2);
    assert_eq!(chat.refusal(Input::Conclude { by: A }), Refusal::NotADiscussion);
    let mut archived = Room::discussion(2);
    archived.tell(Input::Archive);
    assert_eq!(archived.refusal(Input::Conclude { by: A }), Refusal::Archived);
}

/// R156, D90
#[test]
fn the_result_wakes_the_callback_channel_with_the_initiator() {
    let mut callback = Room::chat(3);
    let result = Input::Wake { first: Some(B), cause: WakeCause::Result };
    let step = callback.tell(result);
    assert_eq!(step.all().last(), Some(&"trigger B".to_owned()));
    assert_eq!(callback.speaker(), Some(B));
    assert!(step.causes().contains(&Cause::ResultPosted));
}

/// R148, F02
#[test]
fn the_permit_survives_messages_that_wake_nobody() {
    let (mut room, _) = idle();
    room.moderator("the reminder");
    room.system(Author::Human);
    room.post(Author::Bot, MessageKind::Conversation, "beep");
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit);
}
