//! The five agents: three that the library calls, and two that have a gateway connection of their own and ask
//! before they speak.

use std::time::Duration;

use dirigent::prelude::*;

/// Those that ask live in the processes of the same number.
pub(crate) const NAMES: [&str; 5] = ["developer", "reviewer", "tester", "critic", "editor"];
/// The library calls the first three; the others ask.
pub(crate) const CALLED: usize = 3;

/// How long agents think.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thinking {
    /// Each run whose number is a multiple of this takes one and a half leases; 0: none does.
    pub(crate) long: u64,
    pub(crate) lease: Duration,
}

impl Thinking {
    /// In the turn, or the run, with this number.
    pub(crate) async fn think(&self, number: u64) {
        let is_long = self.long > 0 && number.is_multiple_of(self.long);
        pause(if is_long { self.lease * 3 / 2 } else { Duration::from_millis(120) }).await;
    }
}

/// The clock of the machine, in milliseconds.
pub(crate) fn now() -> u64 {
    SystemClock::new().now().as_millis()
}

/// Says which words of people it heard, and in which turn.
pub(crate) async fn speak(turn: Turn, thinking: Thinking) -> Result<Reply, AgentError> {
    let words = turn.missed().iter().filter(|message| message.is_by_person());
    let words: Vec<_> = words.map(|message| message.content.to_string()).collect();
    if words.is_empty() {
        return Ok(Reply::Pass);
    }
    let number = turn.turn().get();
    say(&format!("called {} {number} {}", turn.channel(), now()));
    thinking.think(number).await;
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
