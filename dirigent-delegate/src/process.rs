//! Child processes that leave nothing behind.
//!
//! A process leads a group of its own and has a mark in its environment. When it ends, is late or is cancelled, the
//! group is killed before its leader is reaped, because after that the number could belong to another group. On Linux
//! every process with the mark is then killed, too, whatever its group or session.

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

/// The longest time for reading pipes after the process has ended. Its children may hold them open.
const DRAIN: Duration = Duration::from_millis(500);

/// The program to start, and how.
#[derive(Clone, Debug)]
pub(crate) struct Launch {
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) environment: Environment,
    pub(crate) guard: Option<Guard>,
    /// True if the process reads from a pipe ([`Process::input`]). Otherwise its input is empty.
    pub(crate) has_input: bool,
}

/// The limits of a process: its time and its output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) deadline: Timestamp,
    pub(crate) idle: Duration,
    pub(crate) output: usize,
}

/// Why a process ended.
#[derive(Debug)]
pub(crate) enum End {
    /// It ended by itself.
    Exited(ExitStatus),
    /// It was killed at its deadline.
    Late,
    /// It was killed because it was silent for too long.
    Idle,
    /// It was killed because it wrote too much.
    TooMuch,
}

/// The output of a process, and why it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) end: End,
}

/// A running process. Dropping it kills the process and everything that it started.
#[derive(Debug)]
pub(crate) struct Process {
    /// Dropped first, because the group must be gone before the leader is reaped.
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
    /// Returns a sentence that names the program, the folder or the guard, if one of them cannot be used.
    pub(crate) fn start(&self) -> Result<Process, String> {
        let mark = Mark::new().map_err(|error| self.problem(&error))?;
        let guard = self.guard.as_ref().map(|guard| guard.start(&mark)).transpose()?;
        self.start_with(mark, guard).map_err(|error| self.problem(&error))
    }

    /// Says why the process cannot be started. The system's own error is the same for a missing program, folder or
    /// interpreter.
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
        // Watch before the process exists, so that its end is not missed.
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
    /// Reads the output until the process ends, and kills what is left of it. `report` gets the output so far.
    ///
    /// # Cancellation
    ///
    /// Dropping the future kills the process and everything that it started.
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

    /// Reads until the process has ended (`None`) or must be killed.
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

    /// Kills what is left, and returns how the process itself ended.
    pub(crate) async fn stop(mut self) -> io::Result<ExitStatus> {
        let group = self.group;
        // A look at all processes takes some milliseconds, so it must not block other tasks.
        let killed = tokio::task::spawn_blocking(move || drop(group)).await;
        killed.map_err(io::Error::other)?;
        let status = self.child.wait().await;
        if let Some(guard) = self.guard {
            guard.dismiss();
        }
        status
    }

    /// Takes the process's input. It returns `None` the second time.
    #[cfg(feature = "acp")]
    pub(crate) fn input(&mut self) -> Option<tokio::process::ChildStdin> {
        self.child.stdin.take()
    }

    /// Takes the process's outputs, for another reader.
    #[cfg(any(feature = "acp", feature = "serve"))]
    pub(crate) fn pipes(&mut self, most: usize) -> Pipes {
        Pipes::of(&mut self.child, most)
    }
}
