//! A host that the programs it starts cannot look into.

use std::io;

/// Hides this process from the other processes of its user: they can no longer read its environment, its memory or the names of its
/// open files, nor trace it. Call it first in `main`, before the first program is started.
///
/// You need it if programs run as the host's own user, because leaving a variable out of a program's environment does not hide it: on
/// Linux a program can read the host's own environment in `/proc/PID/environ`.
///
/// It makes the process not dumpable (`PR_SET_DUMPABLE`). That has two costs: a crash writes no core dump, and a debugger of the same
/// user cannot attach. It does not hide anything from root, nor from programs with the capability `CAP_SYS_PTRACE`, and it does not
/// hide arguments, which everyone can read: never give a token as an argument. It ends when this process executes another
/// program. A user of its own for each program hides more, the host's files for example.
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
/// [`Unsupported`](io::ErrorKind::Unsupported) on systems other than Linux, where this is not known to be needed or possible; on Linux
/// the system's error, for example if a sandbox forbids the call.
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
