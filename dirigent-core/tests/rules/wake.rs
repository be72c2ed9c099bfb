//! What wakes a dormant channel, and what does not.

use crate::room::{A, B, C, Room, STRANGER, secs};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Author, Cause, Input, MessageKind, Outcome, PhaseKind, Reason, Refusal, Tail, WakeCause,
};

fn wake(first: Option<dirigent_core::AgentKey>, cause: WakeCause) -> Input {
    Input::Wake { first, cause }
}

/// R128, D18
#[test]
fn a_person_wakes_the_first_of_the_list() {
    let mut room = Room::chat(3);
    let step = room.human("hello");
    assert_eq!(step.all(), ["dormant > granted A: human-message", "trigger A"]);
    let (posted, step) = room.trigger_posted();
    assert_eq!(step.all(), [format!("delete {posted}")]);
    assert_eq!(room.turns(), [SeatTurn::Ahead; 3]);
}

/// R129, D71
#[test]
fn an_agent_that_speaks_by_its_own_tool_wakes_the_first_too() {
    for author in [A, C, STRANGER] {
        let mut room = Room::chat(3);
        let step = room.says(author, "something happened");
        assert_eq!(step.all(), ["dormant > granted A: agent-message", "trigger A"]);
    }
}

/// R130, F03, D50, D70
#[test]
fn moderator_system_messages_and_edits_wake_nobody() {
    let mut room = Room::chat(2);
    assert!(room.moderator("a notice").is_silent());
    for author in [Author::Human, Author::Agent(A), Author::Bot, Author::Moderator] {
        assert!(room.system(author).is_silent());
        assert!(room.edit(1_000, author, "corrected").is_silent());
    }
    for kind in [MessageKind::StopWord, MessageKind::ResumeWord] {
        assert!(room.post(Author::Moderator, kind, "stop").is_silent());
    }
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.triggers(), 0);
}

/// R130, D70
#[test]
fn other_bots_wake_only_where_they_qualify() {
    let mut room = Room::chat(2);
    assert!(room.bot("beep").is_silent());
    let mut room = Room::chat_with(2, |config| config.people.bots_qualify = true);
    assert_eq!(room.bot("beep").all(), ["dormant > granted A: bot-message", "trigger A"]);
}

/// R116, D59
#[test]
fn the_late_words_of_a_lost_reply_do_not_wake() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "lost");
    room.wait(secs(15));
    room.passes(B);
    room.members();
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(room.says(A, "lost").is_silent(), "although A has passed since");
    room.wait(secs(30));
    assert_eq!(room.says(A, "something new").asks(), ["trigger A"]);
    assert_eq!(room.phase(), PhaseKind::Granted);
}

/// R129, D59
#[test]
fn an_agent_that_passed_may_wake_the_channel_right_away() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.all_pass();
    room.members();
    assert_eq!(room.says(B, "now I do know something").asks(), ["trigger A"]);
}

/// R128, D69
#[test]
fn an_old_list_is_read_again_before_anybody_is_woken() {
    let mut room = Room::chat(2);
    room.wait(secs(61));
    let step = room.human("hello");
    assert_eq!(step.all(), ["dormant > refreshing: human-message", "fetch members"]);
    assert_eq!(room.gate(A).reason(), Reason::Refreshing);
    room.present = vec![B, C];
    assert_eq!(room.members().asks(), ["trigger B"]);
    assert_eq!(room.order(), [B, C]);
}

/// R128, D69
#[test]
fn a_fresh_list_is_used_at_once() {
    let mut room = Room::chat(2);
    room.wait(secs(59));
    assert_eq!(room.human("hello").asks(), ["trigger A"]);
}

/// R128, D69, D35
#[test]
fn when_the_list_cannot_be_read_the_old_one_wakes() {
    let mut room = Room::chat(2);
    room.wait(secs(61));
    room.human("hello");
    assert_eq!(room.members_fail().asks(), ["trigger A"]);
    let mut room = Room::chat(2);
    room.wait(secs(61));
    room.human("hello");
    assert_eq!(room.wait(secs(10)).asks(), ["trigger A"]);
}

/// R128, D69
#[test]
fn waking_does_not_reshuffle() {
    let mut room = Room::chat(5);
    let order = room.order();
    for _ in 0..4 {
        room.human("hello");
        assert_eq!(room.order(), order);
        room.all_pass();
        room.members();
        room.wait(secs(100));
        room.human("hello");
        room.members();
        assert_eq!(room.order(), order);
        room.all_pass();
        room.members();
    }
}

/// R131
#[test]
fn a_woken_channel_falls_asleep_again() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.all_pass();
    room.members();
    room.human("anybody?");
    room.passes(A);
    room.passes(B);
    assert_eq!(room.members().all(), ["refreshing > dormant: all-passed"]);
    assert_eq!(room.triggers(), 4);
    assert_eq!(room.grants(), 4);
}

/// F03
#[test]
fn system_messages_neither_wake_nor_veto_nor_reset() {
    let mut room = Room::chat(2);
    room.human("hello");
    let turns = room.channel.view().turns_since_human();
    room.passes(A);
    for author in [Author::Human, Author::Agent(B), Author::Agent(A), Author::Bot] {
        assert!(room.system(author).is_silent());
    }
    assert_eq!(room.channel.view().turns_since_human(), turns + 1, "only the grant counted");
    room.passes(B);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert!(room.system(Author::Human).is_silent());
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R128, R144, D83
#[test]
fn a_host_may_wake_the_channel_without_a_message() {
    let causes = [
        (WakeCause::Operator, "operator-wake"),
        (WakeCause::Guide, "guide-posted"),
        (WakeCause::Result, "result-posted"),
    ];
    for (cause, name) in causes {
        let mut room = Room::chat(2);
        let step = room.tell(wake(None, cause));
        assert_eq!(step.all(), [format!("dormant > granted A: {name}"), "trigger A".to_owned()]);
    }
}

/// R156, D90
#[test]
fn a_wake_may_start_with_a_listed_agent() {
    let mut room = Room::chat(3);
    assert_eq!(room.tell(wake(Some(B), WakeCause::Result)).asks(), ["trigger B"]);
    assert_eq!(room.seat(A).turn, SeatTurn::Skipped);
    room.passes(B);
    room.passes(C);
    assert!(room.members().asks()[0].starts_with("trigger "), "A has not had its say yet");
    let mut room = Room::chat(3);
    assert_eq!(room.tell(wake(Some(STRANGER), WakeCause::Result)).asks(), ["trigger A"]);
}

/// R128
#[test]
fn an_awake_channel_is_not_woken_again_but_stays_awake() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    assert!(room.tell(wake(Some(B), WakeCause::Operator)).asks().is_empty());
    assert_eq!(room.speaker(), Some(A));
    room.ends(A, Outcome::Pass);
    room.passes(B);
    assert_eq!(room.members().asks(), ["trigger A"], "the wake is not lost");
}

/// R028, R064
#[test]
fn only_a_channel_that_keeps_turns_can_be_woken() {
    let mut room = Room::unknown();
    assert_eq!(room.refusal(wake(None, WakeCause::Operator)), Refusal::NotManaged);
    room.tell(Input::SetMode(dirigent_core::Mode::Report));
    assert_eq!(room.refusal(wake(None, WakeCause::Operator)), Refusal::NotManaged);
}

/// R128, F10, F12
#[test]
fn a_wake_that_begins_with_a_skip_says_first_why_it_woke() {
    let mut room = Room::chat(3);
    room.tell(Input::Mute(A));
    let step = room.human("hello");
    assert_eq!(
        step.all(),
        [
            "dormant > dormant: human-message",
            "dormant > dormant A: agent-muted",
            "dormant > granted B: next-in-list",
            "trigger B",
        ]
    );
}

/// R144, D86
#[test]
fn a_discussion_made_while_one_agent_is_there_begins_when_the_second_joins() {
    let mut room = Room::discussion(1);
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert_eq!(room.tell(wake(None, WakeCause::Guide)).asks(), ["fetch members"]);
    assert!(room.channel.view().is_wake_pending());
    room.members();
    assert_eq!(room.phase(), PhaseKind::Disabled);
    assert_eq!(room.joins(B).asks(), ["fetch members"]);
    assert_eq!(room.members().asks(), ["trigger A"]);
}

/// R144, F04
#[test]
fn a_discussion_stopped_before_its_guide_begins_when_it_is_resumed() {
    for rest in [Input::Stop, Input::Finish, Input::Hold] {
        let mut room = Room::discussion(2);
        room.tell(rest.clone());
        assert!(room.tell(wake(None, WakeCause::Guide)).asks().is_empty(), "{rest:?}");
        assert_eq!(room.tell(Input::Resume).asks(), ["trigger A"], "{rest:?}");
    }
}

/// R156, F04
#[test]
fn a_result_that_comes_while_the_channel_is_stopped_wakes_it_at_the_resume() {
    let mut room = Room::chat(2);
    room.tell(Input::Stop);
    assert!(room.tell(wake(Some(B), WakeCause::Result)).is_silent());
    assert_eq!(room.tell(Input::Resume).asks(), ["trigger A"]);
}

/// R028, F04
#[test]
fn an_operators_wake_is_refused_where_it_cannot_be_done_now() {
    let mut room = Room::chat(2);
    room.tell(Input::Stop);
    assert_eq!(room.refusal(wake(None, WakeCause::Operator)), Refusal::Stopped);
    let mut alone = Room::chat(1);
    assert_eq!(alone.refusal(wake(None, WakeCause::Operator)), Refusal::NotManaged);
    let mut report = Room::unknown();
    report.tell(Input::SetMode(dirigent_core::Mode::Report));
    report.tell(Input::Stop);
    assert_eq!(
        report.refusal(wake(None, WakeCause::Result)),
        Refusal::Stopped,
        "no turns are kept"
    );
}

/// WD12
#[test]
fn a_wake_of_the_hosts_own_lifts_no_ceiling_and_is_told_as_no_operators() {
    let wake = |cause| Input::Wake { first: None, cause };
    for cause in [WakeCause::Guide, WakeCause::Result, WakeCause::Unheard] {
        let mut room = Room::chat_with(2, |config| config.ceilings.chat.turns = Some(3));
        room.human("hello");
        room.all_pass();
        room.members();
        assert_eq!(room.channel.view().turns_since_human(), 2);
        let step = room.tell(wake(cause));
        assert!(!step.causes().contains(&Cause::OperatorWake), "{cause:?}");
        assert_eq!(room.channel.view().turns_since_human(), 3, "{cause:?} is no human's word");
        room.passes(A);
        assert_eq!(room.phase(), PhaseKind::Dormant);
        assert_eq!(room.refusal(wake(cause)), Refusal::CeilingReached, "{cause:?}");
    }
}

/// WD12: it is a person's word that waits, so it ends the wait for one, and outlasts a stop.
#[test]
fn a_wake_for_a_word_that_no_agent_heard_is_as_that_word_but_for_the_ceilings() {
    let wake = |cause| Input::Wake { first: None, cause };
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.ends(A, Outcome::AwaitsHuman { tail: Tail::of("well?") });
    room.wait(secs(15));
    assert!(room.channel.view().awaits_human());
    assert_eq!(room.refusal(wake(WakeCause::Guide)), Refusal::AwaitingHuman);
    let mut stopped = room.clone();
    room.tell(wake(WakeCause::Unheard));
    assert_eq!((room.speaker(), room.channel.view().awaits_human()), (Some(A), false));
    stopped.tell(Input::Stop);
    stopped.tell(wake(WakeCause::Unheard));
    assert!(stopped.channel.view().is_wake_pending());
    stopped.tell(Input::Resume);
    assert_eq!(stopped.speaker(), Some(A));
}
