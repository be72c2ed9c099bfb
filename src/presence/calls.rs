//! What hosts report of their agents, and how channels are told.

use std::sync::{Arc, MutexGuard, PoisonError};

use dirigent_core::{AgentKey, Input, Timestamp};

use super::Presence;
use crate::runtime::Runtime;
use crate::runtime::cell::RoomCell;
use crate::{AgentId, CallError, ChannelId, Dirigent};

impl Runtime {
    /// Which agents are online. The lock is never held while a channel is told.
    pub(crate) fn presence(&self) -> MutexGuard<'_, Presence> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent asked to speak or ended a run.
    pub(crate) fn sign_of_life(&self, agent: AgentKey) {
        if self.settings.heartbeat.is_some() {
            let now = self.clock.now();
            self.presence().sign_of_life(agent, now);
        }
    }

    /// When the next agent counts as offline, if nothing is heard of it before.
    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        self.presence().next_silence()
    }

    /// Marks the agents offline whose heartbeats are missing.
    pub(crate) fn miss_heartbeats(self: &Arc<Self>) {
        if self.settings.heartbeat.is_none() {
            return;
        }
        let now = self.clock.now();
        let expired = self.presence().expire(now);
        for input in expired {
            if let Input::Offline(agent) = input {
                tracing::warn!(%agent, "an agent's heartbeats are missing: it is offline");
            }
            self.tell_all(&input);
        }
    }

    fn tell_all(self: &Arc<Self>, input: &Input) {
        for room in self.all_awake() {
            self.tell_of_presence(&room, input);
        }
    }

    /// Tells a channel that came into memory what it was not told.
    pub(crate) fn tell_news(&self, room: &Arc<RoomCell>, epoch: u64) {
        let news = self.presence().news_since(epoch);
        for input in news {
            self.tell_of_presence(room, &input);
        }
    }

    fn tell_of_presence(&self, room: &Arc<RoomCell>, input: &Input) {
        if let Err(refusal) = self.submit(room, input) {
            tracing::warn!(channel = %room.id, %refusal, "a channel cannot take note of who is online");
        }
    }
}

impl Dirigent {
    /// Reports that an agent crashed or disconnected: it has no turns in any channel from now on, and
    /// a turn that it has is over. Channels that are not in memory are told when they are read again.
    ///
    /// A hosted agent that fails or panics is not offline by itself: its turn is over, and it is asked
    /// again when its next one comes.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_offline(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        let input = self.runtime.presence().offline(agent);
        self.runtime.tell_all(&input);
        Ok(())
    }

    /// Reports that an agent is back. It has turns again in the channels to which it is
    /// [assigned](Self::assign); in all of them with
    /// [`Config::auto_requeue`](crate::Config::auto_requeue).
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_online(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        let input = self.runtime.presence().online(agent);
        self.runtime.tell_all(&input);
        Ok(())
    }

    /// Gives turns in this channel again to an agent that came back. Stored for good when it returns.
    ///
    /// # Errors
    ///
    /// [`Refusal::AgentOffline`](crate::Refusal::AgentOffline) while it is offline; an unknown agent or
    /// channel.
    pub async fn assign(&self, channel: ChannelId, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.fact(channel, &Input::Assign(agent)).await
    }

    /// Reports that an agent is alive. With [`Settings::heartbeat`](crate::Settings::heartbeat) the agent
    /// is watched from its first heartbeat on, and counts as offline when further ones are missing;
    /// asking to speak and the end of a run are signs of life, too.
    ///
    /// A heartbeat brings back an agent that is offline, as [`Dirigent::agent_online`] does, also one
    /// that went offline before the process was restarted. Asking to speak does not.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn heartbeat(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        let now = self.runtime.clock.now();
        let news = self.runtime.presence().heartbeat(agent, now);
        if let Some(input) = news {
            self.runtime.tell_all(&input);
        }
        if self.runtime.settings.heartbeat.is_some() {
            self.runtime.timers.wake();
        }
        Ok(())
    }
}
