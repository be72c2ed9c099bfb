//! Which agents are online: as the host reports it, or as their heartbeats show.

mod calls;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use dirigent_core::{AgentKey, Input, Timestamp};

/// After how many missed heartbeats an agent counts as offline: once `period` times `misses` have passed
/// since the newest sign of life of this agent. The default is 30 seconds and 3 misses.
///
/// ```
/// let usual = dirigent::Heartbeat::default();
/// assert_eq!((usual.period.as_secs(), usual.misses), (30, 3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "two numbers that hosts write down")]
pub struct Heartbeat {
    /// The time between two heartbeats of one agent.
    pub period: Duration,
    /// The number of heartbeats that may be missing; 0 is taken for 1.
    pub misses: u32,
}

impl Heartbeat {
    /// How long an agent may stay silent.
    fn limit(self) -> Duration {
        self.period.saturating_mul(self.misses.max(1))
    }
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { period: Duration::from_secs(30), misses: 3 }
    }
}

/// Which agents are online, in all channels together. It has no lock and no clock; what it returns is
/// to be told to every channel in memory.
///
/// Each channel stores a mark of its own for agents that are offline. A channel that is not in memory
/// is told what it missed when it is read again, by the epoch up to which it was told everything. The
/// marks outlive the process; this value does not. An agent that was never mentioned in this process
/// may therefore have a mark from before, and its first heartbeat brings it back.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// How long an agent may stay silent; `None`: no agent is watched.
    silence_max: Option<Duration>,
    /// Rises each time an agent goes offline.
    epoch: u64,
    /// The agents that went offline or came online in this process.
    known: BTreeMap<AgentKey, Known>,
    /// The newest sign of life of each agent that is watched.
    signs: BTreeMap<AgentKey, Timestamp>,
}

/// What is known of an agent.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The epoch in which it last went offline; 0 if that was not in this process.
    offline_since: u64,
    is_online: bool,
}

impl Presence {
    /// No agent is known yet. Without a heartbeat no agent is ever watched.
    pub(crate) fn new(heartbeat: Option<Heartbeat>) -> Self {
        Self { silence_max: heartbeat.map(Heartbeat::limit), ..Self::default() }
    }

    /// A number to give to [`Presence::news_since`] later.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The agent went offline. Its silence says nothing more until its next heartbeat.
    pub(crate) fn offline(&mut self, agent: AgentKey) -> Input {
        self.epoch += 1;
        self.known.insert(agent, Known { offline_since: self.epoch, is_online: false });
        self.signs.remove(&agent);
        Input::Offline(agent)
    }

    /// The agent came online.
    pub(crate) fn online(&mut self, agent: AgentKey) -> Input {
        self.known.entry(agent).or_default().is_online = true;
        Input::Online(agent)
    }

    /// A heartbeat: from now on the agent is watched. It brings back an agent that is offline, and one
    /// that was not mentioned yet: channels may have marked that one before a restart.
    pub(crate) fn heartbeat(&mut self, agent: AgentKey, now: Timestamp) -> Option<Input> {
        if self.silence_max.is_some() {
            self.signs.insert(agent, now);
        }
        let is_online = self.known.get(&agent).is_some_and(|known| known.is_online);
        (!is_online).then(|| self.online(agent))
    }

    /// Another sign of life. It says something only of an agent that is watched, and brings none back.
    pub(crate) fn sign_of_life(&mut self, agent: AgentKey, now: Timestamp) {
        if let Some(sign) = self.signs.get_mut(&agent) {
            *sign = now;
        }
    }

    /// When the next agent counts as offline, if nothing is heard of it before.
    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        let silence_max = self.silence_max?;
        self.signs.values().min().map(|sign| *sign + silence_max)
    }

    /// Marks the agents offline that have been silent for too long.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Vec<Input> {
        let Some(silence_max) = self.silence_max else {
            return Vec::new();
        };
        let silent = self.signs.iter().filter(|(_, sign)| **sign + silence_max <= now);
        let silent: Vec<AgentKey> = silent.map(|(agent, _)| *agent).collect();
        silent.into_iter().map(|agent| self.offline(agent)).collect()
    }

    /// What to tell a channel that was told everything up to this epoch; 0 for one that was told
    /// nothing in this process.
    pub(crate) fn news_since(&self, epoch: u64) -> Vec<Input> {
        let mut news = Vec::new();
        for (agent, known) in &self.known {
            if known.offline_since > epoch {
                news.push(Input::Offline(*agent));
            }
            if known.is_online {
                news.push(Input::Online(*agent));
            }
        }
        news
    }
}
