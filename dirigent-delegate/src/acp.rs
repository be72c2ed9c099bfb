//! Coding agents that speak the Agent Client Protocol.

mod conversation;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::process::ChildStdin;

use crate::cli::CliDelegate;
use crate::delegate::{Delegate, Task, TaskOutcome};
use crate::permission::{Decide, PermissionReply, PermissionRequest};
use crate::process::{Capture, Pipes};
use crate::terminal::{progress, text, with_complaint};
use conversation::Conversation;

/// The message length that is always accepted, in bytes. A pipe holds as much.
const LINE: usize = 64 * 1_024;
/// All messages of an agent together may have this many times the longest one. Its thoughts and tool reports are read
/// and thrown away, so they count only here.
const MESSAGES: usize = 64;

/// A coding agent that speaks the Agent Client Protocol, for example `opencode acp`, `gemini --experimental-acp` or
/// `claude-code-acp`. The protocol is JSON on the program's input and output. Each task starts the agent, runs in a
/// session of its own, and stops it at the end.
///
/// The agent gets no access to files or a terminal through the protocol. It works in its folder with its own tools, and
/// with the model that its own configuration names. Like a [`CliDelegate`] it is killed together with everything that
/// it started. An agent that is late gets `session/cancel` first.
///
/// ```
/// use dirigent_delegate::{AcpDelegate, AgentCard, CliDelegate, PermissionReply};
///
/// let gemini = CliDelegate::new("gemini")
///     .option("--experimental-acp")
///     .workspace("/srv/bot/workspace")
///     .pass_env("GEMINI_API_KEY");
/// let gemini = AcpDelegate::new(gemini).permissions(|wanted| match wanted.permission.as_str() {
///     "read" | "search" => PermissionReply::Once,
///     _ => PermissionReply::Reject,
/// });
/// let card = AgentCard::new("gemini", "Gemini").uses("coding tasks");
/// # drop((gemini, card));
/// ```
#[derive(Clone)]
pub struct AcpDelegate {
    process: CliDelegate,
    decide: Decide,
}

impl AcpDelegate {
    /// Creates an agent from this program, with its arguments, folder, environment, limits and guard. Include the
    /// argument that makes the program speak the protocol. No process is started yet.
    ///
    /// [`CliLimits::output`](crate::CliLimits::output) limits what the agent says in all, and each of its messages; a
    /// message of up to 64 KiB is always read. All messages together may have 64 times the limit. If the agent writes
    /// more, it is killed, and what it said is a partial result.
    pub fn new(process: CliDelegate) -> Self {
        Self { process, decide: Arc::new(|_| PermissionReply::Reject) }
    }

    /// Sets a function that answers the agent's requests for permission. [`PermissionRequest::permission`] is the kind
    /// of tool in the protocol's words: `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch` or
    /// `other`. By default every request is rejected.
    #[must_use]
    pub fn permissions(
        mut self,
        decide: impl Fn(&PermissionRequest) -> PermissionReply + Send + Sync + 'static,
    ) -> Self {
        self.decide = Arc::new(decide);
        self
    }

    /// Runs the conversation until there is an outcome. If the agent closes its outputs first, the result is what it
    /// said.
    async fn speak(
        &self,
        input: ChildStdin,
        pipes: &mut Pipes,
        task: &Task,
    ) -> Result<TaskOutcome, String> {
        let (clock, limits) = (self.process.time(), self.process.bounds());
        let says = |what: &str| self.process.says(what);
        let here = || std::env::current_dir().unwrap_or_default();
        let folder = self.process.folder().map_or_else(here, PathBuf::from);
        let mut conversation = Conversation::new(task, &folder, &self.decide, &self.process);
        let most = limits.output.max(LINE).saturating_mul(MESSAGES);
        let mut letters = Letters { input: Some(input), bytes: Vec::new() };
        letters.add(&[Conversation::begin()]);
        let (mut idle_until, mut is_full) = (clock.now() + limits.idle, false);
        loop {
            tokio::select! {
                biased;
                captured = pipes.read() => {
                    idle_until = clock.now() + limits.idle;
                    is_full = captured == Capture::Full;
                }
                () = letters.send(), if !letters.bytes.is_empty() => {}
                () = clock.sleep_until(task.deadline().min(idle_until)) => {}
            }
            while let Some(line) = pipes.take_line() {
                let heard = conversation.hear(&line);
                letters.add(&heard.answers);
                if heard.is_more {
                    task.progress(&progress(conversation.said().as_bytes()));
                }
                if let Some(outcome) = heard.outcome {
                    return Ok(outcome);
                }
            }
            if is_full {
                let message = says("wrote a message that is too long, and was killed.");
                return Ok(TaskOutcome::partial(conversation.said(), message));
            }
            if pipes.total() > most {
                let message = says(&format!("wrote more than {most} bytes, and was killed."));
                return Ok(TaskOutcome::partial(conversation.said(), message));
            }
            if pipes.are_closed() {
                return Err(conversation.said().to_owned());
            }
            let now = clock.now();
            if now >= task.deadline() {
                letters.add(&conversation.cancel());
                // The agent is killed in any case, so a message that it does not read at once is not needed.
                let _ = letters.send().now_or_never();
                let message = says("did not end in time, and was killed.");
                let message = with_complaint(&message, pipes.stderr());
                return Ok(TaskOutcome::timeout(conversation.said(), message));
            }
            if now >= idle_until {
                let idle = limits.idle.as_secs();
                let message = says(&format!("wrote nothing for {idle} s, and was killed."));
                let message = with_complaint(&message, pipes.stderr());
                return Ok(TaskOutcome::timeout(conversation.said(), message));
            }
        }
    }
}

/// Bytes that are still to be written to the agent, which may read slowly or never.
struct Letters {
    input: Option<ChildStdin>,
    bytes: Vec<u8>,
}

impl Letters {
    fn add(&mut self, messages: &[serde_json::Value]) {
        for message in messages {
            self.bytes.extend(message.to_string().into_bytes());
            self.bytes.push(b'\n');
        }
    }

    /// Writes some of the bytes. If the agent no longer reads, the rest is dropped.
    async fn send(&mut self) {
        let Some(input) = &mut self.input else {
            self.bytes.clear();
            return;
        };
        match input.write(&self.bytes).await {
            Ok(written) if written > 0 => drop(self.bytes.drain(..written)),
            Ok(_) | Err(_) => self.input = None,
        }
    }
}

#[async_trait]
impl Delegate for AcpDelegate {
    async fn run(&self, task: Task) -> TaskOutcome {
        let mut launch = self.process.launch(self.process.options().to_vec());
        launch.has_input = true;
        let mut process = match launch.start() {
            Ok(process) => process,
            Err(problem) => return TaskOutcome::error(problem),
        };
        let mut pipes = process.pipes(self.process.bounds().output.max(LINE));
        let spoken = match process.input() {
            Some(input) => self.speak(input, &mut pipes, &task).await,
            None => Err(String::new()),
        };
        match (spoken, process.stop().await) {
            (Ok(outcome), _) => outcome,
            (Err(output), Ok(status)) => {
                let complaint = text(pipes.stderr());
                let message = match complaint.trim() {
                    "" => self.process.says(&format!("ended before it answered ({status}).")),
                    complaint => complaint.to_owned(),
                };
                TaskOutcome { output, ..TaskOutcome::error(message) }
            }
            (Err(output), Err(error)) => TaskOutcome {
                output,
                ..TaskOutcome::error(self.process.says(&format!("was lost: {error}.")))
            },
        }
        .plain()
    }
}

/// Hides options and variables, because both may contain secrets.
impl fmt::Debug for AcpDelegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpDelegate").field("process", &self.process).finish_non_exhaustive()
    }
}
