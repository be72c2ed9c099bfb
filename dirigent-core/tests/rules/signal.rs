//! Turns that end with a signal, and turns that end at their own time (rules 49 to 52).

use crate::room::{A, B, Room, ended, millis, secs, spoke};
use dirigent_core::text::{CompletionPolicy, HumanMarker, Signal, SilencePolicy};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Cause, Config, Input, MessageId, Outcome, PhaseKind, Reason, Refusal, Settlement, Tail,
};

/// A reply that does not complete its turn.
fn unfinished(text: &str) -> Outcome {
    Outcome::Unfinished { tail: Tail::of(text) }
}

/// A chat of two under the timing of the message flow, woken: A is granted.
fn flow() -> Room {
    let mut room = Room::chat_with(2, |config| *config = Config::message_flow());
    room.human("hello");
    room
}

/// A has spoken without finishing.
fn continuing() -> Room {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.ends(A, unfinished("let me see"));
    room
}

/// R249, R250, R251, M2
#[test]
fn the_signal_counts_at_the_end_of_a_text_and_nowhere_else() {
    let signal = Signal::default();
    let with = [
        "Here. TURN_COMPLETE",
        "Here.\n\nTURN_COMPLETE",
        "TURN_COMPLETE",
        "x TURN_COMPLETE \n\t\u{feff}",
    ];
    let without =
        ["", "TURN_COMPLETE.", "TURN_COMPLETE and more", "turn_complete", "TURN COMPLETE"];
    assert!(with.iter().all(|text| signal.ends(text)));
    assert!(!without.iter().any(|text| signal.ends(text)));
    assert!(signal.ends("NOT_TURN_COMPLETE"), "the seed has no left boundary");
    let mut strict = Signal::default();
    strict.word_boundary = true;
    for glued in ["NOT_TURN_COMPLETE", "xTURN_COMPLETE", "üTURN_COMPLETE", "1TURN_COMPLETE"] {
        assert!(!strict.ends(glued), "{glued}");
    }
    assert!(with.iter().chain(&["(TURN_COMPLETE", "-TURN_COMPLETE"]).all(|text| strict.ends(text)));
    assert!(!Signal::with_token("").ends("no words, no signal"));
}

/// R257, M3
#[test]
fn the_signal_is_taken_off_and_nothing_else() {
    let signal = Signal::default();
    let cases = [
        ("Done. TURN_COMPLETE", "Done."),
        ("  Done.\n\nTURN_COMPLETE\n", "  Done."),
        ("TURN_COMPLETE", ""),
        ("Done. TURN_COMPLETE TURN_COMPLETE", "Done."),
        ("TURN_COMPLETE, I said ", "TURN_COMPLETE, I said "),
        ("Done. ", "Done. "),
    ];
    for (text, rest) in cases {
        assert_eq!(signal.strip(text), rest, "{text:?}");
    }
}

/// R249, R252, M1, M4, X5
#[test]
fn silence_and_signal_are_judged_together() {
    let mut kept = Signal::default();
    kept.stripped = false;
    let (strips, keeps) =
        (CompletionPolicy::Signal(Signal::default()), CompletionPolicy::Signal(kept));
    let say = spoke;
    let cases = [
        ("Done. TURN_COMPLETE", say("Done."), say("Done."), say("Done. TURN_COMPLETE")),
        ("Let me see.", unfinished("Let me see."), unfinished("Let me see."), say("Let me see.")),
        ("TURN_COMPLETE", Outcome::Pass, Outcome::Pass, say("TURN_COMPLETE")),
        ("NO_REPLY\nTURN_COMPLETE", Outcome::Pass, Outcome::Pass, say("NO_REPLY\nTURN_COMPLETE")),
        ("TURN_COMPLETE NO_REPLY", Outcome::Pass, Outcome::Pass, say("TURN_COMPLETE")),
        ("NO_REPLY", Outcome::Pass, Outcome::Pass, Outcome::Pass),
        (" ", Outcome::Pass, Outcome::Pass, Outcome::Pass),
        (
            "Done. NO_REPLY TURN_COMPLETE",
            say("Done."),
            say("Done. NO_REPLY"),
            say("Done. NO_REPLY TURN_COMPLETE"),
        ),
    ];
    let silence = SilencePolicy::Strict;
    for (text, stripped, kept, plain) in cases {
        assert_eq!(strips.outcome(silence, text), stripped, "{text:?}");
        assert_eq!(keeps.outcome(silence, text), kept, "{text:?}");
        assert_eq!(CompletionPolicy::RunEnd.outcome(silence, text), plain, "{text:?}");
    }
}

/// F07, X5
#[test]
fn the_marker_asks_for_a_person_with_a_signal_or_without() {
    let marker = HumanMarker::default();
    let mut kept = Signal::default();
    kept.stripped = false;
    let signal = CompletionPolicy::Signal(Signal::default());
    let keeps = CompletionPolicy::Signal(kept);
    let asks = |text: &str| Outcome::AwaitsHuman { tail: Tail::of(text) };
    let cases = [
        (&CompletionPolicy::RunEnd, "Which? 👤 ", asks("Which? 👤")),
        (&CompletionPolicy::RunEnd, "👤 Which?", spoke("👤 Which?")),
        (&signal, "Which? 👤", asks("Which? 👤")),
        (&signal, "Which? 👤\nTURN_COMPLETE", asks("Which? 👤")),
        (&keeps, "Which? 👤 TURN_COMPLETE", asks("Which? 👤")),
        (&signal, "Which? TURN_COMPLETE", spoke("Which?")),
        (&signal, "Which?", unfinished("Which?")),
        (&signal, "NO_REPLY", Outcome::Pass),
    ];
    for (policy, text, expected) in cases {
        assert_eq!(marker.outcome(policy, SilencePolicy::Strict, text), expected, "{text:?}");
    }
    assert!(!HumanMarker("".into()).ends("no mark, no wait"));
}

/// What a host is answered that tells an end again: its text may be posted while the turn waits for it.
#[test]
fn a_run_that_has_ended_is_shown_until_its_reply_has_arrived() {
    let mut room = Room::chat(2);
    room.human("hello");
    let ended_run = |room: &Room| room.channel.view().ended_run();
    assert_eq!(ended_run(&room), None);
    room.start(A);
    let run = room.run_of(A);
    assert_eq!(ended_run(&room), None, "it runs");
    room.ends(A, spoke("a reply"));
    assert_eq!((ended_run(&room), room.speaker()), (Some(run), Some(A)));
    room.says(A, "a reply");
    assert_eq!((ended_run(&room), room.speaker()), (None, Some(B)));
    // Of a run that has to go on, or had nothing to say, nothing is waited for.
    room.start(B);
    room.ends(B, unfinished("more"));
    assert_eq!(ended_run(&room), None);
    room.start(B);
    room.ends(B, Outcome::Pass);
    assert_eq!(ended_run(&room), None);
}

/// R252, M1
#[test]
fn whoever_has_not_finished_keeps_the_floor_and_is_asked_to_go_on() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.says(A, "a piece");
    let (run, turn) = (room.run_of(A), room.grants());
    let step = room.ends(A, unfinished("a piece"));
    assert_eq!(step.all(), ["running > continuing A: unfinished", "trigger A"]);
    assert_eq!((room.speaker(), room.grants()), (Some(A), turn), "the same turn");
    assert_eq!(room.refusal(ended(A, Some(run), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.explain(A), Reason::YourTurn);
    assert_eq!(room.explain(B), Reason::NotYourTurn { speaker: A });
    assert_eq!(room.gate_run(A, run).reason(), Reason::RunAlreadyEnded);
    assert!(room.says(A, "late words").is_silent());
    assert_eq!(room.channel.view().turns_since_human(), 1, "its words are its own");
    room.start(A);
    let anchor = room.channel.view().anchor();
    assert_eq!(anchor, Some(room.newest()), "a new run, a new anchor");
    room.ends(A, spoke("and the rest"));
    room.says(A, "and the rest");
    assert_eq!((room.seat(A).turn, room.speaker()), (SeatTurn::Spoke, Some(B)));
}

/// R252
#[test]
fn what_came_before_the_turn_went_on_confirms_nothing() {
    let mut room = continuing();
    let run = room.start(A);
    assert!(run.verdict().is_allowed());
    room.ends(A, unfinished("again"));
    room.start(A);
    let (run, messages) = (Some(room.run_of(A)), vec![MessageId::new(7_000)]);
    room.tell(Input::Receipt { agent: A, run, messages });
    room.ends(A, unfinished("the receipt was for this"));
    room.start(A);
    room.ends(A, spoke("the end"));
    assert_eq!(room.phase(), PhaseKind::Confirming, "neither piece nor receipt is left");
}

/// R252
#[test]
fn an_agent_is_asked_to_go_on_so_often_and_no_more() {
    let mut room = Room::chat_with(2, |config| config.order.continuations = 2);
    room.human("hello");
    for asked in [true, true, false, false] {
        room.start(A);
        assert_eq!(room.ends(A, unfinished("more")).asks().is_empty(), !asked);
        assert!(room.channel.next_deadline().is_some(), "it is waited for all the same");
    }
    let step = room.wait(secs(45));
    assert_eq!(step.causes(), [Cause::SignalMissing, Cause::NextInList]);
    assert_eq!((room.seat(A).turn, room.speaker()), (SeatTurn::Spoke, Some(B)));
}

/// R252, M4
#[test]
fn a_turn_in_which_something_was_said_has_spoken_however_it_ends() {
    let ends: [fn(&mut Room); 6] = [
        |room| drop(room.passes(A)),
        |room| {
            room.start(A);
            room.ends(A, Outcome::Failed);
        },
        |room| drop(room.leaves(A)),
        |room| drop(room.tell(Input::Mute(A))),
        |room| drop(room.tell(Input::Offline(A))),
        |room| {
            room.start(A);
            room.tell(Input::RunsLost { rerun: false });
        },
    ];
    for (number, end) in ends.into_iter().enumerate() {
        let mut room = continuing();
        end(&mut room);
        assert_eq!((room.seat(A).turn, room.speaker()), (SeatTurn::Spoke, Some(B)), "{number}");
        assert_eq!(room.snapshot().state.cycle.last_completer, Some(A), "{number}");
        room.passes(B);
        room.members();
        assert_ne!(room.phase(), PhaseKind::Dormant, "{number}: the other may answer");
    }
}

/// F19
#[test]
fn a_restart_asks_an_unfinished_turn_to_go_on() {
    let mut room = continuing();
    assert!(room.tell(Input::RunsLost { rerun: true }).is_silent(), "nothing ran");
    room.start(A);
    let step = room.tell(Input::RunsLost { rerun: true });
    assert_eq!(step.all(), ["running > continuing A: run-lost", "trigger A"]);
}

/// F05
#[test]
fn on_hold_nobody_is_asked_to_go_on() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.tell(Input::Hold);
    assert!(room.ends(A, unfinished("more")).asks().is_empty());
    assert_eq!(room.channel.view().turn_ends_at(), None);
    assert_eq!(room.explain(A), Reason::Held);
    assert_eq!(room.tell(Input::Resume).asks(), ["trigger A"]);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(45)));
    room.tell(Input::Hold);
    assert_eq!(room.channel.view().turn_ends_at(), None, "a hold stops the clock");
}

/// R277
#[test]
fn two_agents_with_the_signal_alternate() {
    let mut room = Room::chat(2);
    room.human("build it");
    for agent in [A, B, A, B] {
        assert_eq!(room.speaker(), Some(agent));
        room.start(agent);
        room.ends(agent, unfinished("thinking"));
        room.speaks(agent);
        room.members_or_nothing();
    }
}

/// R258, R259, R260, R261, X2
#[test]
fn a_turn_that_takes_too_long_is_told_and_goes_to_the_next() {
    type Start = (fn(&mut Room), Cause);
    let started: [Start; 3] = [
        (|_| (), Cause::StartTimedOut),
        (|room| drop(room.start(A)), Cause::RunTimedOut),
        (
            |room| {
                room.start(A);
                room.ends(A, unfinished("more"));
            },
            Cause::SignalMissing,
        ),
    ];
    for (start, cause) in started {
        let mut room = flow();
        start(&mut room);
        assert!(room.wait(millis(59_999)).is_silent(), "{cause:?}");
        let step = room.wait(millis(1));
        assert_eq!(step.causes(), [cause, Cause::NextInList]);
        let asks: Vec<_> =
            step.asks().into_iter().filter(|ask| !ask.starts_with("cancel")).collect();
        assert_eq!(asks, ["TimedOut { agent: agent-1 }", "trigger B"]);
        assert_eq!(room.order(), [A, B], "it keeps its place");
    }
}

/// R260
#[test]
fn a_time_out_is_not_told_where_that_is_off() {
    let mut room = Room::chat_with(2, |config| config.deadlines.turn = Some(secs(20)));
    room.human("hello");
    let step = room.wait(secs(20));
    assert_eq!(
        step.all(),
        ["granted > granted A: start-timed-out", "granted > granted B: next-in-list", "trigger B"]
    );
}

/// R262, M20
#[test]
fn an_answer_after_the_time_out_changes_nothing() {
    let mut room = flow();
    room.start(A);
    room.wait(secs(60));
    let run = Some(room.run_of(A));
    assert_eq!(room.refusal(ended(A, run, spoke("sorry"))), Refusal::StaleRun);
    assert!(room.says(A, "sorry").is_silent(), "its words come within the grace");
    assert_eq!(room.speaker(), Some(B));
}

/// R258, R281
#[test]
fn the_end_of_a_turn_does_not_move_with_what_happens_in_it() {
    let mut room = flow();
    room.wait(secs(20));
    room.start(A);
    room.wait(secs(20));
    room.ends(A, unfinished("more"));
    room.start(A);
    let newer = room.fresh_run();
    room.gate_run(A, newer);
    room.tell(Input::RunsLost { rerun: true });
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(20)));
    room.tell(Input::Hold);
    room.wait(secs(300));
    room.tell(Input::Resume);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(60)), "all of it again");
    room.start(A);
    room.ends(A, spoke("never arrives"));
    room.wait(secs(14));
    assert_eq!(room.phase(), PhaseKind::Confirming);
}

/// R258
#[test]
fn the_end_of_a_turn_comes_before_another_reminder_of_it() {
    for (end, causes) in
        [(45, vec![Cause::StartTimedOut, Cause::NextInList]), (46, vec![Cause::Retriggered])]
    {
        let mut room = Room::chat_with(2, |config| config.deadlines.turn = Some(secs(end)));
        room.human("hello");
        assert_eq!(room.wait(secs(45)).causes(), causes, "{end}");
    }
}

/// D64
#[test]
fn a_slow_run_is_told_once_and_goes_on() {
    let mut room = Room::chat_with(2, |config| config.deadlines.slow_after = Some(secs(30)));
    room.human("hello");
    room.start(A);
    room.wait(secs(10));
    room.gate(A);
    assert_eq!(room.wait(secs(20)).all(), ["running > running A: run-slow"]);
    assert!(room.wait(secs(100)).is_silent());
    room.ends(A, Outcome::Pass);
    room.start(B);
    room.ends(B, spoke("quick"));
    assert!(!room.wait(secs(31)).causes().contains(&Cause::RunSlow), "it ran no more");
}

/// D77
#[test]
fn an_unfinished_turn_survives_a_clock_that_goes_back() {
    let mut room = flow();
    room.start(A);
    room.wait(secs(10));
    room.ends(A, unfinished("more"));
    room.now = crate::room::START;
    room.tell(Input::Tick);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(50)));
    assert!(
        room.channel
            .pending()
            .iter()
            .all(|effect| room.channel.wants(&effect.effect)
                || effect.effect.ticket() != room.trigger)
    );
    let ticket = room.trigger.unwrap();
    room.settle(ticket, Settlement::Done { message: None });
}
