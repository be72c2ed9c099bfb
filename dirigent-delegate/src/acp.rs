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

/// The longest message that is read in any case, in bytes: as much as a pipe holds.
const LINE: usize = 64 * 1_024;
/// How many times the longest message an agent may write in all: what it thinks, and what its tools do, is read and not kept.
const MESSAGES: usize = 64;

/// A coding agent that speaks the Agent Client Protocol (`opencode acp`, `gemini --experimental-acp`, `claude-code-acp` and others): it is
/// started for each task, given the task in a session of its own, and stopped. The protocol is JSON on its input and output.
///
/// The agent is offered no files and no terminal of the host's: it works in its folder with its own tools, and with the model that its
/// own configuration names. It is killed with everything
/// that it started, as a [`CliDelegate`] is; one that is late gets `session/cancel` first.
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
    /// Creates an agent that is this program, with its arguments, folder, environment, limits and guard. The argument that lets the program
    /// speak the protocol is among them. [`CliLimits::output`](crate::CliLimits::output) bounds what the agent says in all, and each of its
    /// messages, of which 64 KiB are read in any case. All messages together may have 64 times as much. An agent that writes more is
    /// killed, and what it said is a partial result. Nothing is started yet.
    pub fn new(process: CliDelegate) -> Self {
        Self { process, decide: Arc::new(|_| PermissionReply::Reject) }
    }

    /// Decides what the agent may do that it asks about. [`PermissionRequest::permission`] is the tool's kind in the protocol: `read`, `edit`,
    /// `delete`, `move`, `search`, `execute`, `think`, `fetch`, `other`. Default: nothing.
    #[must_use]
    pub fn permissions(
        mut self,
        decide: impl Fn(&PermissionRequest) -> PermissionReply + Send + Sync + 'static,
    ) -> Self {
        self.decide = Arc::new(decide);
        self
    }

    /// Speaks until there is an outcome; what was said when the agent closed its outputs before.
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
                // It is killed in any case: what it does not read at once it need not read.
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

/// What is still to be written to the agent, which may read slowly, or never.
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

    /// Writes some of it. An agent that reads no more is given nothing more.
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

/// Shows no option and no variable: both may hold secrets.
impl fmt::Debug for AcpDelegate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpDelegate").field("process", &self.process).finish_non_exhaustive()
    }
}
