//! How far the driver's life got: from not yet running to over.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// Whether the driver lives.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    stage: AtomicU8,
    changed: Notify,
}

/// How far the driver's life got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// `run` was not called yet.
    NotStarted = 0,
    /// `run` is reading the stores.
    Starting = 1,
    /// Calls are answered.
    Running = 2,
    /// No new calls; what is under way is finished.
    Stopping = 3,
    /// What is still under way is dropped.
    Ending = 4,
    /// Over: `run` has returned or was dropped.
    Ended = 5,
}

impl Lifecycle {
    pub(crate) fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::NotStarted,
            1 => Stage::Starting,
            2 => Stage::Running,
            3 => Stage::Stopping,
            4 => Stage::Ending,
            _ => Stage::Ended,
        }
    }

    /// Goes on to a later stage; never back.
    pub(crate) fn reach(&self, stage: Stage) {
        self.stage.fetch_max(stage as u8, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Waits until this stage, or a later one.
    pub(crate) async fn until(&self, stage: Stage) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if self.stage() >= stage {
                return;
            }
            changed.await;
        }
    }
}
