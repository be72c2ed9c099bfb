//! What an adapter hears of channels as such: gaps in what it was told, threads, deletions.

use std::sync::Arc;

use dirigent_core::{Input, MessageId, Mode};

use crate::room::{MissedFrom, RoomState};
use crate::{CallError, ChannelId, ChatMessage, Dirigent, Durability, UserId};

impl Dirigent {
    /// Events may have been lost: in every channel that keeps turns, what was missed is read from the
    /// chat, as after a restart (F19). It returns at once; the driver reads, a few channels at a time.
    ///
    /// Where the chat says which message is a channel's newest,
    /// [`newest_message`](Self::newest_message) costs less.
    ///
    /// # Errors
    ///
    /// When the driver is not running.
    pub async fn reconnected(&self) -> Result<(), CallError> {
        self.live().await?;
        for room in self.shared.all_awake() {
            room.lock().miss();
        }
        self.shared.lookouts.call(self.shared.known());
        Ok(())
    }

    /// The chat says that no message of the channel is newer than this one. If it was not heard of,
    /// what was missed is read from the chat.
    ///
    /// To be told before any message that came after the gap.
    ///
    /// # Errors
    ///
    /// When the driver is not running or the channel cannot be read.
    pub async fn newest_message(
        &self,
        channel: ChannelId,
        newest: MessageId,
    ) -> Result<(), CallError> {
        self.live().await?;
        let Some(room) = self.shared.room(channel).await? else {
            return Ok(());
        };
        let is_behind = {
            let mut state = room.lock();
            state.channel.view().newest() < Some(newest) && state.miss()
        };
        if is_behind {
            self.shared.lookouts.call([channel]);
        }
        Ok(())
    }

    /// A channel is gone for good. What ran in it ends; a discussion is archived, so that its callback
    /// channel hears of its end; any other channel has no mode any more. Stored for good when it
    /// returns.
    ///
    /// # Errors
    ///
    /// When the driver is not running, or as the store fails.
    pub async fn channel_deleted(&self, channel: ChannelId) -> Result<(), CallError> {
        self.live().await?;
        let Some(room) = self.shared.room(channel).await? else {
            return Ok(());
        };
        let mode = room.lock().channel.view().mode();
        if mode == Mode::Discussion {
            return match self.state_fact(&room, &Input::Archive).await {
                // It was archived before.
                Err(CallError::Refused(_)) => Ok(()),
                archived => archived,
            };
        }
        if mode == Mode::None {
            return Ok(());
        }
        let blank = self.shared.new_machine(channel);
        let (tell, told) = tokio::sync::oneshot::channel();
        {
            let mut state = room.lock();
            state.forget_all(blank);
            state.durability = Durability::Fact;
            state.tells.push(tell);
            room.settle_down(&self.shared, &mut state);
        }
        self.told(told).await
    }

    /// Something is said in a thread. If it was never given a mode, it takes over that of its parent,
    /// where the host wants that ([`Settings::inherit_parent_mode`](crate::Settings)) and the mode is one
    /// that can be given.
    ///
    /// # Errors
    ///
    /// When the driver is not running, or as the store fails.
    pub async fn thread_seen(&self, thread: ChannelId, parent: ChannelId) -> Result<(), CallError> {
        if !self.shared.settings.inherit_parent_mode || self.is_known(thread) {
            return Ok(());
        }
        self.live().await?;
        let Some(room) = self.shared.room(parent).await? else {
            return Ok(());
        };
        let mode = room.lock().channel.view().mode();
        drop(room);
        match mode {
            Mode::Chat | Mode::Report => self.set_mode(thread, mode).await,
            Mode::None | Mode::Work | Mode::Discussion => Ok(()),
        }
    }

    /// Whether the channel was ever given a mode. Costs nothing.
    pub fn is_known(&self, channel: ChannelId) -> bool {
        self.shared.is_known(channel)
    }

    /// The accounts of the registered agents, in no order.
    pub fn agent_accounts(&self) -> Vec<UserId> {
        self.shared.registry.accounts()
    }
}

impl RoomState {
    /// Something may have been said since the newest message that is known. `false` where that is of
    /// no use, since no turns are kept.
    pub(crate) fn miss(&mut self) -> bool {
        if !self.channel.view().mode().keeps_turns() {
            return false;
        }
        let newest = self.channel.view().newest();
        let from = MissedFrom { newest, at: self.heard.at };
        self.active().missed_from.get_or_insert(from);
        true
    }

    /// A message says something else now.
    pub(crate) fn changed(&mut self, message: ChatMessage) {
        let recent = self.active.as_mut().map(|active| &mut active.recent);
        let known =
            recent.and_then(|recent| recent.iter_mut().find(|known| known.id == message.id));
        if let Some(known) = known {
            *known = Arc::new(message);
        }
    }

    /// A message is gone.
    pub(crate) fn deleted(&mut self, message: MessageId) {
        if let Some(active) = &mut self.active {
            active.recent.retain(|known| known.id != message);
        }
    }
}
