//! The five agents: three that the library calls, wherever they live, and two that have a gateway connection of their own and ask
//! before they speak.

use std::time::Duration;

use dirigent::prelude::*;

/// By the process in which each lives.
pub(crate) const NAMES: [&str; 5] = ["developer", "reviewer", "tester", "critic", "editor"];
/// The library calls the first three; the others ask.
pub(crate) const CALLED: usize = 3;
/// The number of channels in which those that ask take part: each costs the moderator a message a turn.
pub(crate) const ASKED: usize = 5;
/// How long an agent thinks.
pub(crate) const THINKS: Duration = Duration::from_millis(120);

/// Says which words of people it heard, and in which turn.
pub(crate) async fn speak(turn: Turn) -> Result<Reply, AgentError> {
    let words = turn.missed().iter().filter(|message| message.is_by_person());
    let words: Vec<_> = words.map(|message| message.content.to_string()).collect();
    if words.is_empty() {
        return Ok(Reply::Pass);
    }
    let number = turn.turn().get();
    say(&format!("called {} {number}", turn.channel()));
    pause(THINKS).await;
    Ok(format!("turn {number} heard {}", words.join(" ")).as_str().into())
}

/// A line for the process that started this one.
#[expect(clippy::print_stdout, reason = "the other process reads it")]
pub(crate) fn say(line: &str) {
    println!("{line}");
}

pub(crate) async fn pause(time: Duration) {
    let clock = SystemClock::new();
    clock.sleep_until(clock.now() + time).await;
}
