//! Events of the gateway about whole channels: gaps, threads, and deletions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dirigent_core::MessageId;

use crate::ports::neighbours::GatewayEvent;
use crate::room::connection::Gateway;
use crate::runtime::Runtime;
use crate::runtime::cell::RoomCell;
use crate::{CallError, ChannelId, Dirigent, UserId};

impl Dirigent {
    /// Reports that every connection to the gateway stands again, and that events may have been lost. The library then
    /// reads what it missed from the chat, in every channel that keeps turns, as after a restart. The call returns at
    /// once, and the driver reads a few channels at a time.
    ///
    /// If your chat tells you the newest message of each channel, use [`newest_message`](Self::newest_message) instead,
    /// because it costs less.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running.
    pub async fn reconnected(&self) -> Result<(), CallError> {
        self.runtime.sight.told();
        // Other processes may have missed the same events, because they get them from this one.
        if let Some(neighbours) = &self.runtime.neighbours {
            neighbours.reconnected();
        }
        self.live().await?;
        // All connections stand, whichever were reported as lost.
        self.runtime.lost.clear();
        self.read_all(Runtime::tell_reconnected);
        Ok(())
    }

    /// Reports that another process ([`OtherProcesses`](crate::ports::OtherProcesses)) may have lost events. The library then
    /// reads what it missed from the chat, as after [`reconnected`](Self::reconnected). Lost connections of this
    /// process stay lost, and the report is not passed on to other processes.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running.
    pub async fn reconnected_here(&self) -> Result<(), CallError> {
        self.live().await?;
        self.read_all(Runtime::tell_gap);
        Ok(())
    }

    fn read_all(&self, tell: impl Fn(&Runtime, &Arc<RoomCell>)) {
        // Every channel reads now, so none has to wait for its newest message.
        self.runtime.catch_up.forget_awaited();
        self.runtime.gap_epoch.fetch_add(1, Ordering::AcqRel);
        // Those in memory learn it at once, because they may be about to call an agent.
        for room in self.runtime.rooms.all_awake() {
            tell(&self.runtime, &room);
        }
        self.runtime.catch_up.call(self.runtime.rooms.known());
    }

    /// Reports that a connection to the gateway is lost. `connection` is your own number for it, for example the number
    /// of the shard, and you also say which channels it serves. These channels count as unheard until the connection
    /// stands again, or until you report a message of the channel.
    ///
    /// Once this has lasted for 5 s, an agent's time to start no longer runs out, and messages of people are read from
    /// the chat every 15 s in channels where agents talk. When the connection is back, an agent that may have missed
    /// its trigger is triggered again. This also holds for channels that come into memory, or are given a mode, during
    /// that time.
    ///
    /// The connection stands again after [`resumed`](Self::resumed), [`session_began`](Self::session_began) or
    /// [`reconnected`](Self::reconnected). If the driver is not running, the call has no effect.
    pub fn disconnected(
        &self,
        connection: u32,
        affects: impl Fn(ChannelId) -> bool + Send + Sync + 'static,
    ) {
        self.runtime.sight.told();
        self.runtime.lose_connection(connection, affects);
    }

    /// Reports that a connection to the gateway is back with its old session, so that you have reported every missed
    /// event. Call it after the events of that time. It has no effect unless the connection was
    /// [lost](Self::disconnected).
    pub fn resumed(&self, connection: u32) {
        self.runtime.sight.told();
        let tell = |room: &Arc<RoomCell>, stands: bool| {
            // If another connection of the channel is still lost, the channel is not heard yet.
            if stands {
                self.runtime
                    .update(room, |room, cx, now| room.gateway(cx, now, Gateway::HeardAgain));
            }
        };
        self.runtime.regain_connection(connection, |_| {}, tell);
    }

    /// Reports that a connection to the gateway is back with a new session, so that missed events will not arrive. Use
    /// it if you soon report each channel's [`newest_message`](Self::newest_message).
    ///
    /// If you report none within 30 s, or if another message of the channel comes first, the library reads what it
    /// missed from the chat. It does so even if the connection is lost again. If you never report newest messages, call
    /// [`reconnected`](Self::reconnected) instead.
    pub fn session_began(&self, connection: u32) {
        let runtime = &self.runtime;
        runtime.sight.told();
        runtime.regain_connection(
            connection,
            |affects| runtime.await_newest_of_parked(affects),
            |room, stands| {
                runtime.update(room, |room, cx, now| {
                    room.gateway(cx, now, Gateway::AwaitNewest { stands });
                });
            },
        );
    }

    /// Reports the newest message of a channel, according to the chat. If the library does not know this message, it
    /// reads what it missed from the chat.
    ///
    /// Call this before you report any message that came after the gap.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running or the channel cannot be read. In that case the channel is loaded again
    /// later, and reads what it missed.
    pub async fn newest_message(
        &self,
        channel: ChannelId,
        newest: MessageId,
    ) -> Result<(), CallError> {
        self.heard(GatewayEvent::NewestMessage { channel, message: newest, parent: None }).await
    }

    /// Reports the newest message of a thread, like [`newest_message`](Self::newest_message). A thread that was never
    /// given a mode takes over the mode of its parent, as in [`thread_seen`](Self::thread_seen), if its newest message
    /// is at most [an hour](crate::Settings::MISSED_IN_THREAD) old. This is because people wrote it while the gateway
    /// was away. The library then reads all messages of that hour in the thread.
    ///
    /// # Errors
    ///
    /// Fails like [`newest_message`](Self::newest_message), or with the error of the store.
    pub async fn newest_message_of_thread(
        &self,
        thread: ChannelId,
        parent: ChannelId,
        newest: MessageId,
    ) -> Result<(), CallError> {
        let parent = Some(parent);
        self.heard(GatewayEvent::NewestMessage { channel: thread, message: newest, parent }).await
    }

    /// Reports that a channel is gone for good. Its runs end. A discussion is archived, so that its callback channel
    /// learns of its end. The data of any other channel is [deleted](crate::store::ChannelStore::delete) if the store
    /// can delete. Otherwise the channel only loses its mode. The change is stored durably when the call returns.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running, or with the error of the store.
    pub async fn channel_deleted(&self, channel: ChannelId) -> Result<(), CallError> {
        self.heard(GatewayEvent::ChannelDeleted(channel)).await
    }

    /// Reports that a message was written in a thread. If the thread was never given a mode, it takes over the mode of
    /// its parent. This happens only if you want it ([`Settings::inherit_parent_mode`](crate::Settings)), and if the
    /// mode is one that can be given.
    ///
    /// # Errors
    ///
    /// Fails if the driver is not running, or with the error of the store.
    pub async fn thread_seen(&self, thread: ChannelId, parent: ChannelId) -> Result<(), CallError> {
        self.heard(GatewayEvent::ThreadSeen { thread, parent }).await
    }

    /// Reports an event that another process ([`OtherProcesses`](crate::ports::OtherProcesses)) heard in a channel of this
    /// process. The effect is that of an event from your own gateway, except that it is not passed on.
    ///
    /// # Errors
    ///
    /// Fails with [`CallError::Elsewhere`] if this process does not act for the channel either, or if its lease has
    /// lapsed. Otherwise it fails like the function that the event is named after.
    pub async fn event_here(&self, event: GatewayEvent) -> Result<(), CallError> {
        self.runtime.sight.told();
        // A process whose lease has lapsed would forget the event with its room, and the next owner may have read the
        // channel before.
        if !self.runtime.standing(event.channel()).acts() {
            return Err(CallError::Elsewhere);
        }
        self.deliver_here(event).await
    }

    /// Passes an event to the rooms of this process, or to the neighbours.
    pub(super) async fn heard(&self, event: GatewayEvent) -> Result<(), CallError> {
        self.runtime.sight.told();
        if let Some(neighbours) = self.runtime.neighbours_of(event.channel()) {
            neighbours.heard(event);
            return Ok(());
        }
        self.deliver_here(event).await
    }

    /// Reports that permissions in these channels may have changed, for example because of a role, an overwrite, a
    /// member or a thread. Agents that surely may not write there get no turns while this lasts
    /// ([`DiscordApi::write_bars`](crate::DiscordApi::write_bars)). Agents that may write again are asked again at
    /// once, and accounts that rested after refusals try again. The call returns at once. You can call it as often as
    /// you like.
    pub fn rights_changed(&self, channels: &[ChannelId]) {
        self.runtime.rights_changed(channels);
    }

    /// Returns the accounts of the registered agents, in ascending order.
    pub fn agent_accounts(&self) -> Vec<UserId> {
        self.runtime.registry.directory().accounts()
    }
}
