//! Notices the end of a process without reaping it.

use std::io;

#[cfg(unix)]
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Notices that a process has ended. The process stays a zombie until its [`Child`](tokio::process::Child) is waited
/// for, so no other process can get its number.
#[derive(Debug)]
pub(super) struct Leader {
    #[cfg(unix)]
    child_ended: Signal,
}

#[cfg(unix)]
impl Leader {
    /// Begins to watch for ends, before the process exists.
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self { child_ended: signal(SignalKind::child())? })
    }

    /// Waits until the process has ended. You can drop the future and call this again.
    pub(super) async fn ended(&mut self, id: Option<u32>) -> io::Result<()> {
        let pid = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let Some(pid) = pid else {
            return Ok(());
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), look) {
                Ok(None) => {}
                // If there is no child, the system has already reaped it, as programs can request.
                Ok(Some(_)) | Err(rustix::io::Errno::CHILD) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            if self.child_ended.recv().await.is_none() {
                return Err(io::Error::other("the end of processes is not told any more"));
            }
        }
    }
}

#[cfg(not(unix))]
impl Leader {
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Waits for ever, because here an end cannot be noticed without reaping. The outputs close instead.
    pub(super) async fn ended(&mut self, _id: Option<u32>) -> io::Result<()> {
        std::future::pending().await
    }
}
