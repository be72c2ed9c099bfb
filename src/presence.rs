//! Which agents are there at all: told by the host, or by heartbeats that stay away.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dirigent_core::{AgentKey, Input, Timestamp};

use crate::room::Room;
use crate::shared::Shared;
use crate::{AgentId, CallError, ChannelId, Dirigent};

/// When an agent whose heartbeats stay away counts as offline (M15).
///
/// ```
/// let usual = dirigent::Heartbeat::default();
/// assert_eq!((usual.period.as_secs(), usual.misses), (30, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Heartbeat {
    /// How often an agent gives a sign of life.
    pub period: Duration,
    /// How many may be missing.
    pub misses: u32,
}

impl Heartbeat {
    /// After how long without a sign of life an agent is offline.
    fn limit(self) -> Duration {
        self.period.saturating_mul(self.misses.max(1))
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { period: Duration::from_secs(30), misses: 3 }
    }
}

/// Who is there, in all channels together. Each channel keeps a mark of its own, which is stored; this
/// tells the channels that are not in memory, once they are.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Rises each time somebody goes offline.
    tide: u64,
    /// Those that ever went offline or came back while this process ran.
    said: HashMap<AgentKey, Said>,
    /// When those last gave a sign of life who have ever given a heartbeat.
    signs: HashMap<AgentKey, Timestamp>,
}

/// What was last said of an agent.
#[derive(Clone, Copy, Debug, Default)]
struct Said {
    /// The tide when it last went offline; 0 if that was before this process.
    at: u64,
    is_offline: bool,
}

impl Presence {
    /// A number to compare with later: what is said from now on is newer.
    pub(crate) fn tide(&self) -> u64 {
        self.lock().tide
    }

    fn is_offline(&self, agent: AgentKey) -> bool {
        self.lock().said.get(&agent).is_some_and(|said| said.is_offline)
    }

    fn say_offline(&self, agent: AgentKey) {
        let mut inner = self.lock();
        inner.tide += 1;
        let said = Said { at: inner.tide, is_offline: true };
        inner.said.insert(agent, said);
        inner.signs.remove(&agent);
    }

    fn say_online(&self, agent: AgentKey) {
        self.lock().said.entry(agent).or_default().is_offline = false;
    }

    /// What a channel has to be told that has heard everything up to this tide.
    fn news_since(&self, tide: u64) -> Vec<Input> {
        let mut news = Vec::new();
        for (agent, said) in &self.lock().said {
            if said.at > tide {
                news.push(Input::Offline(*agent));
            }
            if !said.is_offline {
                news.push(Input::Online(*agent));
            }
        }
        news
    }

    /// A heartbeat: from now on the agent is watched.
    fn watch(&self, agent: AgentKey, now: Timestamp) {
        self.lock().signs.insert(agent, now);
    }

    /// Another sign of life, which says something only of those who are watched.
    fn sign(&self, agent: AgentKey, now: Timestamp) {
        if let Some(sign) = self.lock().signs.get_mut(&agent) {
            *sign = now;
        }
    }

    fn earliest(&self, limit: Duration) -> Option<Timestamp> {
        self.lock().signs.values().min().map(|sign| *sign + limit)
    }

    fn overdue(&self, now: Timestamp, limit: Duration) -> Vec<AgentKey> {
        let inner = self.lock();
        let silent = inner.signs.iter().filter(|(_, sign)| **sign + limit <= now);
        let mut silent: Vec<_> = silent.map(|(agent, _)| *agent).collect();
        silent.sort_unstable();
        silent
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// The agent did something: it lives.
    pub(crate) fn sign_of_life(&self, agent: AgentKey) {
        if self.settings.heartbeat.is_some() {
            self.presence.sign(agent, self.clock.now());
        }
    }

    /// When somebody's heartbeats have stayed away for too long, if nothing is heard before.
    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        self.presence.earliest(self.settings.heartbeat?.limit())
    }

    /// Those whose heartbeats stayed away for too long are offline.
    pub(crate) fn miss_heartbeats(self: &Arc<Self>) {
        let Some(heartbeat) = self.settings.heartbeat else {
            return;
        };
        for agent in self.presence.overdue(self.clock.now(), heartbeat.limit()) {
            tracing::warn!(%agent, "an agent's heartbeats stayed away");
            self.go_offline(agent);
        }
    }

    fn go_offline(self: &Arc<Self>, agent: AgentKey) {
        self.presence.say_offline(agent);
        self.tell_all(&Input::Offline(agent));
    }

    fn come_online(self: &Arc<Self>, agent: AgentKey) {
        self.presence.say_online(agent);
        self.tell_all(&Input::Online(agent));
    }

    fn tell_all(self: &Arc<Self>, input: &Input) {
        for room in self.all_awake() {
            self.tell_of_presence(&room, input);
        }
    }

    /// Tells a channel that came into memory what it has not heard.
    pub(crate) fn tell_news(&self, room: &Arc<Room>, tide: u64) {
        for input in self.presence.news_since(tide) {
            self.tell_of_presence(room, &input);
        }
    }

    fn tell_of_presence(&self, room: &Arc<Room>, input: &Input) {
        if let Err(refusal) = room.submit(self, input) {
            tracing::warn!(channel = %room.id, %refusal, "a channel cannot take note of who is there");
        }
    }
}

impl Dirigent {
    /// The agent crashed or disconnected: it has no turns in any channel from now on, and where it has
    /// the floor its turn is over. Channels that are not in memory are told when they are.
    ///
    /// A hosted agent that fails or panics is not offline by itself: its turn is over, and the next one
    /// is asked as ever. Whoever knows that it is gone says so here.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_offline(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        self.shared.go_offline(self.key(agent)?);
        Ok(())
    }

    /// The agent is back. It has turns again in the channels to which it is [assigned](Self::assign); in
    /// all of them with [`Config::auto_requeue`](crate::Config::auto_requeue) (R274).
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn agent_online(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        self.shared.come_online(self.key(agent)?);
        Ok(())
    }

    /// An agent that came back has turns in this channel again. Stored for good when it returns.
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

    /// The agent lives. With [`Settings::heartbeat`](crate::Settings::heartbeat) it is watched from its
    /// first heartbeat on, and counts as offline when they stay away; asking to speak and the end of a
    /// run are signs of life, too. A heartbeat of an agent that is offline brings it back, as
    /// [`Dirigent::agent_online`] does.
    ///
    /// # Errors
    ///
    /// An unknown agent, or no driver.
    pub async fn heartbeat(&self, agent: &AgentId) -> Result<(), CallError> {
        self.live().await?;
        let agent = self.key(agent)?;
        if self.shared.presence.is_offline(agent) {
            self.shared.come_online(agent);
        }
        if self.shared.settings.heartbeat.is_some() {
            self.shared.presence.watch(agent, self.shared.clock.now());
            self.shared.timers.come_nearer();
        }
        Ok(())
    }
}
