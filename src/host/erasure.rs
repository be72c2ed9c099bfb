//! Erases all data of a channel.

use std::sync::Arc;

use crate::runtime::Runtime;
use crate::{CallError, Channel, ChannelId};

impl Channel<'_> {
    /// Deletes everything that is stored of a channel. You need it for channels that are gone, or if a person wants
    /// their data deleted. Runs in the channel are cancelled. A guide or a result that is not posted yet is lost.
    /// Afterwards the channel is as if it had never been given a mode.
    ///
    /// When the call returns, the store has no data of the channel, as
    /// [`ChannelStore::delete`](crate::store::ChannelStore::delete) describes it. Returns whether it had some before. A
    /// damaged record is deleted, too, but a record of a newer version is not.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running, or with the error of the store. In that case the channel has no mode, and
    /// you can call this again.
    pub async fn erase(self) -> Result<bool, CallError> {
        self.dirigent.live().await?;
        let runtime = &self.dirigent.runtime;
        match runtime.room(self.id).await {
            Ok(Some(room)) => {
                let (config, seed) = runtime.rules.of(self.id);
                let stamp = runtime.update(&room, |room, _, _| {
                    room.forget_all(config, seed, true);
                    room.look().commit().newest()
                });
                // No commit may be in progress when the record is deleted, because it would bring the record back.
                runtime.until_stamp_stored(&room, stamp).await?;
            }
            // The state of the record does not matter here.
            Ok(None) | Err(CallError::Barred(_)) => {}
            Err(error) => return Err(error),
        }
        delete_record(runtime, self.id).await
    }
}

async fn delete_record(runtime: &Arc<Runtime>, channel: ChannelId) -> Result<bool, CallError> {
    let limit = runtime.settings.time_limits.call;
    // While the channel is locked, no call can load its old record.
    let guard = runtime.rooms.load_guard(channel);
    let _alone = runtime.within(limit, guard.lock().lock()).await?;
    // The room lives on in its users, and must not store anything any more.
    if let Some(room) = runtime.rooms.awake(channel) {
        runtime.update(&room, |room, _, now| room.abandon(now));
    }
    let is_known = runtime.rooms.forget(channel);
    runtime.tell_lacks(channel);
    let deleting = runtime.within(limit, runtime.store.delete(channel));
    match deleting.await.unwrap_or_else(|late| Err(late.into())) {
        Ok(deleted) => Ok(deleted),
        Err(error) => {
            // The record may still exist, so the channel must stay known.
            if is_known {
                runtime.rooms.know(vec![channel]);
            }
            Err(error.into())
        }
    }
}
