//! Finding what bears a mark, among all processes of the machine.

use std::fs;
use std::thread;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::mark::Mark;

/// How often all processes are looked through: one that starts others meanwhile may be a step ahead.
const ROUNDS: usize = 100;

/// Kills what bears the mark, until there is nothing of it. What runs as another user cannot be looked into, and is left.
pub(super) fn kill_all(mark: &Mark) {
    for _ in 0..ROUNDS {
        if kill_found(mark) == 0 {
            return;
        }
        thread::yield_now();
    }
    tracing::warn!("processes of a delegation are left: they do not end, or go on starting others");
}

/// Kills what bears the mark now; returns how many that were. A process that is being killed still bears it for a moment.
fn kill_found(mark: &Mark) -> usize {
    let Ok(entries) = fs::read_dir("/proc") else {
        return 0;
    };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let numbers = names.filter_map(|name| name.parse().ok());
    let me = getpid();
    let pids = numbers.filter_map(Pid::from_raw).filter(|pid| *pid != me);
    pids.filter(|pid| bears(*pid, mark) && kill(*pid, mark)).count()
}

fn bears(pid: Pid, mark: &Mark) -> bool {
    let path = format!("/proc/{}/environ", pid.as_raw_nonzero());
    fs::read(path).is_ok_and(|environment| mark.is_in(&environment))
}

/// Kills a process that bears the mark; its number may belong to another one by now, so it is held fast and looked at again.
fn kill(pid: Pid, mark: &Mark) -> bool {
    let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    bears(pid, mark) && pidfd_send_signal(&held, Signal::KILL).is_ok()
}
