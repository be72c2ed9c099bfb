//! How a run ends, and what its end means for the turn.

use crate::room::{A, B, Room, ended, millis, secs, spoke};
use dirigent_core::text::SilencePolicy;
use dirigent_core::view::SeatTurn;
use dirigent_core::{Cause, Input, MessageId, Outcome, PhaseKind, Refusal};

/// The room after A's run ended with this text, under the seed's rule of silence.
fn after_text(text: &str) -> (Room, Vec<String>) {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let asks = room.ends(A, SilencePolicy::Strict.outcome(text)).asks();
    (room, asks)
}

/// R097, R100, D44
#[test]
fn silent_words_end_an_empty_turn() {
    for text in ["NO_REPLY", "no_reply", " NO_REPLY\n", "NO", "", " \n\t "] {
        let (room, asks) = after_text(text);
        assert_eq!(asks, ["trigger B"], "{text:?} passes");
        assert_eq!(room.seat(A).turn, SeatTurn::Passed, "{text:?}");
    }
}

/// R098, R101, R166, D44, D45, D96
#[test]
fn any_other_text_is_a_real_turn() {
    let texts = ["No", "no", "NO problem", "NO_REPLY: because", "NO_REPLY.", "🔚", "bye 🔚"];
    for text in texts {
        let (room, asks) = after_text(text);
        assert_eq!(asks, Vec::<String>::new(), "{text:?} waits for its delivery");
        assert_eq!(room.phase(), PhaseKind::Confirming, "{text:?}");
        assert_eq!(room.speaker(), Some(A));
    }
}

/// R166, D96
#[test]
fn a_reply_with_an_end_symbol_is_confirmed_like_any_other() {
    let (mut room, _) = after_text("That is all. 🔚");
    assert!(room.says(A, "That is all.").is_silent(), "the symbol belongs to the text");
    assert_eq!(room.says(A, "🔚").asks(), ["trigger B"]);
}

/// F25
#[test]
fn outcomes_may_be_given_instead_of_text() {
    let outcomes = [
        (Outcome::Pass, SeatTurn::Passed),
        (Outcome::Failed, SeatTurn::Passed),
        (spoke("NO_REPLY"), SeatTurn::Ahead),
    ];
    for (outcome, turn) in outcomes {
        let mut room = Room::chat(2);
        room.human("hello");
        room.start(A);
        room.ends(A, outcome);
        assert_eq!(room.seat(A).turn, turn, "a host that says `spoke` is believed");
    }
}

/// R099, R104, D107
#[test]
fn every_completed_turn_is_recorded_once() {
    let mut room = Room::chat(3);
    room.human("hello");
    room.passes(A);
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Ahead, SeatTurn::Ahead]);
    room.talks(B, "a reply");
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Ahead, SeatTurn::Ahead]);
    room.says(B, "a reply");
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Spoke, SeatTurn::Ahead]);
    // Repeats of all that change nothing.
    let (a, b) = (Some(room.run_of(A)), Some(room.run_of(B)));
    for (agent, run) in [(A, a), (B, b)] {
        for outcome in [Outcome::Pass, spoke("a reply")] {
            assert_eq!(room.refusal(ended(agent, run, outcome)), Refusal::StaleRun);
        }
    }
    assert_eq!(room.turns(), [SeatTurn::Passed, SeatTurn::Spoke, SeatTurn::Ahead]);
}

/// R100, R104, R112
#[test]
fn an_empty_turn_advances_at_once_without_polling() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let step = room.ends(A, Outcome::Pass);
    let story = ["running > granted B: next-in-list", "trigger B"];
    let all = step.all();
    assert_eq!(all[all.len() - 2..], story, "{all:?}");
    assert_eq!(step.asks(), ["trigger B"]);
    assert!(step.causes().contains(&Cause::Passed));
    assert!(room.wait(secs(20)).asks().is_empty(), "nothing is polled");
}

/// R101
#[test]
fn a_real_turn_waits_for_its_delivery() {
    let mut room = Room::chat(2);
    room.human("hello");
    let step = room.talks(A, "a reply on its way");
    assert_eq!(step.all(), ["running > confirming A: spoke"]);
    let polls = room.wait(secs(14)).asks();
    assert!(polls.iter().all(|ask| ask == "poll after 1001"), "{polls:?}");
    assert_eq!(room.speaker(), Some(A));
}

/// R102, D42
#[test]
fn a_failed_run_counts_as_empty_and_says_so() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let step = room.ends(A, Outcome::Failed);
    assert_eq!(step.asks(), ["trigger B"]);
    assert!(step.causes().contains(&Cause::RunFailed));
    assert_eq!(room.seat(A).turn, SeatTurn::Passed);
    room.start(B);
    room.ends(B, Outcome::Failed);
    room.members();
    assert_eq!(room.phase(), PhaseKind::Dormant, "an outage does not loop");
}

/// R103, D46
#[test]
fn an_agent_that_posted_by_its_tool_spoke_although_it_ends_with_nothing() {
    for outcome in [Outcome::Pass, Outcome::Failed] {
        let mut room = Room::chat(2);
        room.human("hello");
        room.start(A);
        room.says(A, "said by the message tool");
        room.sleep(millis(100));
        assert!(room.ends(A, outcome).asks().is_empty());
        assert_eq!(room.phase(), PhaseKind::Confirming);
        room.wait(millis(1_399));
        assert_eq!(room.phase(), PhaseKind::Confirming, "it may have more to say");
        let step = room.wait(millis(1));
        assert!(step.asks().contains(&"trigger B".to_owned()), "quiet for a second and a half");
        assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
    }
}

/// R103, D46
#[test]
fn a_tool_post_long_ago_confirms_at_once() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.says(A, "said by the message tool");
    room.wait(secs(5));
    assert_eq!(room.ends(A, Outcome::Pass).asks(), ["trigger B"]);
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// R103, R107
#[test]
fn messages_before_the_anchor_or_of_others_do_not_make_an_empty_turn_real() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.says(A, "late words of an earlier turn");
    room.start(A);
    room.says(B, "words of somebody else");
    room.system(dirigent_core::Author::Agent(A));
    assert_eq!(room.ends(A, Outcome::Pass).asks(), ["trigger B"]);
    assert_eq!(room.seat(A).turn, SeatTurn::Passed);
}

/// R100, D53
#[test]
fn a_receipt_before_the_end_confirms_at_the_end() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    let run = Some(room.run_of(A));
    let receipt = Input::Receipt { agent: A, run, messages: vec![MessageId::new(2_000)] };
    assert!(room.tell(receipt).asks().is_empty());
    let step = room.ends(A, spoke("words that never arrive in this form"));
    assert_eq!(step.asks(), ["trigger B"]);
    assert!(step.causes().contains(&Cause::ReceiptGiven));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// D64
#[test]
fn a_run_that_never_ends_is_cancelled_and_skipped() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    assert!(room.wait(secs(599)).is_silent());
    let step = room.wait(secs(1));
    assert_eq!(step.asks(), ["cancel the run of A", "trigger B"]);
    assert!(step.causes().contains(&Cause::RunTimedOut));
    assert_eq!(room.seat(A).turn, SeatTurn::Skipped);
    let run = Some(room.run_of(A));
    assert_eq!(room.refusal(ended(A, run, spoke("too late"))), Refusal::StaleRun);
}

/// R195, W10, D64
#[test]
fn an_agent_that_does_not_start_is_woken_once_more_and_then_skipped() {
    let mut room = Room::chat(2);
    room.human("hello");
    assert!(room.wait(secs(44)).is_silent());
    let again = room.wait(secs(1));
    assert_eq!(again.asks(), ["trigger A again, 1"]);
    assert_eq!(again.causes(), [Cause::Retriggered]);
    assert!(room.wait(secs(44)).is_silent());
    let skipped = room.wait(secs(1));
    assert_eq!(skipped.asks(), ["trigger B"]);
    assert!(skipped.causes().contains(&Cause::StartTimedOut));
    assert_eq!(room.seat(A).turn, SeatTurn::Skipped);
}

/// R195
#[test]
fn an_agent_that_starts_after_the_second_trigger_keeps_its_turn() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.wait(secs(60));
    room.start(A);
    assert!(room.wait(secs(100)).is_silent());
    assert_eq!(room.ends(A, Outcome::Pass).asks(), ["trigger B"]);
}

/// R195, D64
#[test]
fn start_deadline_and_retriggers_are_settings() {
    let mut room = Room::chat_with(2, |config| {
        config.deadlines.start = Some(secs(5));
        config.deadlines.retriggers = 3;
    });
    room.human("hello");
    let asks = room.wait(secs(20)).asks();
    let expected = ["trigger A again, 1", "trigger A again, 2", "trigger A again, 3", "trigger B"];
    assert_eq!(asks, expected);
    let mut patient = Room::chat_with(2, |config| config.deadlines.start = None);
    patient.human("hello");
    assert!(patient.wait(secs(86_400)).is_silent());
    assert_eq!(patient.speaker(), Some(A));
}

/// D46, D64
#[test]
fn a_run_that_takes_too_long_after_it_said_something_is_a_turn() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.wait(secs(599));
    room.says(A, "the first half of it");
    let step = room.wait(secs(1));
    assert_eq!(step.all(), ["cancel the run of A", "running > confirming A: run-timed-out"]);
    let step = room.wait(secs(1));
    assert!(step.causes().contains(&Cause::QuietAfterMessage));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
    room.passes(B);
    assert_eq!(room.members().asks(), ["trigger A"], "B passed, but A spoke");
}

/// D46, D64
#[test]
fn a_run_that_takes_too_long_after_its_receipt_is_a_turn() {
    let mut room = Room::chat(2);
    room.human("hello");
    room.start(A);
    room.message += 1;
    let (agent, run, messages) = (A, Some(room.run_of(A)), vec![room.newest()]);
    room.tell(Input::Receipt { agent, run, messages });
    let step = room.wait(secs(600));
    assert_eq!(step.asks(), ["cancel the run of A", "trigger B"]);
    assert!(step.causes().contains(&Cause::ReceiptGiven));
    assert_eq!(room.seat(A).turn, SeatTurn::Spoke);
}

/// R260
#[test]
fn only_a_turn_that_ends_by_taking_too_long_is_announced() {
    let mut room = Room::chat_with(2, |config| {
        config.deadlines.turn = Some(secs(60));
        config.announce_timeouts = true;
    });
    room.human("hello");
    room.start(A);
    room.wait(secs(59));
    room.says(A, "the first half of it");
    assert_eq!(room.wait(secs(1)).asks(), ["cancel the run of A"]);
    let asks = room.wait(secs(1)).asks();
    assert!(asks.contains(&"trigger B".to_owned()), "{asks:?}");
    assert!(!asks.iter().any(|ask| ask.contains("TimedOut")), "{asks:?}");
}
