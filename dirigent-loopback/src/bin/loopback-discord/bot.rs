//! A bot that runs inside the program, in a process group of its own.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use dirigent::{Clock, SystemClock};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, Command};

/// The longest time that the bot may take to end after the person at the terminal quits.
const TIME_TO_END: Duration = Duration::from_secs(5);

/// The exit codes of a shell for a command that does not exist, and for one that cannot be started.
const NOT_FOUND: u8 = 127;
const NOT_STARTED: u8 = 126;

/// A running bot. Dropping it kills everything that it has started.
#[derive(Debug)]
pub(crate) struct Bot {
    process: Child,
    group: Group,
}

/// A process group. Dropping it kills the group.
#[derive(Debug)]
struct Group(Option<Pid>);

impl Group {
    fn send(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // It is fine if no process of the group is left.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.send(Signal::KILL);
    }
}

/// Returns true if Cargo sets this variable for the program that it runs.
fn is_of_cargo_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let of_package = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"];
    of_package.iter().any(|start| name.starts_with(start))
        || ["CARGO", "CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"].contains(&&*name)
}

impl Bot {
    /// Starts the command with these variables added to the environment. Variables that Cargo sets for the program
    /// that it runs are removed, because a build script in the bot's build would consider them changed. The input is
    /// empty, because the terminal belongs to the person.
    pub(crate) fn start(
        command: &[OsString],
        variables: Vec<(String, String)>,
    ) -> io::Result<Self> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let mut process = Command::new(program);
        for (name, _) in std::env::vars_os().filter(|(name, _)| is_of_cargo_run(name)) {
            process.env_remove(name);
        }
        let process = process
            .args(arguments)
            .envs(variables)
            .stdin(Stdio::null())
            .process_group(0)
            .spawn()?;
        let id = process.id().and_then(|id| i32::try_from(id).ok());
        Ok(Self { process, group: Group(id.and_then(Pid::from_raw)) })
    }

    /// Returns the exit code for a command that could not be started.
    pub(crate) fn code_of_failure(error: &io::Error) -> u8 {
        if error.kind() == io::ErrorKind::NotFound { NOT_FOUND } else { NOT_STARTED }
    }

    /// Sends a signal to the bot and to everything that it has started.
    pub(crate) fn send(&self, signal: Signal) {
        self.group.send(signal);
    }

    /// Waits for the bot's end, and returns its exit code.
    pub(crate) async fn wait(&mut self) -> io::Result<u8> {
        Ok(code(self.process.wait().await?))
    }

    /// Asks the bot to end, and kills it if it takes too long. Returns its exit code.
    pub(crate) async fn end(&mut self) -> io::Result<u8> {
        self.send(Signal::TERM);
        let clock = SystemClock::new();
        tokio::select! {
            ended = self.process.wait() => return Ok(code(ended?)),
            () = clock.sleep_until(clock.now() + TIME_TO_END) => self.send(Signal::KILL),
        }
        self.wait().await
    }
}

/// Returns the exit code as a shell does. If a signal ended the bot, that is 128 plus the signal's number.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the person set for Cargo reaches the bot's build.
    #[test]
    fn a_bot_gets_no_variable_of_the_package_that_runs_it() {
        let of_run = ["CARGO", "CARGO_PKG_NAME", "CARGO_MANIFEST_DIR", "CARGO_BIN_NAME", "OUT_DIR"];
        let of_person = ["CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_NET_OFFLINE", "DISCORD_TOKEN"];
        assert!(of_run.iter().all(|name| is_of_cargo_run(OsStr::new(name))));
        assert!(!of_person.iter().any(|name| is_of_cargo_run(OsStr::new(name))));
    }
}
