//! Copies of this program as processes of their own, that a test starts, hears and strikes.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

/// What a process said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The number that the process was given.
    pub from: usize,
    /// Without its end.
    pub text: String,
}

/// What all of the processes say, in the order in which it arrives.
#[derive(Debug)]
pub struct Lines {
    tell: mpsc::UnboundedSender<Line>,
    said: mpsc::UnboundedReceiver<Line>,
}

impl Default for Lines {
    fn default() -> Self {
        let (tell, said) = mpsc::unbounded_channel();
        Self { tell, said }
    }
}

impl Lines {
    /// A line that has arrived, if one has.
    pub fn arrived(&mut self) -> Option<Line> {
        self.said.try_recv().ok()
    }

    /// Waits for a line that is wanted; each before it is shown to `wanted`, too.
    ///
    /// # Errors
    ///
    /// None came within the limit.
    pub async fn until(
        &mut self,
        limit: Duration,
        mut wanted: impl FnMut(&Line) -> bool,
    ) -> io::Result<Line> {
        let wait = async {
            while let Some(line) = self.said.recv().await {
                if wanted(&line) {
                    return Some(line);
                }
            }
            None
        };
        let nothing = || io::Error::other(format!("no process said what was awaited in {limit:?}"));
        tokio::time::timeout(limit, wait).await.ok().flatten().ok_or_else(nothing)
    }
}

/// A process that lives until it is killed, ends by itself, or this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
}

impl Process {
    /// Starts this program again, with `--bot` and these environment variables.
    ///
    /// # Errors
    ///
    /// The system starts no process.
    pub fn start(number: usize, variables: &[(&str, String)], lines: &Lines) -> io::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--bot").envs(variables.iter().map(|(name, value)| (name, value)));
        command.kill_on_drop(true).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (input, output) = pipes.ok_or_else(|| io::Error::other("a process has no pipes"))?;
        let tell = lines.tell.clone();
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(text)) = lines.next_line().await {
                let _ = tell.send(Line { from: number, text });
            }
        });
        Ok(Self { child, input })
    }

    /// Writes a line to its input.
    ///
    /// # Errors
    ///
    /// It has ended.
    pub async fn order(&mut self, line: &str) -> io::Result<()> {
        self.input.write_all(format!("{line}\n").as_bytes()).await
    }

    /// Ends it with SIGKILL.
    ///
    /// # Errors
    ///
    /// The system refuses that.
    pub async fn kill(&mut self) -> io::Result<()> {
        self.child.kill().await
    }

    /// Waits until it has ended by itself.
    ///
    /// # Errors
    ///
    /// It ended with another code than 0.
    pub async fn ended(&mut self) -> io::Result<()> {
        let status = self.child.wait().await?;
        status
            .success()
            .then_some(())
            .ok_or_else(|| io::Error::other(format!("a process ended: {status}")))
    }

    /// Has it stand still (SIGSTOP).
    ///
    /// # Errors
    ///
    /// It has ended, or the system has no `kill`.
    pub async fn pause(&self) -> io::Result<()> {
        self.signal("STOP").await
    }

    /// Has it go on (SIGCONT).
    ///
    /// # Errors
    ///
    /// It has ended, or the system has no `kill`.
    pub async fn resume(&self) -> io::Result<()> {
        self.signal("CONT").await
    }

    async fn signal(&self, signal: &str) -> io::Result<()> {
        let id = self.child.id().ok_or_else(|| io::Error::other("a process has ended"))?;
        let status = Command::new("kill").arg(format!("-{signal}")).arg(id.to_string()).status();
        status.await?.success().then_some(()).ok_or_else(|| io::Error::other("kill failed"))
    }
}
