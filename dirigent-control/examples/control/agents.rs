//! Agents that need no model. Each one says its lines in turn, and passes now and then.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dirigent::{Agent, AgentError, Clock, Reply, SystemClock, Turn};

pub(crate) struct Scripted {
    pub(crate) lines: &'static [&'static str],
    /// The number of turns that the agent has had.
    pub(crate) turns: AtomicUsize,
    pub(crate) thinks: Duration,
}

impl Scripted {
    pub(crate) const fn new(lines: &'static [&'static str], thinks: Duration) -> Self {
        Self { lines, turns: AtomicUsize::new(0), thinks }
    }
}

#[dirigent::async_trait]
impl Agent for Scripted {
    async fn speak(&self, turn: Turn) -> Result<Reply, AgentError> {
        let clock = SystemClock::new();
        tokio::select! {
            () = turn.cancelled() => return Ok(Reply::Pass),
            () = clock.sleep_until(clock.now() + self.thinks) => {}
        }
        let at = self.turns.fetch_add(1, Ordering::Relaxed);
        let line = self.lines.get(at % self.lines.len().max(1)).copied().unwrap_or_default();
        if line == "asks" {
            return Ok(Reply::from("This is for a person to decide. [human]"));
        }
        // A line that was said before gets a number, so that it counts as new.
        let round = at / self.lines.len().max(1);
        Ok(match (line, round) {
            ("", _) => Reply::Pass,
            (line, 0) => Reply::from(line),
            (line, round) => Reply::from(format!("{line} (again, for the {round}. time)")),
        })
    }
}
