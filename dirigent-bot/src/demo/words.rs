//! Agents with fixed words, for a table without a model.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Deserialize;

use dirigent::{Agent, AgentError, Clock, Reply, SystemClock, Turn};

/// The question that the agents' first words are about.
pub(crate) const QUESTION: &str = "Should we build the new search?";

/// An agent's lines: first about the question, later one for each message of a person. Without a line it passes.
#[derive(Deserialize)]
struct Lines {
    first: VecDeque<String>,
    later: VecDeque<String>,
}

pub(crate) struct Words {
    lines: Mutex<Lines>,
    thinks: Duration,
}

impl Words {
    pub(crate) fn of(agent: &str, thinks: Duration) -> Option<Self> {
        let mut all: HashMap<String, Lines> = toml::from_str(include_str!("words.toml")).ok()?;
        Some(Self { lines: Mutex::new(all.remove(agent)?), thinks })
    }
}

#[dirigent::async_trait]
impl Agent for Words {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let clock = SystemClock::new();
        tokio::select! {
            () = turn.cancelled() => return Ok(Reply::Pass),
            () = clock.sleep_until(clock.now() + self.thinks) => {}
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = turn.missed().iter().rfind(|message| message.is_by_person());
        let asked = asked.filter(|message| &*message.content != QUESTION);
        if asked.is_some() {
            lines.first.clear();
        }
        if let Some(line) = lines.first.pop_front() {
            return Ok(line.into());
        }
        let Some(asked) = asked else { return Ok(Reply::Pass) };
        lines.later.rotate_left(1);
        let line = lines.later.back().map(|line| line.replace("{topic}", &topic(&asked.content)));
        Ok(line.map_or(Reply::Pass, Reply::from))
    }
}

/// Returns a message's topic, as far as that is possible without a model: its longest word.
fn topic(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.starts_with('@'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let longest = words.max_by_key(|word| word.chars().count()).unwrap_or_default();
    if longest.is_empty() { "that".to_owned() } else { longest.to_lowercase() }
}
