//! What hosts report of their agents, and how channels are told.

use std::sync::Arc;

use dirigent_core::{AgentKey, Input, Timestamp};

use crate::room::Room;
use crate::room::context::Context;
use crate::runtime::Runtime;
use crate::runtime::cell::RoomCell;
use crate::{AgentId, CallError, ChannelId, Dirigent};

impl Runtime {
    /// Marks the agents offline whose heartbeats are missing.
    pub(crate) fn miss_heartbeats(self: &Arc<Self>, now: Timestamp) {
        let silent = self.presence.expire(now);
        for agent in &silent {
            tracing::warn!(agent = %self.registry.log_name(*agent), "an agent's heartbeats are missing: it is offline");
        }
        if !silent.is_empty() {
            self.tell_all();
        }
    }

    /// A call of a hosted agent ended. One that fails too often in a row counts as offline.
    pub(crate) fn call_ended(self: &Arc<Self>, agent: AgentKey, failed: bool) {
        let Some(most) = self.settings.offline_after_failures else {
            return;
        };
        if self.presence.lock().call_ended(agent, failed, most) {
            tracing::warn!(agent = %self.registry.log_name(agent), "the calls of an agent fail: it is offline");
            self.tell_all();
        }
    }

    fn tell_all(self: &Arc<Self>) {
        for room in self.rooms.all_awake() {
            self.tell_news(&room);
        }
    }

    /// Tells a channel in memory what it was not told. What it was told is noted under its lock: it misses
    /// nothing when it leaves memory meanwhile, and hears of two changes in their order.
    pub(crate) fn tell_news(&self, cell: &Arc<RoomCell>) {
        self.update_cell(cell, None, |state, cx, now| {
            for input in self.presence.news_since(&mut state.epochs.presence) {
                if let Input::Offline(agent) = input {
                    warn_of_turn(&state.room, cx, agent);
                }
                if let (Err(refusal), _) = state.room.input(cx, now, &input, false) {
                    tracing::warn!(channel = %cell.id, %refusal, "a channel cannot take note of who is online");
                }
            }
        });
    }
}

/// An agent goes offline: where it has the floor, its turn is lost.
fn warn_of_turn(room: &Room, cx: &Context<'_>, agent: AgentKey) {
    let view = room.machine().view();
    if view.speaker() == Some(agent) {
        let agent = cx.directory.name(agent).map(AgentId::as_str);
        let (was, turn) = (view.phase().as_str(), view.turn().get());
        tracing::warn!(channel = %room.id(), agent, turn, was, "an agent went offline in its turn");
    }
}

impl Dirigent {
    /// Reports that an agent crashed or disconnected: it has no turns in any channel from now on, and
    /// a turn that it has is over. Channels that are not in memory are told when they are read again.
    ///
    /// A hosted agent that fails or panics is not offline by itself, unless
    /// [`Settings::offline_after_failures`](crate::Settings::offline_after_failures) says so: its turn is over,
    /// and it is asked again when its next one comes.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_offline(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        self.runtime.presence.lock().offline(agent);
        self.runtime.tell_all();
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
        self.runtime.presence.lock().online(agent);
        self.runtime.tell_all();
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
        let is_news = self.runtime.presence.lock().heartbeat(agent, now);
        if is_news {
            self.runtime.tell_all();
        }
        if self.runtime.settings.heartbeat.is_some() {
            self.runtime.timers.wake();
        }
        Ok(())
    }
}
