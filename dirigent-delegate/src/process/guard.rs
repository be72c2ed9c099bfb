//! A process that outlives a killed host, and cleans up after it.

use std::env;
use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::process::{Child, Command};

use super::environment::Environment;
#[cfg(unix)]
use super::group::kill_group;
use super::group::lead;
use super::mark::Mark;
#[cfg(target_os = "linux")]
use super::sweep::kill_all;

/// The variable that makes a program a guard. Its value is the mark of what it guards.
const VARIABLE: &str = "DIRIGENT_DELEGATION_GUARD";
/// The host sends this when no process is left to guard.
const DISMISSED: &str = "dismissed";

/// A program that guards the processes of a delegation. If your process dies without a chance to clean up (SIGKILL, out
/// of memory), the guard kills them. Each delegation has one small guard process. It waits on a pipe and costs no CPU
/// time.
///
/// ```
/// use dirigent_delegate::{CliDelegate, Guard};
///
/// let agent = CliDelegate::new("some-agent").guard(Guard::program("/usr/lib/bot/delegate-guard"));
/// # drop(agent);
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    program: Option<PathBuf>,
}

impl Guard {
    /// Chooses a program that calls [`serve_guard_if_asked`] first. This is the program `delegate-guard` of this crate,
    /// or one of your own.
    pub fn program(path: impl Into<PathBuf>) -> Self {
        Self { program: Some(path.into()) }
    }

    /// Chooses your own running program, which must call [`serve_guard_if_asked`] first in `main`.
    pub const fn this_program() -> Self {
        Self { program: None }
    }

    /// Starts a guard, before the process that it guards.
    ///
    /// # Errors
    ///
    /// Returns a sentence that names the guard's program.
    pub(super) fn start(&self, mark: &Mark) -> Result<GuardProcess, String> {
        let program = match &self.program {
            Some(program) => Ok(program.clone()),
            None => env::current_exe(),
        };
        let program = program.map_err(|error| {
            format!("The host's own program, its guard, is not there: {error}.")
        })?;
        Self::start_program(&program, mark)
            .map_err(|error| format!("The guard {} cannot be started: {error}.", program.display()))
    }

    fn start_program(program: &Path, mark: &Mark) -> io::Result<GuardProcess> {
        let mut command = Command::new(program);
        // The guarded process can read the guard's environment, so it must not contain the host's secrets.
        Environment::default().put_into(&mut command, None);
        command
            .env(VARIABLE, mark.as_str())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // A signal that stops the host's group from a terminal must not stop the guard.
        lead(&mut command);
        let mut child = command.spawn()?;
        let pipe = pipe_to(&mut child)?;
        Ok(GuardProcess { pipe, _child: child })
    }
}

/// A guard at work. Dropping it without dismissing it lets it kill the processes.
#[derive(Debug)]
pub(super) struct GuardProcess {
    pipe: File,
    /// The runtime reaps it after its end.
    _child: Child,
}

impl GuardProcess {
    /// Tells the guard which group it guards.
    pub(super) fn tell(&mut self, leader: Option<u32>) {
        if let Some(leader) = leader {
            // If the guard has died, the delegation goes on without it.
            let _ = writeln!(self.pipe, "{leader}");
        }
    }

    /// Tells the guard that no process is left.
    pub(super) fn dismiss(mut self) {
        let _ = writeln!(self.pipe, "{DISMISSED}");
    }
}

#[cfg(unix)]
fn pipe_to(child: &mut Child) -> io::Result<File> {
    let pipe = child.stdin.take().ok_or_else(|| io::Error::other("a guard without a pipe"))?;
    Ok(pipe.into_owned_fd()?.into())
}

#[cfg(not(unix))]
fn pipe_to(_child: &mut Child) -> io::Result<File> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "guards need Unix"))
}

/// Stands guard and exits, if this process was started as a [`Guard`]; otherwise it returns at once. If your program is
/// its own guard, call this first in `main`, before it starts a runtime.
///
/// ```
/// // First in `main`:
/// dirigent_delegate::serve_guard_if_asked();
/// // The host's own program follows.
/// ```
pub fn serve_guard_if_asked() {
    let asked = env::var(VARIABLE).ok();
    if let Some(mark) = asked.and_then(|mark| Mark::read(&mark)) {
        serve(&mark);
        std::process::exit(0);
    }
}

fn serve(mark: &Mark) {
    let mut leader = None;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if line == DISMISSED {
            return;
        }
        leader = line.parse().ok();
    }
    kill_guarded(leader, mark);
}

#[cfg(target_os = "linux")]
fn kill_guarded(leader: Option<u32>, mark: &Mark) {
    // The number may belong to another group by now, unless its leader still has the mark.
    let is_ours = |leader: &u32| {
        let environment = std::fs::read(format!("/proc/{leader}/environ"));
        environment.is_ok_and(|environment| mark.is_in(&environment))
    };
    kill_group(leader.filter(is_ours));
    kill_all(mark);
}

#[cfg(all(unix, not(target_os = "linux")))]
fn kill_guarded(leader: Option<u32>, _mark: &Mark) {
    kill_group(leader);
}

#[cfg(not(unix))]
fn kill_guarded(_leader: Option<u32>, _mark: &Mark) {}
