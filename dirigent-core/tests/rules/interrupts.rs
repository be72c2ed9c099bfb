//! What people say during a turn: handed over, held, or answered by an orchestrator (rules 53 to 55).

use crate::room::{A, B, C, Room, STRANGER, ended, millis, secs, spoke};
use dirigent_core::config::{HumanInterrupt, InterruptPolicy};
use dirigent_core::view::SeatTurn;
use dirigent_core::{
    Cause, Input, MessageId, Mode, Outcome, PhaseKind, Reason, Refusal, RunId, Settlement, Tail,
};

const ANSWERED: Settlement = Settlement::Done { message: None };
const FAILED: Settlement = Settlement::Failed { retry_at: None };

fn unfinished() -> Outcome {
    Outcome::Unfinished { tail: Tail::of("more") }
}

fn room(count: usize, mode: HumanInterrupt) -> Room {
    let mut room = Room::chat_with(count, |config| config.people.human_interrupt = mode);
    room.human("hello");
    room
}

/// A runs in a channel of so many where people's messages are held.
fn queued(count: usize) -> Room {
    let mut room = room(count, HumanInterrupt::Queue);
    room.start(A);
    room
}

/// A runs and rests after a person's message; gives that message's id.
fn resting() -> (Room, u64) {
    let mut room = room(2, HumanInterrupt::Interrupt);
    room.start(A);
    room.human("stop, what about that?");
    let message = room.message;
    (room, message)
}

fn answer(room: &mut Room, settlement: Settlement) -> crate::room::Step {
    let ticket = room.consult.take().expect("an orchestrator is asked");
    room.settle(ticket, settlement)
}

/// R263, D62
#[test]
fn a_person_is_handed_to_the_speaker_at_once() {
    let mut room = room(2, HumanInterrupt::Inject);
    for prepare in [
        |_: &mut Room| (),
        |room: &mut Room| drop(room.start(A)),
        |room: &mut Room| drop(room.ends(A, unfinished())),
    ] {
        prepare(&mut room);
        let phase = room.phase();
        let step = room.human("by the way");
        assert_eq!(step.all(), [format!("inject {} to A", room.message)]);
        assert_eq!((room.phase(), room.speaker()), (phase, Some(A)));
    }
}

/// R264, M11
#[test]
fn what_people_say_is_held_until_the_turn_ends_and_given_to_the_next() {
    let mut room = queued(2);
    assert!(room.human("first").is_silent());
    assert!(room.human("second").is_silent());
    assert_eq!(
        room.channel.view().queued().map(|held| (held.first.get(), held.last.get())),
        Some((1_002, 1_003))
    );
    let step = room.ends(A, Outcome::Pass);
    assert_eq!(step.asks(), ["deliver 1002 to 1003 to B", "trigger B"]);
    assert_eq!(room.channel.view().queued(), None, "given once");
    assert_eq!(room.passes(B).asks(), ["fetch members"]);
    room.members();
    assert_eq!(room.speaker(), Some(A), "a person spoke: another cycle");
}

/// R264, M10
#[test]
fn what_people_say_while_a_reply_is_on_its_way_is_held_too() {
    let mut room = queued(2);
    room.ends(A, spoke("a reply"));
    assert!(room.human("wait").is_silent());
    assert_eq!(room.phase(), PhaseKind::Confirming, "the reply is not interrupted");
    assert_eq!(room.says(A, "a reply").asks(), ["deliver 1002 to 1002 to B", "trigger B"]);
}

/// R264
#[test]
fn a_message_held_waits_for_the_turns_end_and_not_for_its_next_trigger() {
    let mut room = room(2, HumanInterrupt::Queue);
    room.human("more");
    assert_eq!(room.wait(secs(45)).asks(), ["trigger A again, 1"]);
    room.start(A);
    assert_eq!(room.ends(A, unfinished()).asks(), ["trigger A"]);
    assert!(room.channel.view().queued().is_some());
}

/// F05
#[test]
fn what_people_say_on_hold_comes_with_the_resume() {
    for mode in [HumanInterrupt::Inject, HumanInterrupt::Queue, HumanInterrupt::Interrupt] {
        let mut room = room(2, mode);
        room.tell(Input::Hold);
        assert!(room.human("one").is_silent());
        assert_eq!(room.tell(Input::Resume).asks(), ["deliver 1002 to 1002 to A", "trigger A"]);
        room.start(A);
        room.tell(Input::Hold);
        room.human("two");
        assert!(room.tell(Input::Resume).asks().is_empty(), "the run goes on");
        assert_eq!(room.ends(A, Outcome::Pass).asks(), ["deliver 1003 to 1003 to B", "trigger B"]);
    }
}

/// F05, M10
#[test]
fn on_hold_a_person_does_not_interrupt_a_reply() {
    let mut room = room(2, HumanInterrupt::Inject);
    room.start(A);
    room.ends(A, spoke("a reply"));
    room.tell(Input::Hold);
    assert!(room.human("wait").is_silent());
    assert_eq!(room.phase(), PhaseKind::Confirming);
    room.tell(Input::Resume);
    assert_eq!(room.says(A, "a reply").asks(), ["deliver 1002 to 1002 to B", "trigger B"]);
}

/// R265, F04
#[test]
fn nothing_that_was_held_is_lost_by_a_stop() {
    for stop in [Input::Stop, Input::Finish] {
        let mut room = queued(2);
        room.human("do not forget me");
        room.tell(stop);
        assert!(room.channel.view().queued().is_some() && room.channel.view().is_wake_pending());
        let step = room.tell(Input::Resume);
        assert_eq!(step.asks(), ["deliver 1002 to 1002 to A", "trigger A"]);
    }
}

/// R265
#[test]
fn nothing_that_was_held_is_lost_with_the_agents() {
    let mut room = queued(2);
    room.human("do not forget me");
    room.tell(Input::Mute(B));
    room.leaves(A);
    room.members();
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Disabled, true));
    room.wait(secs(31));
    room.joins(A);
    let step = room.members();
    assert_eq!(step.asks(), ["deliver 1002 to 1002 to A", "trigger A"]);
}

/// R265
#[test]
fn another_mode_has_no_use_for_what_was_held() {
    let mut room = queued(2);
    room.human("do not forget me");
    room.tell(Input::SetMode(Mode::None));
    assert_eq!(room.channel.view().queued(), None);
    let mut room = queued(2);
    room.human("do not forget me");
    room.tell(Input::Archive);
    assert_eq!(room.channel.view().queued(), None);
}

/// R265, M11
#[test]
fn a_word_that_nobody_could_be_granted_for_is_kept_in_mind() {
    let mut room = Room::chat(2);
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    room.human("anybody?");
    room.members();
    assert_eq!((room.phase(), room.channel.view().is_wake_pending()), (PhaseKind::Dormant, true));
    let step = room.tell(Input::Unmute(B));
    assert_eq!(step.causes()[..2], [Cause::AgentUnmuted, Cause::HumanMessage]);
    assert_eq!(room.speaker(), Some(B));
    assert!(!room.channel.view().is_wake_pending(), "it woke the channel");
}

/// R265
#[test]
fn a_word_that_comes_while_the_list_is_read_is_kept_in_mind_too() {
    let mut room = Room::chat(2);
    room.wait(secs(100));
    room.says(STRANGER, "an agent wakes");
    assert_eq!(room.phase(), PhaseKind::Refreshing);
    room.human("me too");
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    room.members();
    room.members();
    assert!(room.channel.view().is_wake_pending());
    let mut room = Room::chat(2);
    room.wait(secs(100));
    room.says(STRANGER, "an agent wakes");
    room.tell(Input::Mute(A));
    room.tell(Input::Mute(B));
    room.members();
    room.members();
    assert!(!room.channel.view().is_wake_pending(), "an agent's word is no human's");
}

/// R266
#[test]
fn a_person_brings_the_turn_to_rest_and_the_orchestrator_is_asked() {
    let mut room = room(2, HumanInterrupt::Interrupt);
    room.start(A);
    let step = room.human("what about that?");
    assert_eq!(
        step.all(),
        ["running > waiting A: human-interrupted", "consult about 1002 to 1002 for A"]
    );
    assert_eq!(room.speaker(), Some(A));
    assert_eq!(room.explain(A), Reason::Waiting);
    assert_eq!(room.gate_run(A, room.run_of(A)).reason(), Reason::YourTurn, "its run runs on");
    let nameless = room.tell(crate::room::gate(A, None));
    assert_eq!(nameless.reason(), Reason::YourTurn);
    let other = RunId::new(77);
    assert_eq!(room.tell(crate::room::gate(A, Some(other))).reason(), Reason::Waiting);
    assert_eq!(room.tell(crate::room::gate(A, Some(other))).reason(), Reason::RunAlreadyDenied);
    assert_eq!(room.explain(B), Reason::NotYourTurn { speaker: A });
}

/// R267, M12
#[test]
fn after_the_answer_the_turn_goes_on_with_the_time_that_remained() {
    let mut room = Room::chat_with(2, |config| {
        config.people.human_interrupt = HumanInterrupt::Interrupt;
        config.deadlines.turn = Some(secs(600));
        config.deadlines.run = Some(secs(100));
        config.deadlines.slow_after = Some(secs(50));
        config.people.consult_deadline = secs(1_000);
    });
    room.human("hello");
    room.start(A);
    room.wait(secs(10));
    room.human("what about that?");
    assert!(room.wait(secs(900)).is_silent(), "nothing of the turn expires");
    let step = answer(&mut room, ANSWERED);
    assert_eq!(step.all(), ["waiting > running A: orchestrator-answered"]);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(90)));
    assert!(room.wait(millis(39_999)).is_silent());
    assert_eq!(room.wait(millis(1)).causes(), [Cause::RunSlow]);
    room.ends(A, unfinished());
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(45)));
    room.wait(secs(44));
    room.start(A);
    room.wait(secs(90));
    room.ends(A, unfinished());
    room.start(A);
    let left = 600 - 10 - 40 - 44 - 90;
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(100.min(left))));
}

/// R267
#[test]
fn a_turn_that_had_not_started_is_woken_again_after_the_answer() {
    for start in [false, true] {
        let mut room = room(2, HumanInterrupt::Interrupt);
        if start {
            room.start(A);
            room.ends(A, unfinished());
        }
        let phase = room.phase().as_str();
        room.wait(secs(40));
        room.human("what about that?");
        room.wait(secs(20));
        let step = answer(&mut room, ANSWERED);
        let all = [format!("waiting > {phase} A: orchestrator-answered"), "trigger A".to_owned()];
        assert_eq!(step.all(), all);
        assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(45)));
    }
}

/// R268, M12
#[test]
fn without_an_answer_the_speaker_is_handed_what_was_said() {
    for settlement in [FAILED, Settlement::Doubtful, Settlement::Dropped] {
        let (mut room, message) = resting();
        let step = answer(&mut room, settlement);
        let delivered = format!("deliver {message} to {message} to A");
        assert_eq!(step.all(), ["waiting > running A: orchestrator-failed", &delivered]);
    }
    let (mut room, message) = resting();
    let (ticket, step) = (room.consult.unwrap(), room.wait(secs(30)));
    let delivered = format!("deliver {message} to {message} to A");
    assert_eq!(step.all(), ["waiting > running A: orchestrator-late", &delivered]);
    let settled = Input::Settled { ticket, settlement: ANSWERED };
    assert_eq!(room.refusal(settled), Refusal::UnknownTicket);
}

/// R268, F05
#[test]
fn what_the_orchestrator_left_is_held_on_hold() {
    let mut room = room(2, HumanInterrupt::Interrupt);
    room.human("what about that?");
    room.tell(Input::Hold);
    assert!(answer(&mut room, FAILED).asks().is_empty());
    assert_eq!(room.tell(Input::Resume).asks(), ["deliver 1002 to 1002 to A", "trigger A"]);
}

/// R266, M12
#[test]
fn what_people_say_meanwhile_is_asked_about_next() {
    let (mut room, first) = resting();
    assert!(room.human("and this?").is_silent());
    assert!(room.human("and that?").is_silent());
    let step = answer(&mut room, FAILED);
    let asked = format!("consult about {} to {} for A", first + 1, first + 2);
    assert_eq!(step.all(), ["waiting > waiting A: orchestrator-failed", &asked]);
    let deadline = room.channel.next_deadline().map(|due| due.at);
    assert_eq!(deadline, Some(room.now + secs(30)));
    let step = answer(&mut room, ANSWERED);
    let left = format!("deliver {first} to {first} to A");
    assert_eq!(step.all(), ["waiting > running A: orchestrator-answered", &left]);
}

/// R269
#[test]
fn a_reply_that_ends_while_the_turn_rests_takes_effect_afterwards() {
    let (mut room, message) = resting();
    let run = room.run_of(A);
    room.says(A, "the reply");
    assert_eq!(room.channel.view().ended_run(), None, "it runs on while its turn waits");
    assert!(room.tell(ended(A, Some(run), spoke("the reply"))).is_silent());
    assert_eq!(room.channel.view().ended_run(), Some(run));
    assert_eq!(room.refusal(ended(A, Some(run), Outcome::Pass)), Refusal::StaleRun);
    assert_eq!(room.gate_run(A, run).reason(), Reason::RunAlreadyEnded);
    assert_eq!(room.tell(crate::room::gate(A, None)).reason(), Reason::Waiting);
    let step = answer(&mut room, FAILED);
    let causes = [Cause::OrchestratorFailed, Cause::Spoke, Cause::TailMatched, Cause::NextInList];
    assert_eq!(step.causes(), causes);
    let delivered = format!("deliver {message} to {message} to B");
    assert_eq!(step.asks(), [&delivered, "trigger B"], "the next one hears it");
}

/// R269
#[test]
fn every_end_may_be_kept() {
    let ends = [
        (Outcome::Pass, PhaseKind::Granted, Some(B)),
        (Outcome::Failed, PhaseKind::Granted, Some(B)),
        (unfinished(), PhaseKind::Continuing, Some(A)),
        (spoke("on its way"), PhaseKind::Confirming, Some(A)),
    ];
    for (outcome, phase, speaker) in ends {
        let (mut room, _) = resting();
        room.ends(A, outcome);
        answer(&mut room, ANSWERED);
        assert_eq!((room.phase(), room.speaker()), (phase, speaker), "{outcome:?}");
    }
    let (mut room, _) = resting();
    let (run, messages) = (Some(room.run_of(A)), vec![MessageId::new(8_000)]);
    room.tell(Input::Receipt { agent: A, run, messages: messages.clone() });
    assert_eq!(room.refusal(Input::Receipt { agent: B, run, messages }), Refusal::StaleRun);
    room.ends(A, spoke("known to have arrived"));
    assert!(answer(&mut room, ANSWERED).causes().contains(&Cause::ReceiptGiven));
}

/// R265, R270
#[test]
fn a_turn_that_ends_while_it_rests_leaves_the_question_to_the_next() {
    let ends = [Input::MemberLeft(A), Input::Mute(A), Input::Offline(A)];
    for end in ends {
        let (mut room, message) = resting();
        room.human("and this?");
        let ticket = room.consult.unwrap();
        let step = room.tell(end);
        let delivered = format!("deliver {message} to {} to B", message + 1);
        assert_eq!(step.asks(), ["cancel the run of A", &delivered, "trigger B"]);
        assert_eq!(room.seat(A).turn, SeatTurn::Skipped);
        let settled = Input::Settled { ticket, settlement: ANSWERED };
        assert_eq!(room.refusal(settled), Refusal::UnknownTicket, "nobody waits for it");
    }
    let (mut room, _) = resting();
    room.ends(A, Outcome::Pass);
    let step = room.tell(Input::Mute(A));
    assert!(!step.asks().contains(&"cancel the run of A".to_owned()), "it had ended");
    let (mut room, _) = resting();
    room.tell(Input::Stop);
    assert!(room.channel.view().queued().is_some());
    assert!(room.channel.pending().iter().all(|effect| effect.effect.ticket() != room.consult));
}

/// R268, F19
#[test]
fn a_restart_ends_the_consultation() {
    let (mut room, message) = resting();
    let step = room.tell(Input::RunsLost { rerun: true });
    assert_eq!(step.causes(), [Cause::OrchestratorFailed, Cause::RunLost]);
    assert_eq!(step.asks(), ["trigger A"]);
    assert_eq!(room.channel.view().queued().map(|held| held.first.get()), Some(message));
    let mut room = self::room(2, HumanInterrupt::Interrupt);
    room.human("one");
    room.human("two");
    let step = room.tell(Input::RunsLost { rerun: true });
    assert_eq!(step.asks(), ["deliver 1002 to 1003 to A", "trigger A"]);
    let (mut room, _) = resting();
    room.ends(A, Outcome::Pass);
    let step = room.tell(Input::RunsLost { rerun: true });
    let causes = [Cause::OrchestratorFailed, Cause::Passed, Cause::NextInList];
    assert_eq!(step.causes(), causes, "what had ended is not run again");
}

/// D66
#[test]
fn whatever_is_said_while_a_turn_rests_asks_for_another_cycle() {
    let speak: [fn(&mut Room); 3] = [
        |room| drop(room.says(C, "me too")),
        |room| drop(room.human("me too")),
        |room| drop(room.tell(Input::Wake { first: None, cause: dirigent_core::WakeCause::Guide })),
    ];
    for speak in speak {
        let mut room = room(3, HumanInterrupt::Interrupt);
        room.human("wait");
        speak(&mut room);
        assert_eq!(
            (room.phase(), room.snapshot().state.words.cycle_requested),
            (PhaseKind::Waiting, true)
        );
    }
}

/// D61, M10
#[test]
fn an_interrupted_reply_restarts_where_people_are_not_held() {
    let mut room = Room::chat_with(2, |config| {
        config.people.human_interrupt = HumanInterrupt::Interrupt;
        config.people.interrupt = InterruptPolicy::AdvanceNormally;
    });
    room.human("hello");
    room.start(A);
    room.ends(A, spoke("a reply"));
    assert_eq!(room.human("wait").causes(), [Cause::Interrupted, Cause::NextInList]);
}

/// D77
#[test]
fn a_consultation_survives_a_clock_that_goes_back() {
    let (mut room, _) = resting();
    room.wait(secs(10));
    room.now = crate::room::START;
    room.tell(Input::Tick);
    assert_eq!(room.channel.next_deadline().map(|due| due.at), Some(room.now + secs(20)));
    answer(&mut room, ANSWERED);
    assert_eq!(room.channel.view().turn_ends_at(), Some(room.now + secs(600)));
}
