//! Stop, hold, resume and mute: what people can do to a channel.

use crate::room::{A, B, C, D, Room, STRANGER, agents, ended, secs, spoke};
use dirigent_core::view::{Pause, SeatTurn};
use dirigent_core::{
    Author, Cause, Effect, Input, MessageId, MessageKind, Mode, Outcome, PhaseKind, Reason,
    Refusal, WakeCause,
};

/// F04
#[test]
fn a_stop_denies_everybody_at_once() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    let step = room.tell(Input::Stop);
    assert_eq!(step.asks(), ["cancel the run of A"]);
    assert_eq!(step.causes(), [Cause::Stopped]);
    for agent in [A, B, C, STRANGER] {
        assert_eq!(room.gate(agent).reason(), Reason::Stopped);
    }
    assert_eq!(room.speaker(), None);
    assert_eq!(room.refusal(ended(A, None, Outcome::Pass)), Refusal::StaleRun);
}

/// F04
#[test]
fn a_stop_cancels_every_wait_and_stays() {
    let mut waiting = Room::chat(2);
    waiting.human("hello");
    waiting.talks(A, "on its way");
    let mut reading = Room::chat(2);
    reading.human("hello");
    reading.all_pass();
    let mut granted = Room::chat(2);
    granted.human("hello");
    for mut room in [waiting, reading, granted] {
        room.tell(Input::Stop);
        assert!(room.wait(secs(3_600)).asks().is_empty());
        assert!(room.says(A, "on its way").asks().is_empty());
        assert!(room.human("hello").asks().is_empty());
        let wake = Input::Wake { first: None, cause: WakeCause::Operator };
        assert_eq!(room.refusal(wake), Refusal::Stopped);
        assert_eq!(room.gate(A).reason(), Reason::Stopped);
        assert_eq!(room.channel.view().pause(), Some(Pause::Stopped));
    }
}

/// F04
#[test]
fn a_person_stops_and_resumes_with_a_word() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.trigger_posted();
    room.start(A);
    let step = room.post(Author::Human, MessageKind::StopWord, "stop");
    assert_eq!(step.asks(), ["cancel the run of A", "notice stopped, to 1003"]);
    assert_eq!(room.gate(B).reason(), Reason::Stopped);
    let resumed = room.post(Author::Human, MessageKind::ResumeWord, "resume");
    assert_eq!(resumed.causes(), [Cause::Resumed, Cause::Resumed]);
    assert_eq!(resumed.asks(), ["notice resumed, to 1004", "trigger A"], "A had not finished");
    assert_eq!(room.phase(), PhaseKind::Granted);
}

/// WD6
#[test]
fn a_conversation_goes_on_after_a_stop_where_it_was_cut() {
    let resumed = |mut room: Room| {
        room.post(Author::Human, MessageKind::StopWord, "stop");
        room.wait(secs(5));
        room.post(Author::Human, MessageKind::ResumeWord, "resume");
        (room.speaker(), room.order())
    };
    let at_b = |room: &mut Room| {
        room.human("hello");
        room.passes(A);
        room.trigger_posted();
    };
    let from_b = (Some(B), vec![B, C, A]);
    let mut granted = Room::chat(3);
    at_b(&mut granted);
    assert_eq!(resumed(granted.clone()), from_b, "B had not started");
    granted.start(B);
    assert_eq!(resumed(granted.clone()), from_b, "B had not finished");
    let run = Some(granted.run_of(B));
    let mut delivering = granted.clone();
    delivering.tell(Input::Replied { agent: B, run, next: None });
    assert_eq!(resumed(delivering), from_b, "its reply was on its way, and is handed back");
    granted.ends(B, spoke("a reply that arrives"));
    assert_eq!(granted.phase(), PhaseKind::Confirming);
    assert_eq!(resumed(granted), (Some(C), vec![C, A, B]), "B had finished");
}

/// WD6: between two turns it is cut only if another cycle would have followed.
#[test]
fn a_stop_while_the_list_is_read_cuts_what_would_have_followed() {
    let stopped = |mut room: Room| {
        assert_eq!(room.phase(), PhaseKind::Refreshing);
        room.post(Author::Human, MessageKind::StopWord, "stop");
        let step = room.post(Author::Human, MessageKind::ResumeWord, "resume");
        (room.phase() != PhaseKind::Dormant, step.asks()[0].clone())
    };
    let mut waking = Room::chat_with(2, |config| config.members.list_fresh = secs(0));
    waking.wait(secs(1));
    waking.human("hello");
    assert!(stopped(waking).0, "somebody is owed an answer");
    let mut answered = Room::chat(2);
    answered.human("hello");
    answered.passes(A);
    answered.speaks(B);
    let mut requested = Room::chat(2);
    requested.human("hello");
    requested.all_pass();
    requested.human("anybody?");
    for going_on in [answered, requested] {
        let (wakes, notice) = stopped(going_on);
        assert!(wakes && notice.starts_with("notice resumed, "), "{notice}");
    }
    let mut over = Room::chat(2);
    over.human("hello");
    over.all_pass();
    let (wakes, notice) = stopped(over);
    assert!(!wakes && notice.starts_with("notice resumed-idle, "), "{notice}");
}

/// WD6
#[test]
fn a_resume_with_nothing_to_go_on_with_says_what_is_needed() {
    let notice = |mut room: Room| {
        let step = room.post(Author::Human, MessageKind::ResumeWord, "resume");
        step.asks().iter().map(|ask| ask.split(',').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let idle = |pause: Input| {
        let mut room = Room::chat(2);
        room.human("hello");
        room.all_pass();
        room.members();
        room.tell(pause);
        room
    };
    for pause in [Input::Stop, Input::Finish, Input::Hold] {
        assert_eq!(notice(idle(pause)), ["notice resumed-idle"]);
    }
    let mut asked = idle(Input::Stop);
    asked.human("are you there?");
    assert_eq!(notice(asked), ["notice resumed", "trigger A"]);
    let mut held = Room::chat(2);
    held.human("hello");
    held.start(A);
    held.tell(Input::Hold);
    assert_eq!(notice(held), ["notice resumed"], "A runs on");
}

/// WD6: where a budget is spent a message would not help.
#[test]
fn a_resume_where_a_budget_is_spent_says_so_once_more() {
    let mut room = Room::chat_with(2, |config| config.budget.turns = Some(1));
    room.human("hello");
    let spent = room.passes(A);
    assert!(spent.asks().contains(&"Budget".to_owned()), "{:?}", spent.asks());
    room.post(Author::Human, MessageKind::StopWord, "stop");
    let asks = room.post(Author::Human, MessageKind::ResumeWord, "resume").asks();
    assert!(asks.len() == 2 && asks[0].starts_with("notice resumed, "), "{asks:?}");
    assert_eq!(asks[1], "Budget");
}

/// WD7
#[test]
fn a_resume_word_where_nothing_is_paused_is_an_ordinary_word_each_time() {
    let mut room = Room::chat(2);
    for _ in 0..2 {
        let step = room.post(Author::Human, MessageKind::ResumeWord, "resume");
        assert_eq!((step.causes(), room.speaker()), (vec![Cause::HumanMessage], Some(A)));
        let mut during = room.clone();
        let step = during.post(Author::Human, MessageKind::ResumeWord, "resume");
        assert!(step.asks()[0].starts_with("inject"), "{:?}", step.asks());
        room.all_pass();
        room.members();
    }
}

/// F04
#[test]
fn agents_bots_and_the_moderator_cannot_stop_or_resume() {
    for author in [Author::Agent(B), Author::Bot, Author::Moderator] {
        let mut room = Room::chat(2);
        room.human("hello");
        room.post(author, MessageKind::StopWord, "stop");
        assert_eq!(room.channel.view().pause(), None, "{author:?}");
        room.tell(Input::Stop);
        room.post(author, MessageKind::ResumeWord, "resume");
        assert_eq!(room.channel.view().pause(), Some(Pause::Stopped), "{author:?}");
    }
}

/// F04
#[test]
fn a_resume_word_when_nothing_rests_is_conversation() {
    let mut room = Room::chat(2);
    assert_eq!(room.post(Author::Human, MessageKind::ResumeWord, "resume").asks(), ["trigger A"]);
}

/// F04
#[test]
fn what_was_said_during_a_stop_wakes_the_channel_at_the_resume() {
    let mut room = Room::chat(2);
    room.tell(Input::Stop);
    assert!(room.tell(Input::Resume).asks().is_empty());
    room.tell(Input::Stop);
    room.human("is anybody there?");
    assert_eq!(room.tell(Input::Resume).asks(), ["trigger A"]);
}

/// F04
#[test]
fn stopping_works_wherever_agents_could_be_woken() {
    let mut report = Room::unknown();
    report.tell(Input::SetMode(Mode::Report));
    report.tell(Input::Stop);
    assert_eq!(report.gate(A).reason(), Reason::Stopped);
    let mut unmanaged = Room::unknown();
    assert_eq!(unmanaged.refusal(Input::Stop), Refusal::NotManaged);
    let mut alone = Room::chat(1);
    alone.tell(Input::Stop);
    assert_eq!(alone.gate(A).reason(), Reason::Stopped, "nobody, also with one agent");
}

/// F04
#[test]
fn a_mode_change_does_not_lift_a_stop() {
    let mut room = Room::chat(2);
    room.tell(Input::Stop);
    for mode in [Mode::None, Mode::Report, Mode::Chat] {
        room.tell(Input::SetMode(mode));
        assert_eq!(room.gate(A).reason(), Reason::Stopped, "{mode}");
    }
}

/// F05
#[test]
fn a_hold_denies_and_keeps_the_order() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    let order = room.order();
    assert!(room.tell(Input::Hold).asks().is_empty());
    for agent in [A, B, C] {
        assert_eq!(room.gate(agent).reason(), Reason::Held);
    }
    assert!(room.wait(secs(3_600)).asks().is_empty(), "nobody is skipped meanwhile");
    let step = room.tell(Input::Resume);
    assert_eq!(step.asks(), ["trigger B"]);
    assert_eq!(room.order(), order);
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Ahead, SeatTurn::Ahead]);
    assert_eq!(room.gate(B).reason(), Reason::YourTurn);
}

/// F05
#[test]
fn what_runs_may_end_during_a_hold_and_the_next_waits() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.tell(Input::Hold);
    room.ends(A, spoke("a reply"));
    assert!(room.says(A, "a reply").asks().is_empty(), "no trigger while held");
    assert_eq!(room.speaker(), Some(B));
    assert!(room.human("and").asks().is_empty());
    assert!(room.human("another thing").asks().is_empty());
    assert_eq!(room.tell(Input::Resume).asks(), ["deliver 1003 to 1004 to B", "trigger B"]);
}

/// F05
#[test]
fn several_messages_of_a_person_can_be_written_in_peace() {
    let mut room = Room::chat(2);
    room.tell(Input::Hold);
    for part in ["first,", "second,", "third."] {
        assert!(room.human(part).asks().is_empty());
    }
    assert_eq!(room.tell(Input::Resume).asks(), ["deliver 1002 to 1003 to A", "trigger A"]);
}

/// F04, F05
#[test]
fn resting_twice_changes_nothing_and_resuming_needs_a_rest() {
    let mut room = Room::chat(2);
    assert_eq!(room.refusal(Input::Resume), Refusal::NotPaused);
    room.tell(Input::Hold);
    let held = room.snapshot();
    assert!(room.tell(Input::Hold).is_silent());
    assert_eq!(held, room.snapshot());
    room.tell(Input::Stop);
    assert_eq!(room.channel.view().pause(), Some(Pause::Stopped), "a stop is stronger");
    assert_eq!(room.refusal(Input::Hold), Refusal::Stopped);
    let stopped = room.snapshot();
    assert!(room.tell(Input::Stop).is_silent());
    assert_eq!(stopped, room.snapshot());
    room.tell(Input::Resume);
    assert_eq!(room.channel.view().pause(), None);
}

/// F08
#[test]
fn a_muted_agent_is_skipped() {
    let mut room = Room::chat(3);
    room.tell(Input::Mute(B));
    room.human("hello");
    assert_eq!(room.passes(A).asks(), ["trigger C"]);
    assert_eq!(room.seat(B).turn, SeatTurn::Skipped);
    assert_eq!(room.gate(B).reason(), Reason::Muted);
}

/// F08
#[test]
fn a_mute_lasts_until_it_is_lifted() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(A));
    for _ in 0..3 {
        room.human("hello");
        assert_eq!(room.speaker(), Some(B));
        room.passes(B);
        room.members();
    }
    assert!(room.tell(Input::Unmute(A)).asks().is_empty());
    assert_eq!(room.human("hello").asks(), ["trigger A"]);
}

/// F08
#[test]
fn muting_the_speaker_ends_its_turn() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    let step = room.tell(Input::Mute(A));
    assert_eq!(step.asks(), ["cancel the run of A", "trigger B"]);
    assert!(step.causes().contains(&Cause::AgentMuted));
    assert_eq!(room.seat(A).turn, SeatTurn::Skipped);
}

/// F08
#[test]
fn muting_twice_or_unmuting_the_unmuted_changes_nothing() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(B));
    let before = room.snapshot();
    assert!(room.tell(Input::Mute(B)).is_silent());
    assert!(room.tell(Input::Unmute(A)).is_silent());
    assert_eq!(before, room.snapshot());
    assert!(room.seat(B).muted && !room.seat(A).muted);
}

/// F08
#[test]
fn when_all_are_muted_the_channel_falls_asleep() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    assert_eq!(room.human("hello").asks(), ["fetch members"]);
    assert!(room.members().asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// F08
#[test]
fn somebody_can_be_muted_before_coming_in() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(D));
    room.human("hello");
    room.speaks(A);
    room.present.push(D);
    room.speaks(B);
    room.members();
    assert!(room.seat(D).muted);
    while let Some(agent) = room.speaker() {
        assert_ne!(agent, D);
        room.passes(agent);
    }
    for number in 5..68 {
        room.tell(Input::Mute(dirigent_core::AgentKey::new(number)));
    }
    assert_eq!(room.refusal(Input::Mute(STRANGER_TOO)), Refusal::TooManyAgents);
}

/// One more agent than can be muted.
const STRANGER_TOO: dirigent_core::AgentKey = dirigent_core::AgentKey::new(1_000);

/// F08
#[test]
fn the_permit_of_a_muted_initiator_is_gone() {
    let mut room = Room::discussion(2);
    room.human("hello");
    room.all_pass();
    room.members();
    assert_eq!(room.explain(A), Reason::InitiatorPermit);
    room.tell(Input::Mute(A));
    assert_eq!(room.explain(A), Reason::Muted);
    assert_eq!(room.order(), agents(2));
}

/// F04
#[test]
fn a_word_that_changes_nothing_is_not_acknowledged() {
    let mut room = Room::chat(2);
    let (stop, resume) = (MessageKind::StopWord, MessageKind::ResumeWord);
    assert_eq!(room.post(Author::Human, stop, "stop").asks(), ["notice stopped, to 1001"]);
    assert!(room.post(Author::Human, stop, "stop").asks().is_empty(), "stopped already");
    assert!(room.tell(Input::Resume).asks().is_empty(), "an operator knows");
    let asks = room.post(Author::Human, resume, "resume").asks();
    assert_eq!(asks, ["trigger A"], "nothing was paused: that is conversation");
    assert!(room.tell(Input::Stop).asks().is_empty(), "an operator knows");
}

/// WD9
#[test]
fn a_message_that_is_edited_into_a_stop_word_stops_is_acknowledged_and_counts_nothing() {
    let mut room = Room::chat(2);
    let hello = room.human("hello");
    assert!(!hello.asks().is_empty());
    let message = MessageId::new(1001);
    let stopped = room.tell(Input::EditedToStop(message));
    assert_eq!(stopped.causes(), [Cause::Stopped]);
    assert!(stopped.asks().contains(&"notice stopped, to 1001".to_owned()), "{:?}", stopped.asks());
    assert!(room.tell(Input::EditedToStop(message)).is_silent(), "stopped already");
}

/// F04
#[test]
fn a_word_is_acknowledged_before_what_follows_from_it() {
    for rest in [Input::Stop, Input::Finish] {
        let mut room = Room::chat(2);
        room.tell(rest.clone());
        room.human("and this?");
        let asks = room.post(Author::Human, MessageKind::ResumeWord, "resume").asks();
        assert_eq!(asks, ["notice resumed, to 1002", "trigger A"], "{rest:?}");
    }
    let mut held = Room::chat(2);
    held.human("hello");
    held.tell(Input::Hold);
    let asks = held.post(Author::Human, MessageKind::ResumeWord, "resume").asks();
    assert_eq!(asks, ["notice resumed, to 1002", "trigger A"]);
}

/// F04
#[test]
fn a_stop_does_not_withdraw_its_own_acknowledgement() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.post(Author::Human, MessageKind::StopWord, "stop");
    let pending: Vec<_> = room.channel.pending().iter().map(|effect| effect.effect).collect();
    let notices = pending.iter().filter(|effect| matches!(effect, Effect::Notice { .. }));
    let wanted: Vec<bool> = notices.map(|effect| room.channel.wants(effect)).collect();
    assert_eq!(wanted, [true]);
}

/// F04
#[test]
fn acknowledgements_may_be_switched_off() {
    let mut room = Room::chat_with(2, |config| config.people.acknowledge = false);
    assert!(room.post(Author::Human, MessageKind::StopWord, "stop").asks().is_empty());
    assert!(room.post(Author::Human, MessageKind::ResumeWord, "resume").asks().is_empty());
}
