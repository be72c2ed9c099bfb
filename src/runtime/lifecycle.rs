//! The stages of the driver's life, from not yet running to over.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

use crate::values::call_error::DriverEnd;
use crate::values::stage::DriverStage;
use crate::values::sync::until;

#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    stage: AtomicU8,
    changed: Notify,
    end: OnceLock<DriverEnd>,
}

impl Lifecycle {
    pub(crate) fn stage(&self) -> DriverStage {
        match self.stage.load(Ordering::Acquire) {
            0 => DriverStage::NotStarted,
            1 => DriverStage::Starting,
            2 => DriverStage::Running,
            3 => DriverStage::Stopping,
            4 => DriverStage::Ending,
            _ => DriverStage::Ended,
        }
    }

    /// Goes on to a later stage, and never back.
    pub(crate) fn reach(&self, stage: DriverStage) {
        // A late report of an earlier stage must not bring that back.
        self.stage.fetch_max(stage as u8, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Ends the driver with this reason, unless it already ends with another.
    pub(crate) fn end_by(&self, end: DriverEnd) {
        // The first one counts.
        let _ = self.end.set(end);
    }

    pub(crate) fn end(&self) -> DriverEnd {
        self.end.get().cloned().unwrap_or(DriverEnd::ShutDown)
    }

    /// Waits until this stage, or a later one.
    pub(crate) async fn until(&self, stage: DriverStage) {
        until(&self.changed, || (self.stage() >= stage).then_some(())).await;
    }
}
