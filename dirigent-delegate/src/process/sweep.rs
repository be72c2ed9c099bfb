//! Finds all processes of the machine that have a mark.

use std::fs;
use std::thread;

use rustix::process::{Pid, PidfdFlags, Signal, getpid, pidfd_open, pidfd_send_signal};

use super::mark::Mark;

/// The most passes over all processes. A process that keeps starting others may be a step ahead.
const ROUNDS: usize = 100;

/// Kills all processes with the mark, until none is found. Processes of other users cannot be examined, and stay.
pub(super) fn kill_all(mark: &Mark) {
    for _ in 0..ROUNDS {
        if kill_found(mark) == 0 {
            return;
        }
        thread::yield_now();
    }
    tracing::warn!("processes of a delegation are left: they do not end, or go on starting others");
}

/// Kills the processes that have the mark now, and returns their number. A dying process still has its mark for a
/// moment.
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

/// Kills a process that has the mark. Its number may belong to another process by now, so it is pinned and checked
/// again.
fn kill(pid: Pid, mark: &Mark) -> bool {
    let Ok(held) = pidfd_open(pid, PidfdFlags::empty()) else {
        return false;
    };
    bears(pid, mark) && pidfd_send_signal(&held, Signal::KILL).is_ok()
}
