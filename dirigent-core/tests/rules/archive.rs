//! Closed for good.

use crate::room::{A, B, Room, STRANGER, ended, message, millis, secs, spoke};
use dirigent_core::{
    Author, Input, MessageKind, Mode, Notice, Outcome, PhaseKind, Reason, Refusal, TurnState,
    WakeCause,
};

fn archived() -> Room {
    let mut room = Room::chat(2);
    room.tell(Input::Archive);
    room
}

fn concluded() -> Room {
    let mut room = Room::discussion(2);
    room.tell(Input::Conclude { by: A });
    room
}

/// R072, R038
#[test]
fn an_archived_channel_denies_everybody() {
    for mut room in [archived(), concluded()] {
        for agent in [A, B, STRANGER] {
            assert_eq!(room.gate(agent).reason(), Reason::Archived);
            assert_eq!(room.explain(agent), Reason::Archived);
        }
    }
}

/// R073, R155, D27
#[test]
fn the_notices_have_the_words_of_the_seed() {
    assert_eq!(Notice::Archived.text(), "This channel is archived and no longer active.");
    assert_eq!(Notice::Closed.text(), "This discussion is closed.");
}

/// R073, D27, D28
#[test]
fn every_human_message_draws_one_notice() {
    let mut room = archived();
    for _ in 0..3 {
        assert_eq!(room.human("is anybody here?").all(), ["notice archived"]);
    }
}

/// R073, D78
#[test]
fn a_repeated_event_draws_no_second_notice() {
    let mut room = archived();
    room.human("hello");
    for _ in 0..5 {
        let again = message(room.message, Author::Human, MessageKind::Conversation, "hello");
        assert_eq!(room.refusal(again), Refusal::RepeatedMessage);
    }
}

/// R155, D27
#[test]
fn a_concluded_discussion_says_that_it_is_closed() {
    let mut room = concluded();
    assert_eq!(room.human("one more thing").all(), ["notice closed"]);
    let mut by_operator = Room::discussion(2);
    by_operator.tell(Input::Archive);
    assert_eq!(by_operator.human("one more thing").all(), ["notice archived"]);
}

/// R074, R073, D28, F03
#[test]
fn moderator_and_system_messages_draw_no_notice() {
    let mut room = archived();
    assert!(room.moderator(Notice::Archived.text()).is_silent());
    for author in [Author::Human, Author::Agent(A), Author::Bot, Author::Moderator] {
        assert!(room.system(author).is_silent());
    }
    assert!(room.edit(1_001, Author::Human, "corrected").is_silent());
}

/// R073, D28
#[test]
fn agents_and_bots_together_draw_a_notice_a_minute() {
    let mut room = archived();
    assert_eq!(room.says(A, "hello?").all(), ["notice archived"]);
    assert!(room.says(B, "hello?").is_silent());
    assert!(room.bot("beep").is_silent());
    assert_eq!(room.human("hello").all(), ["notice archived"], "people are always answered");
    room.wait(millis(59_999));
    assert!(room.bot("beep").is_silent());
    room.wait(millis(1));
    assert_eq!(room.bot("beep").all(), ["notice archived"]);
}

/// R073, D29
#[test]
fn the_last_words_of_who_was_running_are_left_alone_for_a_while() {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.passes(A);
    room.start(B);
    room.tell(Input::Conclude { by: A });
    assert!(room.says(A, "I have closed the discussion.").is_silent());
    assert!(room.says(B, "wait, I was about to").is_silent());
    assert_eq!(room.says(STRANGER, "and I?").all(), ["notice closed"]);
    room.wait(secs(60));
    assert_eq!(room.says(A, "late").all(), ["notice closed"]);
}

/// R073, D29
#[test]
fn the_farewell_lasts_fifteen_seconds() {
    for (wait, asks) in [(14_999, Vec::new()), (15_000, vec!["notice closed".to_owned()])] {
        let mut room = concluded();
        room.wait(millis(wait));
        assert_eq!(room.says(A, "closed").asks(), asks, "after {wait} ms");
    }
}

/// R075, D26
#[test]
fn nothing_leaves_the_archive() {
    for mut room in [archived(), concluded()] {
        let locked = |room: &mut Room, mode| room.refusal(Input::SetMode(mode));
        for mode in Mode::ALL {
            assert_eq!(locked(&mut room, mode), Refusal::Archived);
        }
        let wake = Input::Wake { first: None, cause: WakeCause::Operator };
        assert_eq!(room.refusal(wake), Refusal::Archived);
        assert_eq!(room.refusal(Input::Archive), Refusal::Archived);
        for rest in [Input::Stop, Input::Hold] {
            assert_eq!(room.refusal(rest), Refusal::Archived);
        }
        assert!(room.give(Input::Resume).answer.is_err());
        assert_eq!(room.refusal(ended(A, None, Outcome::Pass)), Refusal::Archived);
        assert!(room.joins(B).is_silent());
        assert!(room.leaves(A).is_silent());
        room.human("wake up");
        room.post(Author::Human, MessageKind::ResumeWord, "resume");
        room.post(Author::Human, MessageKind::StopWord, "stop");
        room.wait(secs(86_400));
        assert_eq!(room.phase(), PhaseKind::Archived);
        assert_eq!(room.state(), TurnState::Archived);
        assert_eq!(room.triggers(), 0);
    }
}

/// R075, R072
#[test]
fn archiving_ends_whatever_was_under_way() {
    let mut granted = Room::chat(2);
    granted.human("hello");
    granted.tell(Input::Archive);
    let mut running = Room::chat(2);
    running.human("hello");
    running.start(A);
    assert!(running.tell(Input::Archive).asks().contains(&"cancel the run of A".to_owned()));
    let mut confirming = Room::chat(2);
    confirming.human("hello");
    confirming.talks(A, "on its way");
    confirming.tell(Input::Archive);
    let mut refreshing = Room::chat(2);
    refreshing.human("hello");
    refreshing.all_pass();
    refreshing.tell(Input::Archive);
    let late = Input::Members { ticket: refreshing.fetch.unwrap(), agents: vec![A, B] };
    assert!(refreshing.give(late).answer.is_err());
    let mut stopped = Room::chat(2);
    stopped.tell(Input::Stop);
    stopped.tell(Input::Archive);
    for mut room in [granted, running, confirming, refreshing, stopped] {
        assert_eq!(room.gate(A).reason(), Reason::Archived);
        assert!(room.wait(secs(3_600)).is_silent());
        assert_eq!(room.speaker(), None);
        assert_eq!(room.channel.view().pause(), None);
    }
}

/// R075
#[test]
fn a_channel_of_any_mode_can_be_archived() {
    for mode in [Mode::None, Mode::Report, Mode::Chat] {
        let mut room = Room::unknown();
        room.tell(Input::SetMode(mode));
        room.tell(Input::Archive);
        assert_eq!(room.state(), TurnState::Archived);
        assert_eq!(room.gate(A).reason(), Reason::Archived);
        assert_eq!(room.human("hello").all(), ["notice archived"]);
    }
}

/// R153, R148
#[test]
fn a_permitted_run_that_concludes_is_the_last_one() {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    room.members();
    room.gate(A);
    room.tell(Input::Conclude { by: A });
    assert_eq!(room.refusal(ended(A, Some(room.run_of(A)), spoke("done"))), Refusal::Archived);
    assert!(room.says(A, "I have closed the discussion.").is_silent());
}
