//! Reads the registry again when other processes change it.

use std::time::Duration;

use super::Runtime;
use super::host_code::answered;
use crate::values::stage::DriverStage;

/// The wait before a registry that could not be read is read again.
const AGAIN: Duration = Duration::from_secs(1);

impl Runtime {
    /// Follows the changes, beside the driver's loop, until the driver stops.
    pub(super) async fn follow_registry(&self) {
        loop {
            tokio::select! {
                biased;
                () = self.life.until(DriverStage::Stopping) => return,
                () = self.registry_changed() => {}
            }
        }
    }

    /// Waits for a change, and reads until one read succeeds, because the registry reports a change once.
    async fn registry_changed(&self) {
        let changed = async { self.identities.changed_elsewhere().await };
        if answered("the registry's changes", changed).await.is_err() {
            // Something may have changed, so the registry is read after a while, because this may go on.
            self.clock.sleep_until(self.clock.now() + AGAIN).await;
        }
        while let Err(error) = self.reload_registry().await {
            tracing::warn!(%error, "the registry has changed and could not be read; trying again");
            self.clock.sleep_until(self.clock.now() + AGAIN).await;
        }
    }
}
