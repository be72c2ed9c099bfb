//! What sits at the table: agents that read from a script instead of asking a model.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent::{Agent, Clock, Reply, SystemClock, Turn};

use crate::Result;

/// An agent that says its lines, one a turn, and passes while it has none.
pub(crate) struct Scripted {
    pub(crate) script: Script,
    pub(crate) thinking: Thinking,
}

#[dirigent::async_trait]
impl Agent for Scripted {
    async fn speak(&self, turn: Turn) -> Result<Reply> {
        if !self.thinking.pause(&turn).await {
            return Ok(Reply::Pass);
        }
        Ok(self.script.next().map_or(Reply::Pass, Reply::from))
    }
}

/// What an agent is going to say. Clones share it, so that a scene can add lines.
#[derive(Clone, Default)]
pub(crate) struct Script(Arc<Mutex<VecDeque<&'static str>>>);

impl Script {
    pub(crate) fn add(&self, lines: &[&'static str]) {
        self.lines().extend(lines);
    }

    fn next(&self) -> Option<&'static str> {
        self.lines().pop_front()
    }

    fn lines(&self) -> MutexGuard<'_, VecDeque<&'static str>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes as long as a model would, only less.
pub(crate) struct Thinking {
    pub(crate) clock: SystemClock,
    pub(crate) time: Duration,
}

impl Thinking {
    /// Returns `false` when the turn was taken away meanwhile: a reply would not be posted.
    async fn pause(&self, turn: &Turn) -> bool {
        tokio::select! {
            () = turn.cancelled() => false,
            () = self.clock.sleep_until(self.clock.now() + self.time) => true,
        }
    }
}
