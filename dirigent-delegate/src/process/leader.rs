//! The end of a process, noticed without reaping it.

use std::io;

#[cfg(unix)]
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Notices that a process has ended. It stays a zombie, whose number no other process has, until its [`Child`](tokio::process::Child)
/// is waited for.
#[derive(Debug)]
pub(super) struct Leader {
    #[cfg(unix)]
    child_ended: Signal,
}

#[cfg(unix)]
impl Leader {
    /// Begins to notice ends, of a process that is not there yet.
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self { child_ended: signal(SignalKind::child())? })
    }

    /// Waits until the process has ended. The future may be dropped and made again.
    pub(super) async fn ended(&mut self, id: Option<u32>) -> io::Result<()> {
        let pid = id.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        let Some(pid) = pid else {
            return Ok(());
        };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), look) {
                Ok(None) => {}
                // Without a child the system has reaped it already, as programs may order.
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

    /// Is never noticed without reaping: the outputs are closed then.
    pub(super) async fn ended(&mut self, _id: Option<u32>) -> io::Result<()> {
        std::future::pending().await
    }
}
