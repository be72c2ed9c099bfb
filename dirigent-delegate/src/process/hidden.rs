//! Hides a host from the programs that it starts.

use std::io;

/// Hides this process from the other processes of its user. They can no longer read its environment, its memory or the
/// names of its open files, and cannot trace it. Call it first in `main`, before you start a program.
///
/// You need it if programs run as your own user, because leaving a variable out of a program's environment does not
/// hide it. On Linux a program can read your process's environment in `/proc/PID/environ`.
///
/// It makes the process not dumpable (`PR_SET_DUMPABLE`). That has two costs: a crash writes no core dump, and a
/// debugger of the same user cannot attach. It hides nothing from root, or from programs with the capability
/// `CAP_SYS_PTRACE`. It also does not hide arguments, which everyone can read, so never give a token as an argument. It
/// ends if this process executes another program. If you run each program as a user of its own, you hide more, for
/// example your files.
///
/// ```
/// // First in `main`:
/// # #[cfg(target_os = "linux")]
/// dirigent_delegate::hide_process().expect("this system cannot hide the token");
/// // The host's own program follows.
/// ```
///
/// # Errors
///
/// Returns [`Unsupported`](io::ErrorKind::Unsupported) on systems other than Linux, because there it is not known to be
/// needed or possible. On Linux it returns the system's error, for example if a sandbox forbids the call.
pub fn hide_process() -> io::Result<()> {
    hide()
}

#[cfg(target_os = "linux")]
fn hide() -> io::Result<()> {
    use rustix::process::{DumpableBehavior, set_dumpable_behavior};
    Ok(set_dumpable_behavior(DumpableBehavior::NotDumpable)?)
}

#[cfg(not(target_os = "linux"))]
fn hide() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
