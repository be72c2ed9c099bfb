//! Nothing is kept of a channel any more.

use std::sync::Arc;

use crate::host::storing::Storing;
use crate::runtime::Runtime;
use crate::runtime::cell::Awaited;
use crate::{CallError, Channel, ChannelId};

impl Channel<'_> {
    /// Deletes everything that is stored of a channel: for channels that are gone, and where a person wants
    /// that nothing is kept. What runs in it is cancelled. A guide or a result that is still to be posted is
    /// lost with it. Afterwards it is as if the channel had never been given a mode.
    ///
    /// When it returns, nothing of the channel is in the store, as
    /// [`ChannelStore::delete`](crate::store::ChannelStore::delete) describes it. Returns whether anything was. A
    /// record that is damaged is deleted, too; one of a newer version is not.
    ///
    /// # Errors
    ///
    /// When the driver is not running, or as the store fails. Then the channel has no mode, and may be erased
    /// again.
    pub async fn erase(self) -> Result<bool, CallError> {
        self.dirigent.live().await?;
        match self.dirigent.runtime.room(self.id).await {
            Ok(Some(room)) => {
                let (config, seed) = (
                    self.dirigent.runtime.rules.config_of(self.id),
                    self.dirigent.runtime.rules.seed_of(self.id),
                );
                let stamp = self.dirigent.runtime.update(&room, |room, _, _| {
                    room.forget_all(config, seed, true);
                    room.look().commit().newest()
                });
                // No commit is under way when the record is deleted: it would come back.
                let storing = Storing { runtime: &self.dirigent.runtime };
                storing.wait(room.wait_for(Awaited::Stored(stamp))).await?;
            }
            // What it stands at does not matter.
            Ok(None) | Err(CallError::Barred(_)) => {}
            Err(error) => return Err(error),
        }
        delete_record(&self.dirigent.runtime, self.id).await
    }
}

async fn delete_record(runtime: &Arc<Runtime>, channel: ChannelId) -> Result<bool, CallError> {
    let limit = runtime.settings.time_limits.call;
    let guard = runtime.rooms.load_guard(channel);
    let _alone = runtime.within(limit, guard.lock().lock()).await?;
    if let Some(room) = runtime.rooms.awake(channel) {
        runtime.update(&room, |room, _, now| room.closing().abandon(now));
    }
    let is_known = runtime.rooms.forget(channel);
    runtime.tell_lacks(channel);
    let deleting = runtime.within(limit, runtime.store.delete(channel));
    match deleting.await.unwrap_or_else(|late| Err(late.into())) {
        Ok(deleted) => Ok(deleted),
        Err(error) => {
            if is_known {
                runtime.rooms.know(vec![channel]);
            }
            Err(error.into())
        }
    }
}
