//! Fifty questions about outcomes, as a reader of `docs/rules.md` would answer them: a situation in words, the
//! same situation as inputs to the machine, and the outcome that the machine gives.
//!
//! In all of them the agents A, B, C and D are listed in this order, and the settings are the default ones unless the
//! question says otherwise. `cargo test -p dirigent-tests --test rules questions -- --nocapture` prints them.

mod gate;
mod hard;
mod limits;
mod people;
mod turns;

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Input, Refusal};

use crate::room::{Room, Step, name};

/// A question in a sentence, with the answer that the machine must give.
struct Question {
    ask: &'static str,
    answer: &'static str,
    /// Plays the situation and gives the outcome in words.
    play: fn() -> String,
}

/// Returns all questions, group by group.
fn all() -> impl Iterator<Item = &'static Question> {
    let groups: [&[Question]; 5] =
        [gate::QUESTIONS, turns::QUESTIONS, people::QUESTIONS, limits::QUESTIONS, hard::QUESTIONS];
    groups.into_iter().flatten()
}

/// The answer to a gate call, in words.
#[track_caller]
fn verdict(step: &Step) -> String {
    let word = if step.verdict().is_allowed() { "allow" } else { "deny" };
    format!("{word} {}", step.reason().as_str())
}

/// The phase.
fn phase(room: &Room) -> String {
    room.phase().as_str().to_owned()
}

/// Who has the floor.
fn floor(room: &Room) -> String {
    room.speaker().map_or_else(|| "no agent".to_owned(), name)
}

/// What became of an agent's turn in this cycle.
fn slot(room: &Room, agent: AgentKey) -> String {
    match room.seat(agent).turn {
        SeatTurn::Ahead => "ahead",
        SeatTurn::Passed => "passed",
        SeatTurn::Spoke => "spoke",
        SeatTurn::Skipped => "skipped",
        other => panic!("a new end of a turn: {other:?}"),
    }
    .to_owned()
}

/// What the host is asked to do, in order.
fn asked(step: &Step) -> String {
    let asks = step.asks();
    if asks.is_empty() { "nothing".to_owned() } else { asks.join(", ") }
}

/// Why an input is refused.
#[track_caller]
fn refused(room: &mut Room, input: Input) -> String {
    let refusal: Refusal = room.refusal(input);
    format!("refused: {}", refusal.as_str())
}

#[test]
fn the_machine_answers_each_of_fifty_questions_as_the_table_says() {
    let mut wrong = Vec::new();
    for (number, Question { ask, answer, play }) in (1..).zip(all()) {
        let outcome = play();
        println!("{number}. {ask}\n   {outcome}");
        if outcome != *answer {
            wrong.push(format!(
                "{number}. {ask}\n   the table: {answer}\n   the machine: {outcome}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn there_are_fifty_questions_and_no_two_are_alike() {
    let asks: std::collections::BTreeSet<&str> = all().map(|question| question.ask).collect();
    assert_eq!((all().count(), asks.len()), (50, 50));
}
