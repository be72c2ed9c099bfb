//! Three characters. A model would take their place.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::ports::AuthorKind;
use dirigent::{Agent, ChatMessage, Clock, Reply, Turn};

use crate::{FastClock, Result};

/// How long a character thinks.
const THINKS: Duration = Duration::from_millis(400);

/// An agent that has little to say, and never says the same twice in a row.
#[derive(Clone, Copy, Debug)]
pub struct Character {
    /// The agent's name.
    pub name: &'static str,
    /// What makes it speak.
    is_moved_by: fn(&ChatMessage) -> bool,
    /// What it says then, one line after the other.
    lines: &'static [&'static str],
}

/// One is moved by people, one by enthusiasm, one by questions: so a person's word runs through all three,
/// whatever their order, and then they are silent.
pub const CHARACTERS: [Character; 3] = [
    Character {
        name: "optimist",
        is_moved_by: |message| message.author_kind == AuthorKind::Human,
        lines: &[
            "Let us just do it, it takes a week at most!",
            "I knew that this question would come!",
            "That is the easy part!",
        ],
    },
    Character {
        name: "sceptic",
        is_moved_by: |message| is_an_agents(message) && message.content.contains('!'),
        lines: &[
            "And who is going to use it?",
            "Has anybody tried that before?",
            "What if it is not?",
        ],
    },
    Character {
        name: "historian",
        is_moved_by: |message| is_an_agents(message) && message.content.contains('?'),
        lines: &[
            "The same was asked in 1998, without an answer.",
            "Twice, and both times it was raining.",
            "Then there will be a committee, as always.",
        ],
    },
];

fn is_an_agents(message: &ChatMessage) -> bool {
    message.author_kind == AuthorKind::Bot
}

/// A character that counts what it said.
#[derive(Debug)]
pub struct Spoken {
    character: Character,
    clock: FastClock,
    said: AtomicUsize,
}

impl Character {
    /// Begins to take part.
    pub const fn with(self, clock: FastClock) -> Spoken {
        Spoken { character: self, clock, said: AtomicUsize::new(0) }
    }
}

impl Spoken {
    /// What it answers to what was said since its last turn; `None` if that does not move it.
    pub fn answer<'a>(
        &self,
        mut missed: impl Iterator<Item = &'a ChatMessage>,
    ) -> Option<&'static str> {
        let Character { is_moved_by, lines, .. } = self.character;
        if !missed.any(is_moved_by) {
            return None;
        }
        let said = self.said.fetch_add(1, Ordering::Relaxed);
        lines.get(said % lines.len()).copied()
    }

    /// Its time.
    pub const fn clock(&self) -> FastClock {
        self.clock
    }

    /// Thinks for as long as it takes.
    pub async fn think(&self) {
        self.clock.sleep_until(self.clock.now() + THINKS).await;
    }
}

#[dirigent::async_trait]
impl Agent for Spoken {
    async fn speak(&self, turn: Turn) -> Result<Reply> {
        tokio::select! {
            () = turn.cancelled() => return Ok(Reply::Pass),
            () = self.think() => {}
        }
        let missed = turn.missed().iter().map(AsRef::as_ref);
        Ok(self.answer(missed).map_or(Reply::Pass, Reply::from))
    }
}
