//! One of the five, as the program that started it has it.

use std::process::Stdio;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;

use crate::Result;
use crate::orders::Order;

/// What a process said.
#[derive(Debug)]
pub(crate) struct Line {
    /// The number of the process.
    pub(crate) from: usize,
    pub(crate) text: String,
}

pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
}

impl Process {
    /// Starts it with these environment variables; each line that it prints is sent with its number.
    pub(crate) fn start(
        number: usize,
        variables: &[(&str, String)],
        tell: mpsc::UnboundedSender<Line>,
    ) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--bot").env("PROCESS", number.to_string());
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.kill_on_drop(true).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let (input, output) = child.stdin.take().zip(child.stdout.take()).ok_or("no pipes")?;
        tokio::spawn(async move {
            let mut lines = BufReader::new(output).lines();
            while let Ok(Some(text)) = lines.next_line().await {
                let _ = tell.send(Line { from: number, text });
            }
        });
        Ok(Self { child, input })
    }

    pub(crate) async fn order(&mut self, order: Order) -> Result<()> {
        self.input.write_all(format!("{}\n", order.line()).as_bytes()).await?;
        Ok(())
    }

    pub(crate) async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Waits until it has ended by itself.
    pub(crate) async fn ended(&mut self) -> Result<()> {
        let status = self.child.wait().await?;
        status.success().then_some(()).ok_or_else(|| format!("a process ended: {status}").into())
    }

    /// `STOP` or `CONT`.
    pub(crate) async fn signal(&self, signal: &str) -> Result<()> {
        let id = self.child.id().ok_or("a process has ended")?;
        Command::new("kill").arg(format!("-{signal}")).arg(id.to_string()).status().await?;
        Ok(())
    }
}
