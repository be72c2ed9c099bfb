//! Child processes that leave nothing behind.
//!
//! A process leads a group of its own and bears a mark in its environment. When it ends, is late, or is not wanted any more, the group is
//! killed before its leader is reaped, so that its number cannot belong to another group yet; then, on Linux, whatever bears the
//! mark, in whichever group or session it is.

mod capture;
mod environment;
mod group;
mod guard;
mod hidden;
mod leader;
mod mark;
#[cfg(target_os = "linux")]
mod sweep;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use dirigent::Clock;
use dirigent::ports::Timestamp;
use tokio::process::{Child, Command};

pub use guard::{Guard, serve_guard_if_asked};
pub use hidden::hide_process;

pub(crate) use capture::{Capture, Pipes};
pub(crate) use environment::Environment;
use group::Group;
use guard::GuardProcess;
use leader::Leader;
use mark::Mark;

/// How long pipes are read after the process has ended: what it started may hold them open.
const DRAIN: Duration = Duration::from_millis(500);

/// What is started.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) environment: Environment,
    pub(crate) guard: Option<Guard>,
    /// Whether it reads from a pipe ([`Process::input`]), and not nothing.
    pub(crate) has_input: bool,
}

/// How long a process may run, and how much it may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) deadline: Timestamp,
    pub(crate) idle: Duration,
    pub(crate) output: usize,
}

/// Why a process is over.
#[derive(Debug)]
pub(crate) enum End {
    /// It ended by itself.
    Exited(ExitStatus),
    /// It was killed at its deadline.
    Late,
    /// It was killed after it had written nothing for too long.
    Idle,
    /// It was killed when it had written too much.
    TooMuch,
}

/// What a process wrote, and why it is over.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) end: End,
}

/// A process that runs. Dropping it kills it with everything that it started.
#[derive(Debug)]
pub(crate) struct Process {
    /// Dropped first: the group must be gone before the leader is reaped.
    group: Group,
    leader: Leader,
    child: Child,
    guard: Option<GuardProcess>,
}

impl Launch {
    /// Starts the process, with a pipe for each of its two outputs.
    ///
    /// # Errors
    ///
    /// When it, or its guard, cannot be started: a sentence that names the program, the folder or the guard.
    pub(crate) fn start(&self) -> Result<Process, String> {
        let mark = Mark::new().map_err(|error| self.problem(&error))?;
        let guard = self.guard.as_ref().map(|guard| guard.start(&mark)).transpose()?;
        self.start_with(mark, guard).map_err(|error| self.problem(&error))
    }

    /// Says why it cannot be started. The system says the same of a program, of its folder and of its interpreter that is not there.
    fn problem(&self, error: &io::Error) -> String {
        let program = self.program.to_string_lossy();
        let folder = self.folder.as_deref().filter(|folder| !folder.is_dir());
        if let Some(folder) = folder {
            let folder = folder.display();
            return format!("The program {program} cannot be started: {folder} is no folder.");
        }
        let path = Path::new(&self.program);
        if error.kind() == io::ErrorKind::NotFound && path.is_absolute() && path.exists() {
            return format!(
                "The program {program} cannot be started: its interpreter is not there."
            );
        }
        format!("The program {program} cannot be started: {error}.")
    }

    fn start_with(&self, mark: Mark, mut guard: Option<GuardProcess>) -> io::Result<Process> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .stdin(if self.has_input { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        self.environment.put_into(&mut command, self.folder.as_deref());
        mark.put_into(&mut command);
        group::lead(&mut command);
        // Before the process is there, so that its end is not missed.
        let leader = Leader::watch()?;
        let child = command.spawn()?;
        let group = Group::new(child.id(), mark);
        if let Some(guard) = &mut guard {
            guard.tell(child.id());
        }
        Ok(Process { group, leader, child, guard })
    }
}

impl Process {
    /// Reads what the process writes until it is over, and kills what is left of it. `report` is given what was written so far.
    ///
    /// # Cancellation
    ///
    /// Dropping the future kills the process with everything that it started.
    pub(crate) async fn finish(
        mut self,
        bounds: Bounds,
        clock: &Arc<dyn Clock>,
        mut report: impl FnMut(&[u8]) + Send,
    ) -> io::Result<Ended> {
        let mut pipes = Pipes::of(&mut self.child, bounds.output);
        let end = self.read(&mut pipes, bounds, clock, &mut report).await?;
        let (stdout, stderr) = pipes.into_written();
        let status = self.stop().await?;
        let end = end.unwrap_or(End::Exited(status));
        Ok(Ended { stdout, stderr, end })
    }

    /// Reads until the process has ended, which is `None`, or must be killed.
    async fn read(
        &mut self,
        pipes: &mut Pipes,
        bounds: Bounds,
        clock: &Arc<dyn Clock>,
        report: &mut (impl FnMut(&[u8]) + Send),
    ) -> io::Result<Option<End>> {
        let id = self.child.id();
        let mut idle_until = clock.now() + bounds.idle;
        let mut has_ended = false;
        let mut drain_until = bounds.deadline;
        loop {
            let now = clock.now();
            if has_ended && (pipes.are_closed() || now >= drain_until) {
                return Ok(None);
            }
            if !has_ended && now >= bounds.deadline {
                return Ok(Some(End::Late));
            }
            if !has_ended && now >= idle_until {
                return Ok(Some(End::Idle));
            }
            let wait = if has_ended { drain_until } else { bounds.deadline.min(idle_until) };
            tokio::select! {
                biased;
                ended = self.leader.ended(id), if !has_ended => {
                    ended?;
                    (has_ended, drain_until) = (true, clock.now() + DRAIN);
                }
                captured = pipes.read(), if !pipes.are_closed() => {
                    idle_until = clock.now() + bounds.idle;
                    match captured {
                        Capture::Full => return Ok(Some(End::TooMuch)),
                        Capture::Written => report(pipes.stdout()),
                        Capture::Closed => {}
                    }
                }
                () = clock.sleep_until(wait) => {}
            }
        }
    }

    /// Kills what is left, and tells how the process itself ended.
    pub(crate) async fn stop(mut self) -> io::Result<ExitStatus> {
        let group = self.group;
        // Looking through all processes takes some milliseconds: not on the thread of other tasks.
        let killed = tokio::task::spawn_blocking(move || drop(group)).await;
        killed.map_err(io::Error::other)?;
        let status = self.child.wait().await;
        if let Some(guard) = self.guard {
            guard.dismiss();
        }
        status
    }

    /// Where the process reads from, once.
    #[cfg(feature = "acp")]
    pub(crate) fn input(&mut self) -> Option<tokio::process::ChildStdin> {
        self.child.stdin.take()
    }

    /// The process's outputs, for a reader of its own.
    #[cfg(any(feature = "acp", feature = "serve"))]
    pub(crate) fn pipes(&mut self, most: usize) -> Pipes {
        Pipes::of(&mut self.child, most)
    }
}
