//! Agents by words, for a table without a model.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use dirigent::{Agent, AgentError, Clock, Reply, SystemClock, Turn};

/// The question that the agents' first words are about.
pub(crate) const QUESTION: &str = "Should we build the new search?";

/// What each agent says: about the question, and about any other topic.
const LINES: [(&str, &[&str], &[&str]); 3] = [
    (
        "optimist",
        &[
            "Let us build it. A week, and people will love it.",
            "Then we start with the smallest piece that helps one user.",
        ],
        &["I would try the {topic}.", "The {topic}: fine with me.", "Why not the {topic}?"],
    ),
    (
        "sceptic",
        &["A week for whom? We have not asked a single user yet."],
        &["What does the {topic} cost us?", "Would you bet your own money on the {topic}?"],
    ),
    (
        "historian",
        &["We said \"a week\" about the last two projects as well."],
        &["We had the {topic} in spring.", "The last time it was the {topic}, too."],
    ),
];

/// Says its first lines about the question, later one line for each message of a person, and passes otherwise.
pub(crate) struct Words {
    first: Mutex<VecDeque<&'static str>>,
    later: Mutex<VecDeque<&'static str>>,
    thinks: Duration,
}

impl Words {
    /// What this agent of the table says.
    pub(crate) fn of(agent: &str, thinks: Duration) -> Self {
        let known = LINES.into_iter().find(|(name, ..)| *name == agent);
        let (_, first, later) = known.unwrap_or_default();
        let lines = |lines: &[&'static str]| Mutex::new(lines.iter().copied().collect());
        Self { first: lines(first), later: lines(later), thinks }
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
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = turn.missed().iter().rfind(|message| message.is_by_person());
        if asked.is_some_and(|message| &*message.content != QUESTION) {
            first.clear();
        }
        if let Some(line) = first.pop_front() {
            return Ok(line.into());
        }
        let Some(asked) = asked.filter(|message| &*message.content != QUESTION) else {
            return Ok(Reply::Pass);
        };
        let mut later = self.later.lock().unwrap_or_else(PoisonError::into_inner);
        later.rotate_left(1);
        let line = later.back().map(|line| line.replace("{topic}", &topic(&asked.content)));
        Ok(line.map_or(Reply::Pass, Reply::from))
    }
}

/// What a message is about, as far as one can tell without a model: its longest word.
fn topic(text: &str) -> String {
    let words = text.split_whitespace().filter(|word| !word.starts_with('@'));
    let words = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let longest = words.max_by_key(|word| word.chars().count()).unwrap_or_default();
    if longest.is_empty() { "that".to_owned() } else { longest.to_lowercase() }
}
