//! Reads the registry again when other processes change it.

use std::sync::Arc;
use std::time::Duration;

use super::Runtime;
use super::host_code::answered;
use crate::values::stage::DriverStage;

/// The wait before a registry that could not be read is read again.
const AGAIN: Duration = Duration::from_secs(1);

pub(super) struct RegistryNews<'r> {
    pub(super) runtime: &'r Arc<Runtime>,
}

impl RegistryNews<'_> {
    /// Follows the changes, beside the driver's loop, until the driver stops.
    pub(super) async fn run(self) {
        loop {
            tokio::select! {
                biased;
                () = self.runtime.life.until(DriverStage::Stopping) => return,
                () = self.next() => {}
            }
        }
    }

    /// Waits for a change, and reads until one read succeeds, because the registry reports a change once.
    async fn next(&self) {
        let runtime = self.runtime;
        let changed = async { runtime.identities.changed_elsewhere().await };
        if answered("the registry's changes", changed).await.is_err() {
            // Something may have changed, so the registry is read after a while, because this may go on.
            runtime.clock.sleep_until(runtime.clock.now() + AGAIN).await;
        }
        while let Err(error) = runtime.reload_registry().await {
            tracing::warn!(%error, "the registry has changed and could not be read; trying again");
            runtime.clock.sleep_until(runtime.clock.now() + AGAIN).await;
        }
    }
}
