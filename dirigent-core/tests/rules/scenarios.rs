//! The stories that broke real rooms before, each told from beginning to end.

use std::sync::Arc;

use crate::room::{A, B, C, Room, ended, message, secs, spoke};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Answer, Author, Cause, Config, Effect, Input, MessageKind, Mode, Outcome, PhaseKind, Reason,
    Refusal, TurnMachine, TurnState, WakeCause,
};

/// R093, D40
#[test]
fn a_stale_run_that_was_denied_does_not_use_up_the_turn_that_came_later() {
    let mut room = Room::chat(2);
    assert_eq!(room.human("hello").all(), ["dormant > granted A: human-message", "trigger A"]);
    room.start(A);
    // The message started a run of B, too. It is denied, and stays open for a while.
    let stale_run = room.fresh_run();
    assert_eq!(room.gate_run(B, stale_run).reason(), Reason::NotYourTurn { speaker: A });
    let step = room.ends(A, Outcome::Pass);
    let story = ["running > running A: passed", "running > granted B: next-in-list", "trigger B"];
    assert_eq!(step.all(), story);
    // Now B's denied run ends with nothing. It looks like B's empty turn, but is not.
    assert_eq!(room.refusal(ended(B, Some(stale_run), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.speaker(), Some(B));
    assert_eq!(room.phase(), PhaseKind::Granted);
    // And also not when B's real run has begun meanwhile.
    room.start(B);
    assert_eq!(room.refusal(ended(B, Some(stale_run), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.phase(), PhaseKind::Running);
    assert_eq!(room.talks_on(B, "my answer").asks(), ["fetch members"]);
}

/// R109, R110, D52
#[test]
fn a_reply_of_twenty_lines_cut_after_seventeen_lines_is_confirmed_by_its_last_fragments() {
    let lines: Vec<String> = (1..=19).map(|line| format!("this is line number {line}")).collect();
    let reply = format!("{}\nso be it", lines.join("\n"));
    let fragments = [lines[..17].join("\n"), lines[17].clone(), lines[18].clone()];
    let mut room = Room::chat(2);
    room.human("tell us everything");
    assert_eq!(room.talks(A, &reply).all(), ["running > confirming A: spoke"]);
    for fragment in &fragments {
        assert!(room.says(A, fragment).is_silent(), "not the end yet");
        room.sleep(crate::room::millis(50));
    }
    // The last fragment has six characters that count; alone it never matches forty.
    let story = [
        "confirming > confirming A: tail-matched",
        "confirming > granted B: next-in-list",
        "trigger B",
    ];
    assert_eq!(room.says(A, "so be it").all(), story);
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// R147, R148, D50, D84
#[test]
fn no_self_wake_by_the_reminder_and_the_initiator_may_run_once() {
    let mut room = Room::discussion(2);
    room.tell(Input::Wake { first: None, cause: WakeCause::Guide });
    room.passes(A);
    room.passes(B);
    let story =
        ["refreshing > dormant: all-passed", "dormant > dormant A: initiator-reminded", "remind A"];
    assert_eq!(room.members().all(), story);
    // The reminder arrives as an event of the channel.
    assert!(room.moderator(dirigent_core::text::IDLE_REMINDER).is_silent());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.gate(B).reason(), Reason::Dormant);
    assert_eq!(room.gate(A).reason(), Reason::InitiatorPermit);
    assert_eq!(room.ends(A, Outcome::Pass).asks(), Vec::<String>::new());
    assert_eq!(room.gate(A).reason(), Reason::Dormant, "once");
}

/// R130, F03, D70
#[test]
fn a_join_message_by_a_person_wakes_nobody() {
    let mut room = Room::chat(2);
    assert!(room.system(Author::Human).is_silent());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    assert_eq!(room.channel.view().turns_since_human(), 0);
    assert_eq!(room.human("hello, I am new").asks(), ["trigger A"]);
}

/// R116, R117, D59
#[test]
fn late_fragments_after_a_delivery_timeout_do_not_restart_the_cycle() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.talks(A, "the first half and the second half");
    room.says(A, "the first half");
    room.says(A, "with a table that the host rewrote");
    let mut literal = Config::default();
    literal.confirmation.any_message_fallback = false;
    room.tell(Input::Reconfigure(Arc::new(literal)));
    let step = room.wait(secs(15));
    assert!(step.causes().contains(&Cause::DeliveryTimedOut));
    assert_eq!(room.speaker(), Some(B));
    // The rest arrives while B is granted, runs and delivers.
    assert!(room.says(A, "late fragment one").is_silent());
    room.start(B);
    assert!(room.says(A, "late fragment two").is_silent());
    room.ends(B, spoke("my reply"));
    assert!(room.says(A, "late fragment three").is_silent());
    assert_eq!(room.speaker(), Some(B), "no restart");
    assert_eq!(room.says(B, "my reply").asks(), ["trigger C"]);
    assert_eq!(room.turns(), [SeatTurn::Spoke, SeatTurn::Spoke, SeatTurn::Ahead]);
}

/// R126, D66
#[test]
fn a_human_between_the_passes_starts_another_cycle() {
    let mut room = Room::chat(3);
    room.human("hello");
    assert_eq!(room.passes(A).asks(), ["trigger B"]);
    assert_eq!(room.human("A, what about this?").asks(), ["inject 1002 to B"]);
    assert_eq!(room.passes(B).asks(), ["trigger C"]);
    assert_eq!(room.passes(C).asks(), ["fetch members"]);
    let step = room.members();
    assert_eq!(step.causes().last(), Some(&Cause::NextCycle));
    assert_ne!(room.phase(), PhaseKind::Dormant, "A gets to see it");
    room.all_pass();
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant);
}

/// R125, R127, R195, D65
#[test]
fn when_nobody_answers_the_channel_sleeps_after_one_cycle() {
    let mut room = Room::chat(3);
    room.human("is anybody there?");
    let asks = room.wait(secs(3 * 90)).asks();
    let story = [
        "trigger A again, 1",
        "trigger B",
        "trigger B again, 1",
        "trigger C",
        "trigger C again, 1",
        "fetch members",
    ];
    assert_eq!(asks, story);
    assert_eq!(room.members().all(), ["refreshing > dormant: unanswered"]);
    assert!(room.wait(secs(86_400)).asks().is_empty(), "nobody is woken again");
    assert_eq!(room.triggers(), 6);
}

/// R043, R036, D12
#[test]
fn a_second_member_starts_turn_keeping() {
    let mut room = Room::chat(1);
    assert_eq!(room.state(), TurnState::Disabled);
    assert_eq!(room.gate(A).reason(), Reason::TooFewAgents);
    room.human("hello");
    if room.fetch.is_some() {
        room.members();
    }
    room.wait(secs(30));
    assert_eq!(room.joins(B).all(), ["fetch members"]);
    let step = room.members();
    // The person's message was kept in mind: nobody else had seen it.
    let story =
        ["disabled > dormant: enough-agents", "dormant > granted A: enough-agents", "trigger A"];
    assert_eq!(step.all(), story);
    assert_eq!(room.state(), TurnState::Normal);
    assert_eq!(room.gate(B).reason(), Reason::NotYourTurn { speaker: A });
}

/// One input, and the same once or more again, to the same channel. A ticket, a run and a message
/// have ids; a join, a leave and a tick say the same twice.
fn trace(inputs: &[Input], repeats: impl Fn(usize) -> usize) -> (Vec<Effect>, Vec<Option<Reason>>) {
    let config = Arc::new(Config::default());
    let mut channel = TurnMachine::new(config, crate::room::SEED);
    let (mut effects, mut answers) = (Vec::new(), Vec::new());
    let mut now = crate::room::START;
    for (at, input) in inputs.iter().enumerate() {
        now = now + secs(u64::from(at > 0));
        let answer = channel.handle(now, input, &mut effects);
        answers.push(answer.ok().and_then(Answer::verdict).map(|it| it.reason()));
        for _ in 0..repeats(at) {
            let written = effects.len();
            let again = channel.handle(now, input, &mut effects);
            assert_eq!(effects.len(), written, "again has no effect: {input:?}");
            let allowed = |verdict: Option<Reason>| verdict.is_some_and(Reason::allows);
            let verdict = again.ok().and_then(Answer::verdict).map(|it| it.reason());
            assert_eq!(allowed(verdict), allowed(answers[at]), "the same answer: {input:?}");
            // Also something from further back, as a slow second process would deliver it.
            let older = &inputs[at / 2];
            if matches!(older, Input::Message(_) | Input::RunEnded { .. } | Input::Settled { .. }) {
                let _ = channel.handle(now, older, &mut effects);
                assert_eq!(effects.len(), written, "late again has no effect: {older:?}");
            }
        }
    }
    (effects, answers)
}

/// R094, R073, R099, D78
#[test]
fn double_events_give_the_same_trace() {
    // A day of a room is recorded, and then played back with events doubled.
    let mut room = Room::chat(3);
    let mut inputs = vec![Input::Create(dirigent_core::Creation {
        mode: Mode::Chat,
        members: crate::room::agents(3),
        initiator: None,
    })];
    let mut play = |room: &mut Room, input: Input| {
        room.now = room.now + secs(1);
        let step = room.give(input.clone());
        inputs.push(input);
        step
    };
    let mut id = 5_000;
    let mut say = |author, text: &str| {
        id += 1;
        message(id, author, MessageKind::Conversation, text)
    };
    for round in 0..12_u64 {
        play(&mut room, say(Author::Human, "hello"));
        let ticket = room.trigger.unwrap();
        let posted = dirigent_core::Settlement::Done {
            message: Some(dirigent_core::MessageId::new(90_000 + round)),
        };
        play(&mut room, Input::Settled { ticket, settlement: posted });
        for agent in [A, B, C] {
            let run = Some(dirigent_core::RunId::new(round * 10 + u64::from(agent.get())));
            play(&mut room, crate::room::gate(agent, run));
        }
        let speaker = room.speaker().unwrap();
        let run = Some(dirigent_core::RunId::new(round * 10 + u64::from(speaker.get())));
        if round % 3 == 0 {
            play(&mut room, ended(speaker, run, Outcome::Pass));
        } else {
            play(&mut room, ended(speaker, run, spoke("an answer of mine")));
            play(&mut room, say(Author::Agent(speaker), "an answer of mine"));
        }
        if room.phase() == PhaseKind::Refreshing {
            let ticket = room.fetch.unwrap();
            play(&mut room, Input::Members { ticket, agents: crate::room::agents(3) });
        }
        play(&mut room, Input::Tick);
    }
    let once = trace(&inputs, |_| 0);
    assert_eq!(once.0, room.log, "the recording is complete");
    assert!(once.0.len() > 40, "something happened");
    for seed in 1..50_usize {
        let doubled = trace(&inputs, |at| (at * seed * 2_654_435_761) >> 7 & 1);
        assert_eq!(once, doubled);
    }
    assert_eq!(once, trace(&inputs, |_| 2));
}

/// R044, R045, D17
#[test]
fn a_mode_flip_in_confirming_leaves_nothing_behind() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.talks(A, "a reply on its way");
    assert_eq!(room.phase(), PhaseKind::Confirming);
    assert_eq!(
        room.tell(Input::SetMode(Mode::None)).all(),
        ["confirming > disabled: mode-changed"]
    );
    let back = room.tell(Input::SetMode(Mode::Chat));
    assert_eq!(back.all(), ["disabled > dormant: mode-changed", "fetch members"]);
    assert!(room.members().asks().is_empty());
    // The old reply, its fragments, its run and its deadlines mean nothing any more.
    let run = Some(room.run_of(A));
    assert_eq!(room.refusal(ended(A, run, Outcome::Pass)), Refusal::StaleRun);
    assert!(room.wait(secs(100)).asks().is_empty());
    assert_eq!(room.phase(), PhaseKind::Dormant);
    room.human("hello again");
    room.members();
    assert_eq!(room.speaker(), Some(A));
    assert!(room.says(A, "a reply on its way").is_silent());
    assert_eq!(room.phase(), PhaseKind::Granted);
    room.start(A);
    assert_eq!(room.ends(A, Outcome::Pass).asks(), ["trigger B"]);
}

/// R068, R042, D31, D13
#[test]
fn two_agents_shuffle_shrink_keeps_the_order_of_the_pair() {
    // Three agents; one is gone at the boundary. Two are left in state normal: their order is
    // kept (D13), since the last speaker is not first.
    for seed in 0..20 {
        let mut room = Room::with(Config::default(), seed);
        room.present = crate::room::agents(3);
        room.tell(Input::SetMode(Mode::Chat));
        room.members();
        room.human("hello");
        for agent in [A, B, C] {
            room.speaks(agent);
        }
        room.present = vec![B, C];
        let step = room.members();
        assert_eq!(step.all(), ["refreshing > granted B: next-cycle", "trigger B"]);
        assert_eq!(room.state(), TurnState::Normal);
        assert_eq!(room.order(), [B, C], "C spoke last and is not first");
        // The list grows again: the shuffle obeys the last speaker.
        room.speaks(B);
        room.present = vec![A, B, C];
        room.speaks(C);
        assert!(room.members().causes().contains(&Cause::Reshuffled));
        assert_ne!(room.order()[0], C);
    }
}

/// R068, D30, D31
#[test]
fn two_agents_shuffle_shrink_order_forced_by_the_last_speaker_rule() {
    // Of the pair that is left, the first spoke last: it goes second.
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    room.speaks(B);
    room.wait(secs(90));
    assert_eq!(room.seat(C).turn, SeatTurn::Skipped);
    room.present = vec![B, C];
    room.members();
    assert_eq!(room.state(), TurnState::Normal);
    assert_eq!(room.order(), [C, B]);
}
