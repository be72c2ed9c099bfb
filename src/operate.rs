//! What operators and tools tell a channel. All of it is stored for good before the call returns, but
//! for waking.

use std::sync::{Arc, PoisonError};

use dirigent_core::{Config, Creation, Input, Mode, WakeCause};

use crate::{AgentId, CallError, ChannelId, Dirigent};

/// A channel that a tool has created.
///
/// ```
/// use dirigent::{CreatedChannel, Mode};
/// let chat = CreatedChannel { mode: Mode::Chat, ..CreatedChannel::default() };
/// assert!(chat.members.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "a request that hosts build")]
pub struct CreatedChannel {
    /// What it is for.
    pub mode: Mode,
    /// The agents in it, in the order in which they shall speak first.
    pub members: Vec<AgentId>,
    /// Who opened the discussion: exactly for [`Mode::Discussion`].
    pub initiator: Option<AgentId>,
    /// Where the discussion was opened from.
    pub callback: Option<ChannelId>,
}

impl Dirigent {
    /// Gives a channel another mode: none, chat or report. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::ModeLocked`](crate::Refusal::ModeLocked),
    /// [`Refusal::CreationOnly`](crate::Refusal::CreationOnly), or as the store fails.
    pub async fn set_mode(&self, channel: ChannelId, mode: Mode) -> Result<(), CallError> {
        self.live().await?;
        let room = self.shared.room_or_new(channel).await?;
        self.state_fact(&room, &Input::SetMode(mode)).await
    }

    /// Records a channel that was just created, with its mode. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::AlreadyCreated`](crate::Refusal::AlreadyCreated), an unknown agent, or as the
    /// store fails.
    pub async fn created(&self, channel: ChannelId, made: CreatedChannel) -> Result<(), CallError> {
        self.live().await?;
        let CreatedChannel { mode, members, initiator, callback } = made;
        let members = members.iter().map(|agent| self.key(agent)).collect::<Result<_, _>>()?;
        let initiator = initiator.map(|agent| self.key(&agent)).transpose()?;
        let room = self.shared.room_or_new(channel).await?;
        let input = Input::Create(Creation { mode, members, initiator });
        let told = self.submit_telling(&room, &input, |state| state.callback = callback)?;
        self.told(told).await
    }

    /// Wakes a dormant channel without a message, as an operator.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::Refusal::Stopped) and the like.
    pub async fn wake(&self, channel: ChannelId, first: Option<&AgentId>) -> Result<(), CallError> {
        self.wake_for(channel, first, WakeCause::Operator).await
    }

    /// Wakes a dormant channel without a message, for this reason.
    ///
    /// # Errors
    ///
    /// [`Refusal::CeilingReached`](crate::Refusal::CeilingReached) and the like.
    pub async fn wake_for(
        &self,
        channel: ChannelId,
        first: Option<&AgentId>,
        cause: WakeCause,
    ) -> Result<(), CallError> {
        self.live().await?;
        let first = first.map(|agent| self.key(agent)).transpose()?;
        self.tell(channel, &Input::Wake { first, cause }).await
    }

    /// Denies everybody at once, until resumed. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotManaged`](crate::Refusal::NotManaged) where agents answer freely.
    pub async fn stop(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Stop).await
    }

    /// Pauses the channel and keeps its order. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Stopped`](crate::Refusal::Stopped) while it is stopped.
    pub async fn hold(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Hold).await
    }

    /// Ends a stop or a hold. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotResting`](crate::Refusal::NotResting).
    pub async fn resume(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Resume).await
    }

    /// Gives the agent no turns in this channel. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn mute(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Mute(agent)).await
    }

    /// Gives the agent turns again. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// An unknown agent or channel.
    pub async fn unmute(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Unmute(agent)).await
    }

    /// The initiator concludes its discussion: it is archived. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::NotTheInitiator`](crate::Refusal::NotTheInitiator) and the like.
    pub async fn conclude(&self, channel: ChannelId, by: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let by = self.key(by)?;
        self.fact(channel, &Input::Conclude { by }).await
    }

    /// Archives a channel, as an operator. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::Archived`](crate::Refusal::Archived) when it was before.
    pub async fn archive(&self, channel: ChannelId) -> Result<(), CallError> {
        self.fact(channel, &Input::Archive).await
    }

    /// Other rules for every channel, from now on.
    ///
    /// # Errors
    ///
    /// A rule that cannot be obeyed; then nothing changed.
    pub async fn reconfigure(&self, config: Config) -> Result<(), CallError> {
        config.validate()?;
        self.live().await?;
        let config = Arc::new(config);
        *self.shared.config.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&config);
        for room in self.shared.all_awake() {
            room.submit(&self.shared, &Input::Reconfigure(Arc::clone(&config)))?;
        }
        Ok(())
    }
}
