//! A program at the table: `dirigent`, or a bot.

use std::process::Stdio;
use std::time::Duration;

use dirigent::{Clock, SystemClock};
use tokio::process::{Child, Command};

use crate::Result;
use crate::told::Lines;

/// The longest wait for anything that must happen.
const PATIENCE: Duration = Duration::from_secs(90);
/// The pause between two looks.
const LOOK: Duration = Duration::from_millis(10);

/// Waits until there is something to return.
pub(crate) async fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T> {
    let clock = SystemClock::new();
    let patience = clock.now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return Ok(found);
        }
        if clock.now() > patience {
            return Err(format!("{what} did not happen").into());
        }
        clock.sleep_until(clock.now() + LOOK).await;
    }
}

/// A program that can be killed and started again.
#[derive(Debug)]
pub(crate) struct Party {
    command: Command,
    /// What it prints once it takes part.
    ready: &'static str,
    pub(crate) lines: Lines,
    /// Where the lines of its newest start begin.
    pub(crate) from: usize,
    child: Option<Child>,
}

impl Party {
    pub(crate) fn new(mut command: Command, ready: &'static str) -> Self {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Self { command, ready, lines: Lines::default(), from: 0, child: None }
    }

    /// Starts it.
    pub(crate) fn begin(&mut self) -> Result {
        self.from = self.lines.count();
        let mut child = self.command.spawn()?;
        child.stdout.take().into_iter().for_each(|out| self.lines.collect(out));
        child.stderr.take().into_iter().for_each(|errors| self.lines.collect(errors));
        self.child = Some(child);
        Ok(())
    }

    /// Waits until it takes part.
    pub(crate) async fn takes_part(&self) -> Result {
        let what = format!("{:?} in what {:?} prints", self.ready, self.command.as_std());
        until(&what, || self.lines.after(self.from, self.ready)).await.map(drop)
    }

    /// Kills it with SIGKILL.
    pub(crate) async fn kill(&mut self) -> Result {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        Ok(child.kill().await?)
    }
}
