//! Delivers events to the rooms of the channels that this process acts for.

use dirigent_core::{AgentKey, Input, MessageId, Mode};

use crate::ports::neighbours::GatewayEvent;
use crate::ports::ownership::Standing;
use crate::room::connection::Gateway;
use crate::room::context::ChatFacts as _;
use crate::runtime::Runtime;
use crate::runtime::cell::Awaited;
use crate::runtime::room_table::RoomRef;
use crate::values::error::ErrorKind;
use crate::values::load_error::LoadError;
use crate::{CallError, ChannelId, ChatMessage, Dirigent, Settings, UserId};

impl Dirigent {
    /// Delivers an event to its room in this process, whichever process received it.
    pub(super) async fn deliver_here(&self, event: GatewayEvent) -> Result<(), CallError> {
        match event {
            GatewayEvent::MessageCreated(message) => self.created_here(message).await,
            GatewayEvent::MessageUpdated(message) => self.updated_here(message).await,
            GatewayEvent::MessageDeleted { channel, message } => {
                self.deleted_here(channel, message).await
            }
            GatewayEvent::TypingStarted { channel, user } => self.typing_here(channel, user).await,
            GatewayEvent::MemberJoined { channel, user } => {
                self.member_here(channel, user, Input::MemberJoined).await
            }
            GatewayEvent::MemberLeft { channel, user } => {
                self.member_here(channel, user, Input::MemberLeft).await
            }
            GatewayEvent::NewestMessage { channel, message, parent } => {
                self.newest_here(channel, message, parent).await
            }
            GatewayEvent::ThreadSeen { thread, parent } => {
                self.thread_seen_here(thread, parent).await
            }
            GatewayEvent::ChannelDeleted(channel) => self.channel_deleted_here(channel).await,
        }
    }

    pub(super) async fn created_here(&self, message: ChatMessage) -> Result<(), CallError> {
        self.live().await?;
        let runtime = &self.runtime;
        if let Some(room) = runtime.room_or_catch_up(message.channel).await? {
            // A push proves that content is visible, which a read does not.
            runtime.sight.look_at(&message);
            if let Some(strange) = runtime.twins.strange(&message) {
                // Otherwise another process may rightly post the author's replies, and the message is no sign of a
                // twin.
                let keeps_turns = || room.lock().room.look().machine().view().mode().keeps_turns();
                let is_own = || runtime.owned(message.channel) == Standing::Held && keeps_turns();
                if runtime.registry.is_of_hosted(&message) && is_own() {
                    runtime.twins.heard(&message, strange, runtime.clock.now());
                }
            }
            runtime.update(&room, |room, cx, now| room.pushed(cx, now, message));
        }
        Ok(())
    }

    async fn updated_here(&self, message: ChatMessage) -> Result<(), CallError> {
        self.live().await?;
        let runtime = &self.runtime;
        if let Some(room) = runtime.room_of_event(message.channel).await? {
            runtime.update(&room, |room, cx, now| room.edited(cx, now, message))?;
        }
        Ok(())
    }

    async fn deleted_here(&self, channel: ChannelId, message: MessageId) -> Result<(), CallError> {
        self.live().await?;
        let runtime = &self.runtime;
        // An idle channel has no text in memory, and the chat no longer has this message.
        if let Some(room) = runtime.rooms.awake(channel) {
            runtime.update(&room, |room, cx, now| room.deleted(cx, now, message));
        }
        Ok(())
    }

    /// Reports typing only to a channel in memory, because an observed agent's turn keeps the channel there.
    async fn typing_here(&self, channel: ChannelId, user: UserId) -> Result<(), CallError> {
        self.live().await?;
        let runtime = &self.runtime;
        if let Some(agent) = runtime.registry.observed_by_account(user) {
            if let Some(room) = runtime.rooms.awake(channel) {
                runtime.update(&room, |room, cx, now| room.typing(cx, now, agent));
            }
        }
        Ok(())
    }

    async fn member_here(
        &self,
        channel: ChannelId,
        user: UserId,
        input: impl Fn(AgentKey) -> Input,
    ) -> Result<(), CallError> {
        self.live().await?;
        let runtime = &self.runtime;
        // An account that is not an agent does not concern the channel, so the channel is not loaded for it.
        if let Some(agent) = runtime.registry.directory().of_user(user) {
            if let Some(room) = runtime.room_of_event(channel).await? {
                runtime.submit(&room, &input(agent))?;
            }
        }
        Ok(())
    }

    async fn newest_here(
        &self,
        channel: ChannelId,
        newest: MessageId,
        parent: Option<ChannelId>,
    ) -> Result<(), CallError> {
        self.live().await?;
        let Some(room) = self.runtime.room_or_catch_up(channel).await? else {
            return match parent {
                Some(parent) => self.missed_thread(channel, parent, newest).await,
                None => Ok(()),
            };
        };
        // The channel is in memory now, and waits for its newest message itself.
        self.runtime.catch_up.told_newest(channel);
        self.runtime.update(&room, |room, cx, now| room.gateway(cx, now, Gateway::Newest(newest)));
        Ok(())
    }

    async fn channel_deleted_here(&self, channel: ChannelId) -> Result<(), CallError> {
        self.live().await?;
        let runtime = &self.runtime;
        let room = match runtime.room(channel).await {
            Ok(Some(room)) => Some(room),
            Ok(None) | Err(CallError::Elsewhere) => return Ok(()),
            // A record is deleted in every state.
            Err(CallError::Barred(_)) => None,
            Err(error) => return Err(error),
        };
        let mode = |room: &RoomRef| room.lock().room.look().machine().view().mode();
        if let Some(room) = room.filter(|room| mode(room) == Mode::Discussion) {
            return match runtime.submit_and_store(&room, &Input::Archive).await {
                // The channel was archived before, perhaps because this event arrived twice, and the archive may not be
                // stored yet.
                Err(CallError::Refused(_)) => runtime.store_newest(&room).await,
                archived => archived,
            };
        }
        // If the store cannot delete, the channel has at least lost its mode.
        match self.channel(channel).erase().await {
            Err(error) if !is_unsupported(&error) => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    async fn thread_seen_here(
        &self,
        thread: ChannelId,
        parent: ChannelId,
    ) -> Result<(), CallError> {
        // Almost every message of a thread ends here, before anything is read.
        if !self.runtime.settings.inherit_parent_mode || self.channel(thread).is_known() {
            return Ok(());
        }
        self.live().await?;
        match self.inherited(parent).await? {
            Some(mode) => self.channel(thread).give_mode(mode).await,
            None => Ok(()),
        }
    }

    /// Handles a thread without a mode where people wrote while the gateway was away. The room reads that message, and
    /// those shortly before it.
    async fn missed_thread(
        &self,
        thread: ChannelId,
        parent: ChannelId,
        newest: MessageId,
    ) -> Result<(), CallError> {
        let runtime = &self.runtime;
        let since = runtime.clock.now().saturating_sub(Settings::MISSED_IN_THREAD);
        if !runtime.settings.inherit_parent_mode || runtime.sent_at(newest) < since {
            return Ok(());
        }
        let Some(mode) = self.inherited(parent).await? else { return Ok(()) };
        let room = runtime.room_or_new(thread).await?;
        let stored = runtime.update_cell(&room, None, |state, cx, now| {
            let begun = state.room.look().machine().view().mode() != Mode::None;
            let (answer, stamp) = state.room.input(cx, now, &Input::SetMode(mode), true);
            answer.map(|_| {
                let unheard = || Gateway::Unheard { after: cx.chat.id_before(since), since };
                // News of the channel may have arrived since the look.
                let news = if begun { Gateway::Newest(newest) } else { unheard() };
                state.room.gateway(cx, now, news);
                state.wait_for(Awaited::Stored(stamp))
            })
        })?;
        runtime.until_stored(stored).await
    }

    /// Returns the mode that a thread takes over from its parent, if it is a mode that can be given.
    async fn inherited(&self, parent: ChannelId) -> Result<Option<Mode>, CallError> {
        let mode = self.mode_of_parent(parent).await?;
        // Discussions and work channels are created, and cannot be given as a mode.
        Ok(matches!(mode, Mode::Chat | Mode::Report).then_some(mode))
    }

    /// Returns the mode of a thread's parent. The parent may be a channel of another process, and then its mode is the
    /// stored one.
    async fn mode_of_parent(&self, parent: ChannelId) -> Result<Mode, CallError> {
        let runtime = &self.runtime;
        match runtime.room(parent).await {
            Ok(Some(room)) => Ok(room.lock().room.look().machine().view().mode()),
            Ok(None) => Ok(Mode::None),
            Err(CallError::Elsewhere) => stored_mode(runtime, parent).await,
            Err(error) => Err(error),
        }
    }
}

/// Returns the stored mode of a channel that another process acts for. This is the current one, because a mode is
/// stored before the call that gives it returns. If the record cannot be used, the channel has no mode that a thread
/// could take over.
async fn stored_mode(runtime: &Runtime, channel: ChannelId) -> Result<Mode, CallError> {
    let loading = runtime.within(runtime.settings.time_limits.call, runtime.store.load(channel));
    match loading.await? {
        Ok(stored) => {
            Ok(stored.map_or(Mode::None, |stored| stored.record.snapshot.state.standing.mode))
        }
        Err(LoadError::Barred { .. }) => Ok(Mode::None),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether the store cannot delete at all.
pub(crate) fn is_unsupported(error: &CallError) -> bool {
    matches!(error, CallError::Failed(error) if error.kind() == ErrorKind::Unsupported)
}
