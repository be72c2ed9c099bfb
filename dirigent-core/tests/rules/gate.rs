//! May this agent run? The one question, and what its answer depends on.

use crate::room::{A, B, C, Room, STRANGER, ended, gate, secs, spoke};
use dirigent_core::{
    Author, Input, MessageId, MessageKind, Outcome, PhaseKind, Reason, Refusal, RunId, Verdict,
};

/// Asks the gate with what the host knows as the newest message.
fn gate_after(room: &mut Room, agent: dirigent_core::AgentKey, latest: Option<u64>) -> Verdict {
    let run = Some(room.fresh_run());
    let latest = latest.map(MessageId::new);
    room.tell(Input::Gate { agent: Some(agent), run, latest }).verdict()
}

/// R084, R085, R196
#[test]
fn only_the_speaker_is_allowed() {
    let mut room = Room::chat(3);
    room.human("hello");
    for denied in [B, C] {
        assert_eq!(room.gate(denied).reason(), Reason::NotYourTurn { speaker: A });
    }
    assert_eq!(room.gate(A).reason(), Reason::YourTurn);
    for denied in [B, C] {
        assert_eq!(room.gate(denied).reason(), Reason::NotYourTurn { speaker: A });
    }
}

/// R084
#[test]
fn whatever_happens_at_most_one_agent_may_speak() {
    // `Room` checks this after every input; here every agent tries at every step of two cycles.
    let mut room = Room::chat(4);
    room.human("hello");
    for turn in 0..8 {
        let speaker = room.speaker().unwrap();
        for agent in crate::room::agents(4) {
            let allowed = room.gate(agent).verdict().is_allowed();
            assert_eq!(allowed, agent == speaker);
        }
        room.talks(speaker, "well then");
        for agent in crate::room::agents(4) {
            assert!(!room.gate(agent).verdict().is_allowed(), "the reply is on its way");
        }
        room.says(speaker, "well then");
        if turn % 4 == 3 {
            for agent in crate::room::agents(4) {
                assert_eq!(room.gate(agent).reason(), Reason::Refreshing);
            }
            room.members();
        }
    }
}

/// R196, D39
#[test]
fn of_all_who_receive_a_trigger_only_the_one_it_is_for_is_allowed() {
    let mut room = Room::chat(3);
    room.human("hello");
    let step = room.passes(A);
    assert_eq!(step.asks(), ["trigger B"]);
    // The trigger's message itself starts a run of everybody.
    room.trigger_posted();
    assert!(room.moderator("<@2>➡️").is_silent());
    assert!(!room.gate(A).verdict().is_allowed());
    assert!(!room.gate(C).verdict().is_allowed());
    assert!(room.gate(B).verdict().is_allowed());
}

/// R083, D35
#[test]
fn nobody_is_allowed_while_the_list_is_read() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.passes(A);
    assert_eq!(room.passes(B).asks(), ["fetch members"]);
    for agent in [A, B] {
        assert_eq!(room.gate(agent).reason(), Reason::Refreshing);
    }
}

/// R086
#[test]
fn an_allow_answer_names_turn_and_anchor_and_no_model() {
    let mut room = Room::chat(2);
    room.human("hello");
    let Verdict::Allow { reason, turn, anchor } = room.gate(A).verdict() else {
        panic!("A has the floor");
    };
    assert_eq!(reason, Reason::YourTurn);
    assert_eq!(turn, Some(room.channel.view().turn()));
    assert_eq!(anchor, Some(room.newest()));
}

/// R087, F10
#[test]
fn every_answer_carries_a_machine_readable_reason() {
    let mut room = Room::chat(2);
    let mut reasons = vec![room.gate(A).reason()];
    room.human("hello");
    reasons.push(room.gate(A).reason());
    reasons.push(room.gate(B).reason());
    reasons.push(room.gate(STRANGER).reason());
    let words: Vec<_> = reasons.iter().map(|reason| reason.as_str()).collect();
    assert_eq!(words, ["dormant", "your-turn", "not-your-turn", "not-listed"]);
    assert_eq!(reasons.iter().filter(|reason| reason.allows()).count(), 1);
}

/// R088, D73
#[test]
fn without_a_speaker_everybody_is_denied() {
    let mut room = Room::chat(3);
    assert_eq!(room.speaker(), None);
    for agent in [A, B, C] {
        assert_eq!(room.gate(agent).reason(), Reason::Dormant);
    }
    room.human("hello");
    room.all_pass();
    room.members();
    assert_eq!(room.speaker(), None);
    for agent in [A, B, C] {
        assert_eq!(room.gate(agent).reason(), Reason::Dormant);
    }
}

/// R089, D38
#[test]
fn the_anchor_is_the_newest_message_at_the_first_allow() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.moderator("a trigger");
    assert_eq!(room.channel.view().anchor(), None, "no anchor before the run");
    room.start(A);
    assert_eq!(room.channel.view().anchor(), Some(room.newest()));
}

/// R089, D38
#[test]
fn the_host_may_know_a_newer_message_than_the_channel() {
    for (told, expected) in [(Some(9_999), 9_999), (Some(5), 1_001), (None, 1_001)] {
        let mut room = Room::chat(2);
        room.human("hello");
        let verdict = gate_after(&mut room, A, told);
        assert!(verdict.is_allowed());
        assert_eq!(room.channel.view().anchor(), Some(MessageId::new(expected)));
    }
}

/// R089, D38
#[test]
fn in_a_channel_without_messages_there_is_no_anchor() {
    let mut room = Room::chat(2);
    room.tell(Input::Wake { first: None, cause: dirigent_core::WakeCause::Operator });
    room.start(A);
    assert_eq!(room.channel.view().anchor(), None);
    room.ends(A, spoke("the first word"));
    assert_eq!(room.says(A, "the first word").asks(), ["trigger B"], "every message counts");
}

/// R090, D37
#[test]
fn denied_agents_do_not_move_the_anchor() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    let anchor = room.channel.view().anchor();
    room.says(A, "first part,");
    let newest = Some(room.message);
    assert!(!gate_after(&mut room, B, newest).is_allowed());
    assert!(!gate_after(&mut room, C, newest).is_allowed());
    assert_eq!(room.channel.view().anchor(), anchor);
    let step = room.ends(A, spoke("first part,"));
    assert_eq!(step.asks(), ["trigger B"], "the part is still after the anchor");
}

/// R090, R089, D37, D39
#[test]
fn a_second_run_of_the_speaker_does_not_move_the_anchor() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let anchor = room.channel.view().anchor();
    room.says(A, "first part");
    let newest = Some(room.message);
    assert!(gate_after(&mut room, A, newest).is_allowed());
    assert_eq!(room.channel.view().anchor(), anchor);
}

/// R091, D39
#[test]
fn after_its_run_ended_the_speaker_is_denied_until_its_next_turn() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "a reply");
    assert_eq!(room.phase(), PhaseKind::Confirming);
    assert_eq!(room.gate(A).reason(), Reason::TurnAlreadyUsed);
    assert_eq!(room.explain(A), Reason::TurnAlreadyUsed);
    room.says(A, "a reply");
    assert_eq!(room.gate(A).reason(), Reason::NotYourTurn { speaker: B });
    room.passes(B);
    room.members();
    assert_eq!(room.gate(A).reason(), Reason::YourTurn, "its next turn");
}

/// R091, D39
#[test]
fn a_run_that_ended_is_not_allowed_again() {
    let mut room = Room::chat(2);
    room.human("hello");
    let used = room.fresh_run();
    assert!(room.gate_run(A, used).verdict().is_allowed());
    room.ends(A, Outcome::Pass);
    room.speaks(B);
    room.members();
    assert_eq!(room.speaker(), Some(A));
    assert_eq!(room.gate_run(A, used).reason(), Reason::RunAlreadyEnded);
    assert_eq!(room.gate(A).reason(), Reason::YourTurn);
}

/// D39, R094
#[test]
fn a_newer_run_of_the_speaker_replaces_the_older_one() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let older = room.run_of(A);
    room.start(A);
    assert_eq!(room.refusal(ended(A, Some(older), spoke("old"))), Refusal::StaleRun);
    assert_eq!(room.gate_run(A, older).reason(), Reason::RunAlreadyEnded);
    assert_eq!(room.phase(), PhaseKind::Running);
}

/// D39
#[test]
fn asking_again_for_the_same_run_gives_the_same_answer() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let run = room.run_of(A);
    let before = room.snapshot();
    assert!(room.gate_run(A, run).verdict().is_allowed());
    assert_eq!(before, room.snapshot());
    assert!(!room.gate_run(B, RunId::new(77)).verdict().is_allowed());
    assert_eq!(room.gate_run(B, RunId::new(77)).reason(), Reason::RunAlreadyDenied);
}

/// R093, D40
#[test]
fn a_denied_run_is_not_allowed_when_the_turn_comes_to_its_agent() {
    let mut room = Room::chat(2);
    room.human("hello");
    let early = room.fresh_run();
    assert!(!room.gate_run(B, early).verdict().is_allowed());
    room.passes(A);
    assert_eq!(room.speaker(), Some(B));
    assert_eq!(room.gate_run(B, early).reason(), Reason::RunAlreadyDenied);
    assert_eq!(room.refusal(ended(B, Some(early), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.gate(B).reason(), Reason::YourTurn);
}

/// R092
#[test]
fn the_run_end_of_another_agent_changes_nothing() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.start(A);
    for outcome in [Outcome::Pass, Outcome::Failed, spoke("me too")] {
        for agent in [B, C, STRANGER] {
            assert_eq!(room.refusal(ended(agent, None, outcome)), Refusal::StaleRun);
            let run = Some(room.run_of(A));
            assert_eq!(room.refusal(ended(agent, run, outcome)), Refusal::StaleRun);
        }
    }
    assert_eq!(room.speaker(), Some(A));
}

/// R092, D40, D41
#[test]
fn a_run_end_before_any_gate_call_is_stale() {
    // A heartbeat or a scheduled run of the speaker ends in the same session.
    let mut room = Room::chat(2);
    room.human("hello");
    assert_eq!(room.phase(), PhaseKind::Granted);
    assert_eq!(room.refusal(ended(A, None, Outcome::Pass)), Refusal::StaleRun);
    let run = Some(room.fresh_run());
    assert_eq!(room.refusal(ended(A, run, Outcome::Pass)), Refusal::StaleRun);
    room.start(A);
    let other = Some(room.fresh_run());
    assert_eq!(room.refusal(ended(A, other, Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.refusal(ended(A, None, Outcome::Pass)), Refusal::StaleRun);
}

/// R094, D78
#[test]
fn a_second_end_of_the_same_run_changes_nothing() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.passes(A);
    let run = Some(room.run_of(A));
    assert_eq!(room.refusal(ended(A, run, Outcome::Pass)), Refusal::StaleRun);
    room.talks(B, "a reply");
    let run = Some(room.run_of(B));
    assert_eq!(room.refusal(ended(B, run, spoke("a reply"))), Refusal::StaleRun);
    assert_eq!(room.refusal(ended(B, run, Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.phase(), PhaseKind::Confirming);
}

/// D40
#[test]
fn a_host_without_run_names_is_served_too() {
    let mut room = Room::chat(2);
    room.human("hello");
    assert!(room.tell(gate(A, None)).verdict().is_allowed());
    assert!(room.tell(gate(A, None)).verdict().is_allowed());
    assert!(!room.tell(gate(B, None)).verdict().is_allowed());
    assert_eq!(room.refusal(ended(B, None, Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.tell(ended(A, None, Outcome::Pass)).asks(), ["trigger B"]);
    assert_eq!(room.refusal(ended(A, None, Outcome::Pass)), Refusal::StaleRun);
}

/// R085, D36
#[test]
fn an_agent_that_is_not_listed_or_not_registered_is_denied_with_that_reason() {
    let mut room = Room::chat(2);
    room.human("hello");
    assert_eq!(room.gate(STRANGER).reason(), Reason::NotListed);
    let nobody = Input::Gate { agent: None, run: None, latest: None };
    assert_eq!(room.tell(nobody).reason(), Reason::NotRegistered);
}

/// R191, W11
#[test]
fn the_decision_needs_nothing_but_the_agent() {
    // No model, no message, no wait: the answer comes with the call, and has no effects.
    let mut room = Room::chat(2);
    room.human("hello");
    let step = room.tell(gate(B, None));
    assert_eq!(step.reason(), Reason::NotYourTurn { speaker: A });
    assert!(step.is_silent());
    assert_eq!(room.explain(B), Reason::NotYourTurn { speaker: A });
}

/// F10
#[test]
fn explain_says_what_the_gate_would_say() {
    let mut room = Room::chat(3);
    let agree = |room: &mut Room| {
        for agent in [A, B, C, STRANGER] {
            let mut copy = room.clone();
            assert_eq!(room.explain(agent), copy.gate(agent).reason());
        }
    };
    agree(&mut room);
    room.human("hello");
    agree(&mut room);
    room.start(A);
    agree(&mut room);
    room.ends(A, spoke("something"));
    agree(&mut room);
    room.says(A, "something");
    agree(&mut room);
    room.tell(Input::Mute(C));
    agree(&mut room);
    room.tell(Input::Hold);
    agree(&mut room);
    room.tell(Input::Stop);
    agree(&mut room);
    room.tell(Input::Archive);
    agree(&mut room);
}

/// R091, R115
#[test]
fn messages_of_the_speaker_do_not_end_its_turn() {
    let mut room = Room::chat(2);
    room.human("hello");
    assert!(room.says(A, "before the run").is_silent());
    room.start(A);
    assert!(room.says(A, "during the run").is_silent());
    let own = Author::Agent(A);
    assert!(room.post(own, MessageKind::StopWord, "a stop word of an agent").is_silent());
    room.wait(secs(5));
    assert_eq!(room.phase(), PhaseKind::Running);
}
