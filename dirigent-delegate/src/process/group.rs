//! A process and everything that it started.

#[cfg(unix)]
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Command;

use super::mark::Mark;
#[cfg(target_os = "linux")]
use super::sweep::kill_all;

/// The group of a process, and all processes with its mark. Dropping it kills them all.
#[derive(Debug)]
pub(super) struct Group {
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are no groups"))]
    id: Option<u32>,
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "marks are found on Linux"))]
    mark: Mark,
}

/// Lets the process lead a group of its own.
pub(super) fn lead(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(not(unix))]
    let _ = command;
}

impl Group {
    pub(super) const fn new(id: Option<u32>, mark: Mark) -> Self {
        Self { id, mark }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        #[cfg(unix)]
        kill_group(self.id);
        #[cfg(target_os = "linux")]
        kill_all(&self.mark);
    }
}

/// Kills a process group. It is no error if the group is already gone.
#[cfg(unix)]
pub(super) fn kill_group(leader: Option<u32>) {
    let leader = leader.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(leader) = leader {
        let _ = kill_process_group(leader, Signal::KILL);
    }
}
