//! What an adapter hears of channels as such: gaps in what it was told, threads, deletions.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use dirigent_core::MessageId;

use crate::host::here::Here;
use crate::ports::neighbours::GatewayEvent;
use crate::room::connection::Gateway;
use crate::runtime::Runtime;
use crate::runtime::cell::RoomCell;
use crate::runtime::connections::Connections;
use crate::{CallError, ChannelId, Dirigent, UserId};

impl Dirigent {
    /// Every connection to the gateway stands, and events may have been lost: in every channel that keeps
    /// turns, what was missed is read from the chat, as after a restart. It returns at once; the driver reads, a few channels at a time.
    ///
    /// Where the chat says which message is a channel's newest,
    /// [`newest_message`](Self::newest_message) costs less.
    ///
    /// # Errors
    ///
    /// When the driver is not running.
    pub async fn reconnected(&self) -> Result<(), CallError> {
        self.runtime.sight.told();
        if let Some(neighbours) = &self.runtime.neighbours {
            neighbours.reconnected();
        }
        self.live().await?;
        self.runtime.lost.clear();
        self.read_all(Runtime::tell_reconnected);
        Ok(())
    }

    /// Another process says that events may have been lost ([`Neighbours`](crate::ports::Neighbours)): in every channel that keeps
    /// turns, what was missed is read from the chat, as after [`reconnected`](Self::reconnected). Connections of this process that are
    /// lost stay so, and the word is carried no further.
    ///
    /// # Errors
    ///
    /// When the driver is not running.
    pub async fn reconnected_here(&self) -> Result<(), CallError> {
        self.live().await?;
        self.read_all(Runtime::tell_gap);
        Ok(())
    }

    fn read_all(&self, tell: impl Fn(&Runtime, &Arc<RoomCell>)) {
        self.runtime.catch_up.forget_awaited();
        self.runtime.gap_epoch.fetch_add(1, Ordering::AcqRel);
        for room in self.runtime.rooms.all_awake() {
            tell(&self.runtime, &room);
        }
        self.runtime.catch_up.call(self.runtime.rooms.known());
    }

    /// A connection to the gateway is lost: the host's number for it (where shards are used, the shard's),
    /// and which channels it tells of. Until the connection stands again, or the host reports a message of the
    /// channel, the channel counts as unheard: after 5 s no agent's time to start runs out any more, what people say where agents
    /// talk is read every 15 s, and an agent that may not have heard its trigger is triggered again
    /// afterwards. That also holds for channels that come into memory, or are given a mode, meanwhile.
    ///
    /// It stands again with [`resumed`](Self::resumed), [`session_began`](Self::session_began) or
    /// [`reconnected`](Self::reconnected). Told while the driver is not running, it means nothing.
    pub fn disconnected(
        &self,
        connection: u32,
        affects: impl Fn(ChannelId) -> bool + Send + Sync + 'static,
    ) {
        self.runtime.sight.told();
        Connections { runtime: &self.runtime }.lose(connection, affects);
    }

    /// A connection to the gateway is back, and everything that was missed was told: the session was
    /// resumed. To be told after the events of that time. Means nothing unless the connection was
    /// [lost](Self::disconnected).
    pub fn resumed(&self, connection: u32) {
        self.runtime.sight.told();
        let tell = |room: &Arc<RoomCell>, stands: bool| {
            if stands {
                self.runtime
                    .update(room, |room, cx, now| room.gateway(cx, now, Gateway::HeardAgain));
            }
        };
        Connections { runtime: &self.runtime }.regain(connection, |_| {}, tell);
    }

    /// A connection to the gateway is back with a new session: missed events do not arrive any more. For
    /// hosts that soon report each channel's [`newest_message`](Self::newest_message). Where a host reports none
    /// within 30 s, or reports another message of the channel first, the library reads what was missed from the
    /// chat, also if the connection is lost again meanwhile. Hosts that never report it call
    /// [`reconnected`](Self::reconnected) instead.
    pub fn session_began(&self, connection: u32) {
        let runtime = &self.runtime;
        runtime.sight.told();
        Connections { runtime }.regain(
            connection,
            |affects| runtime.await_newest_of_parked(affects),
            |room, stands| {
                runtime.update(room, |room, cx, now| {
                    room.gateway(cx, now, Gateway::AwaitNewest { stands });
                });
            },
        );
    }

    /// The chat says that no message of the channel is newer than this one. If it was not heard of,
    /// what was missed is read from the chat.
    ///
    /// To be told before any message that came after the gap.
    ///
    /// # Errors
    ///
    /// When the driver is not running or the channel cannot be read. Then it is loaded again later, and reads
    /// what was missed.
    pub async fn newest_message(
        &self,
        channel: ChannelId,
        newest: MessageId,
    ) -> Result<(), CallError> {
        self.heard(GatewayEvent::NewestMessage { channel, message: newest, parent: None }).await
    }

    /// The same of a thread. One that was never given a mode takes over that of its parent, as in [`thread_seen`](Self::thread_seen), where
    /// its newest message is at most [an hour](crate::Settings::MISSED_IN_THREAD) old: it was said while the gateway was away. All that was
    /// said in the thread in that hour is read then.
    ///
    /// # Errors
    ///
    /// As [`newest_message`](Self::newest_message), or as the store fails.
    pub async fn newest_message_of_thread(
        &self,
        thread: ChannelId,
        parent: ChannelId,
        newest: MessageId,
    ) -> Result<(), CallError> {
        let parent = Some(parent);
        self.heard(GatewayEvent::NewestMessage { channel: thread, message: newest, parent }).await
    }

    /// A channel is gone for good. What ran in it ends; a discussion is archived, so that its callback
    /// channel hears of its end; of any other channel nothing is kept, where the store can
    /// [delete](crate::store::ChannelStore::delete), else it has no mode any more. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// When the driver is not running, or as the store fails.
    pub async fn channel_deleted(&self, channel: ChannelId) -> Result<(), CallError> {
        self.heard(GatewayEvent::ChannelDeleted(channel)).await
    }

    /// Something is said in a thread. If it was never given a mode, it takes over that of its parent,
    /// where the host wants that ([`Settings::inherit_parent_mode`](crate::Settings)) and the mode is one
    /// that can be given.
    ///
    /// # Errors
    ///
    /// When the driver is not running, or as the store fails.
    pub async fn thread_seen(&self, thread: ChannelId, parent: ChannelId) -> Result<(), CallError> {
        self.heard(GatewayEvent::ThreadSeen { thread, parent }).await
    }

    /// Another process heard this event of a channel for which this one acts ([`Neighbours`](crate::ports::Neighbours)).
    /// As what the gateway tells, but that it is carried no further.
    ///
    /// # Errors
    ///
    /// [`CallError::Elsewhere`] where this process does not act for the channel either, or its lease has lapsed; else as the function
    /// that the event is named after.
    pub async fn event_here(&self, event: GatewayEvent) -> Result<(), CallError> {
        self.runtime.sight.told();
        if !self.runtime.standing(event.channel()).acts() {
            return Err(CallError::Elsewhere);
        }
        Here { dirigent: self }.tell(event).await
    }

    /// Tells this process's rooms, or the neighbours.
    pub(super) async fn heard(&self, event: GatewayEvent) -> Result<(), CallError> {
        self.runtime.sight.told();
        if let Some(neighbours) = self.runtime.neighbours_of(event.channel()) {
            neighbours.heard(event);
            return Ok(());
        }
        Here { dirigent: self }.tell(event).await
    }

    /// Who may do what in these channels may have changed: a role, an overwrite, a member or a thread did. Agents that
    /// surely may not write there have no turns while that is so
    /// ([`DiscordApi::write_bars`](crate::DiscordApi::write_bars)), and those that may again are asked again at once; accounts that rested
    /// after refusals try again. Returns at once. Told too often, it does no harm.
    pub fn rights_changed(&self, channels: &[ChannelId]) {
        self.runtime.rights_changed(channels);
    }

    /// The accounts of the registered agents, in ascending order.
    pub fn agent_accounts(&self) -> Vec<UserId> {
        self.runtime.registry.accounts()
    }
}
