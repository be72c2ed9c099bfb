//! A discussion: its guide, its idle reminder, and its initiator's one run.

use crate::room::{A, B, C, Room, ended, gate, secs, spoke};
use dirigent_core::{
    Author, Cause, Config, DeadlineReason, Input, MessageKind, Outcome, PhaseKind, Reason, Refusal,
    TurnState, WakeCause,
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
    assert_eq!(dirigent_core::text::IDLE_REMINDER, words);
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
    assert!(room.moderator(dirigent_core::text::IDLE_REMINDER).is_silent());
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

/// A discussion of two that speaks until a ceiling is reached, and when that was.
fn at_its_end(change: impl FnOnce(&mut Config)) -> Room {
    let mut room = Room::discussion_with(2, change);
    guide(&mut room);
    while room.phase() != PhaseKind::Dormant {
        let speaker = room.speaker().unwrap();
        room.speaks(speaker);
        if room.phase() == PhaseKind::Refreshing {
            room.members();
        }
    }
    room
}

/// F28
#[test]
fn a_discussion_may_have_fewer_rounds_than_a_chat_or_more() {
    let mut room = at_its_end(|config| config.ceilings.discussion.cycles = Some(2));
    assert_eq!(room.grants(), 4);
    assert_eq!(room.gate(B).reason(), Reason::CeilingReached);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit, "it was reminded early");
    let mut wider = at_its_end(|config| {
        config.ceilings.discussion.cycles = Some(3);
        config.ceilings.chat.cycles = Some(1);
    });
    assert_eq!(wider.grants(), 6, "or more");
    assert_eq!(wider.gate(A).reason(), Reason::InitiatorPermit);
    let mut chat = Room::chat_with(2, |config| config.ceilings.discussion.cycles = Some(1));
    chat.human("hello");
    chat.speaks(A);
    chat.speaks(B);
    chat.members();
    assert_eq!(chat.speaker(), Some(A), "a chat is no discussion");
}

/// F28
#[test]
fn when_its_time_is_up_a_discussion_grants_no_further_turn() {
    let mut room = Room::discussion_with(2, |config| {
        config.ceilings.discussion_time = Some(secs(300));
    });
    let began = room.now;
    guide(&mut room);
    assert_eq!(room.channel.view().time_up(), Some(began + secs(300)));
    room.start(A);
    room.wait(secs(299));
    assert_eq!(room.phase(), PhaseKind::Running, "a turn under way is not cut short");
    room.wait(secs(1));
    assert_eq!(room.phase(), PhaseKind::Running);
    let step = room.ends(A, Outcome::Pass);
    let mut asks = step.asks();
    asks.sort();
    assert_eq!(asks, ["notice ceiling", "remind A"]);
    assert!(step.causes().contains(&Cause::CeilingReached));
    assert_eq!(room.gate(B).reason(), Reason::CeilingReached);
    let step = room.human("go on");
    assert!(step.causes().contains(&Cause::CeilingReset));
    assert_eq!(room.channel.view().time_up(), Some(room.now + secs(300)));
}

/// F28
#[test]
fn the_time_of_a_discussion_begins_anew_with_a_humans_word() {
    let mut room = Room::discussion_with(2, |config| {
        config.ceilings.discussion_time = Some(secs(300));
    });
    guide(&mut room);
    room.start(A);
    room.wait(secs(200));
    room.human("take your time");
    room.wait(secs(299));
    room.ends(A, Outcome::Pass);
    assert_eq!(room.speaker(), Some(B));
}

/// F28
#[test]
fn a_discussion_nobody_concludes_is_archived_where_that_is_wanted() {
    let change = |config: &mut Config| {
        config.ceilings.discussion.cycles = Some(1);
        config.discussion.overdue_archive_after = Some(secs(900));
    };
    let mut room = at_its_end(change);
    assert!(room.wait(secs(899)).causes().is_empty());
    let step = room.wait(secs(1));
    assert_eq!(step.all(), ["dormant > archived: overdue"]);
    assert_eq!(room.state(), TurnState::Archived);
    assert!(!room.channel.view().is_concluded());
    assert_eq!(room.human("hello?").asks(), ["notice archived"]);
    let patient = at_its_end(|config| config.ceilings.discussion.cycles = Some(1));
    assert_eq!(patient.channel.next_deadline().map(|due| due.reason), Some(DeadlineReason::Forget));
}

/// F28
#[test]
fn an_overdue_discussion_waits_for_its_initiator_and_for_operators() {
    let change = |config: &mut Config| {
        config.ceilings.discussion.cycles = Some(1);
        config.discussion.overdue_archive_after = Some(secs(900));
        config.deadlines.run = None;
    };
    let mut room = at_its_end(change);
    room.gate(A);
    assert!(room.wait(secs(5_000)).causes().is_empty(), "it is writing the summary");
    room.ends(A, Outcome::Pass);
    room.wait(secs(899));
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.tell(Input::Hold);
    room.wait(secs(5_000));
    assert_eq!(room.phase(), PhaseKind::Dormant, "an operator keeps it");
    assert_eq!(room.tell(Input::Resume).causes(), [Cause::Resumed], "its time begins anew");
    assert!(!room.wait(secs(899)).causes().contains(&Cause::Overdue));
    assert_eq!(room.wait(secs(1)).causes().last(), Some(&Cause::Overdue));
}

/// F28
#[test]
fn a_discussion_that_fell_silent_is_overdue_only_when_its_time_is_up() {
    let mut room = Room::discussion_with(2, |config| {
        config.ceilings.discussion_time = Some(secs(3_600));
        config.discussion.overdue_archive_after = Some(secs(60));
        config.members.forget_after = secs(100_000);
    });
    let began = room.now;
    guide(&mut room);
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    let due = room.channel.next_deadline().unwrap();
    assert_eq!((due.at, due.reason), (began + secs(3_660), DeadlineReason::Overdue));
}

/// R148, D40
#[test]
fn a_permitted_run_without_a_name_ends_with_any_run_that_was_not_denied() {
    let (mut room, _) = idle();
    let denied = room.fresh_run();
    assert_eq!(room.gate_run(B, denied).reason(), Reason::Dormant);
    assert_eq!(room.tell(gate(A, None)).reason(), Reason::InitiatorPermit);
    assert_eq!(room.refusal(ended(A, Some(denied), Outcome::Pass)), Refusal::StaleRun);
    let mut unnamed = room.clone();
    let step = unnamed.tell(ended(A, None, Outcome::Pass));
    assert_eq!(step.causes(), [Cause::PermitUsed]);
    let late = Some(room.fresh_run());
    assert_eq!(room.tell(ended(A, late, Outcome::Pass)).causes(), [Cause::PermitUsed]);
    assert_eq!(room.refusal(ended(A, late, Outcome::Pass)), Refusal::StaleRun, "once");
}

/// R146, D85, F28
#[test]
fn at_a_ceiling_the_initiator_is_reminded_before_the_room_is_told_each_time() {
    let mut room = Room::discussion_with(2, |config| config.ceilings.discussion.cycles = Some(1));
    guide(&mut room);
    for _ in 0..2 {
        room.speaks(A);
        room.start(B);
        room.wait(secs(590));
        room.ends(B, Outcome::Pass);
        assert_eq!(room.members().asks(), ["remind A", "notice ceiling"]);
        room.wait(secs(10));
        room.human("and what about the other half?");
        room.members_or_nothing();
    }
}
