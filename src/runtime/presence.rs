//! Which agents are online: as the host reports it, or as their heartbeats show. And which are registered of late, since
//! every channel is to be told of that, too.

mod board;
mod calls;

pub(crate) use self::board::PresenceBoard;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, Input, Timestamp, TurnId};

use crate::ChannelId;
use crate::runtime::events::Failed;
use crate::settings::Heartbeat;

/// Which agents are online, in all channels together. It has no lock and no clock; after each change
/// every channel in memory is to be told its news.
///
/// Each channel stores a mark of its own for agents that are offline. What it was not told is known by the
/// epoch up to which it was told everything: a channel that is not in memory hears it when it is read
/// again. The
/// marks outlive the process; this value does not. An agent that was never mentioned in this process
/// may therefore have a mark from before, and its first heartbeat brings it back.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// How long an agent may stay silent; `None`: no agent is watched.
    silence_max: Option<Duration>,
    /// Rises each time an agent goes offline, comes online or is registered.
    epoch: u64,
    /// The agents that went offline, came online or were registered in this process.
    known: BTreeMap<AgentKey, AgentEpochs>,
    /// The newest sign of life of each agent that is watched.
    signs: BTreeMap<AgentKey, Timestamp>,
    /// The same, oldest sign first.
    by_age: BTreeSet<(Timestamp, AgentKey)>,
    /// The calls of each agent that failed since one succeeded.
    failures: BTreeMap<AgentKey, FailedCalls>,
    /// The newest failures of turns in all channels, oldest first, with the class of each.
    classes: VecDeque<(ChannelId, TurnId, Arc<str>)>,
}

/// The most failures whose classes are kept.
const CLASSES_MAX: usize = 256;

/// The calls of an agent that failed since one succeeded.
///
/// ```
/// use dirigent::operate::FailedCalls;
///
/// let failed = FailedCalls { number: 3, class: Some("the endpoint cannot be reached".into()) };
/// assert_eq!(failed.to_string(), "Its last 3 calls failed: the endpoint cannot be reached");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a number and its kind")]
pub struct FailedCalls {
    /// How many.
    pub number: u32,
    /// What kind of failure the newest was, where the agent says it ([`Agent::failure_class`](crate::Agent::failure_class)).
    pub class: Option<Arc<str>>,
}

impl fmt::Display for FailedCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            1 => f.write_str("Its last call failed")?,
            number => write!(f, "Its last {number} calls failed")?,
        }
        match &self.class {
            Some(class) => write!(f, ": {class}"),
            None => Ok(()),
        }
    }
}

/// What is known of an agent: the epochs in which it last went offline, came online and was registered, 0 where that
/// was not in this process.
#[derive(Clone, Copy, Debug, Default)]
struct AgentEpochs {
    offline_since: u64,
    online_since: u64,
    /// The same, since when it is registered: nothing of an agent that was when the process began.
    new_at: u64,
}

impl AgentEpochs {
    const fn is_online(self) -> bool {
        self.online_since > self.offline_since
    }
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
    pub(crate) fn offline(&mut self, agent: AgentKey) {
        self.epoch += 1;
        self.known.entry(agent).or_default().offline_since = self.epoch;
        self.watch(agent, None);
    }

    /// The agent came online.
    pub(crate) fn online(&mut self, agent: AgentKey) {
        self.epoch += 1;
        self.known.entry(agent).or_default().online_since = self.epoch;
    }

    /// The agent is registered from now on: where its account is let into a channel, it is there from now on.
    pub(super) fn registered(&mut self, agent: AgentKey) {
        self.epoch += 1;
        self.known.entry(agent).or_default().new_at = self.epoch;
    }

    /// The calls of the agent that failed since one succeeded.
    pub(super) fn failures(&self, agent: AgentKey) -> Option<FailedCalls> {
        self.failures.get(&agent).cloned()
    }

    /// The turns of a channel that failed and the class of each failure, oldest first, as far as both are known.
    pub(crate) fn classes_in(&self, channel: ChannelId) -> Vec<(TurnId, Arc<str>)> {
        let here = self.classes.iter().filter(|(of, ..)| *of == channel);
        here.map(|(_, turn, class)| (*turn, Arc::clone(class))).collect()
    }

    /// A call of the agent ended. Returns whether it is offline from now on, since `most` failed in a row.
    pub(super) fn call_ended(
        &mut self,
        (agent, turn): (AgentKey, Option<(ChannelId, TurnId)>),
        failed: Option<&Failed>,
        most: Option<u32>,
    ) -> bool {
        let Some(failed) = failed else {
            self.failures.remove(&agent);
            return false;
        };
        if let (Some((channel, turn)), Some(class)) = (turn, &failed.class) {
            if self.classes.len() >= CLASSES_MAX {
                self.classes.pop_front();
            }
            self.classes.push_back((channel, turn, Arc::clone(class)));
        }
        let failures = self.failures.entry(agent).or_default();
        *failures =
            FailedCalls { number: failures.number.saturating_add(1), class: failed.class.clone() };
        let is_offline = most.is_some_and(|most| failures.number >= most);
        if is_offline {
            self.failures.remove(&agent);
            self.offline(agent);
        }
        is_offline
    }

    /// Moves the newest sign of life of an agent; `None`: it is not watched any more.
    fn watch(&mut self, agent: AgentKey, sign: Option<Timestamp>) {
        let old = match sign {
            Some(sign) => self.signs.insert(agent, sign),
            None => self.signs.remove(&agent),
        };
        if let Some(old) = old {
            self.by_age.remove(&(old, agent));
        }
        self.by_age.extend(sign.map(|sign| (sign, agent)));
    }

    /// A heartbeat: from now on the agent is watched. It brings back an agent that is offline, and one
    /// that was not mentioned yet: channels may have marked that one before a restart. Returns whether it
    /// does.
    pub(crate) fn heartbeat(&mut self, agent: AgentKey, now: Timestamp) -> bool {
        if self.silence_max.is_some() {
            self.watch(agent, Some(now));
        }
        let is_online = self.known.get(&agent).is_some_and(|known| known.is_online());
        if !is_online {
            self.online(agent);
        }
        !is_online
    }

    /// Another sign of life. It says something only of an agent that is watched, and brings none back.
    pub(crate) fn sign_of_life(&mut self, agent: AgentKey, now: Timestamp) {
        if self.signs.contains_key(&agent) {
            self.watch(agent, Some(now));
        }
    }

    /// Time went back to now by this much: no agent's silence lasts longer for it. A sign of life that does
    /// not lie ahead may have come since.
    pub(crate) fn move_back(&mut self, now: Timestamp, by: Duration) {
        for sign in self.signs.values_mut().filter(|sign| **sign > now) {
            *sign = sign.saturating_sub(by);
        }
        self.by_age = self.signs.iter().map(|(agent, sign)| (*sign, *agent)).collect();
    }

    /// When the next agent counts as offline, if nothing is heard of it before.
    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        let silence_max = self.silence_max?;
        self.by_age.first().map(|(sign, _)| *sign + silence_max)
    }

    /// Marks the agents offline that have been silent for too long, and returns them.
    pub(crate) fn expire(&mut self, now: Timestamp) -> Vec<AgentKey> {
        let mut silent = Vec::new();
        while self.next_silence().is_some_and(|due| due <= now) {
            let Some((_, agent)) = self.by_age.first().copied() else {
                break;
            };
            self.offline(agent);
            silent.push(agent);
        }
        silent
    }

    /// What to tell a channel that was told everything up to this epoch; 0 for one that was told
    /// nothing in this process.
    pub(crate) fn news_since(&self, epoch: u64) -> Vec<Input> {
        let mut news = Vec::new();
        for (agent, known) in &self.known {
            if known.offline_since > epoch {
                news.push(Input::Offline(*agent));
            }
            if known.is_online() && known.online_since > epoch {
                news.push(Input::Online(*agent));
            }
            if known.new_at > epoch {
                news.push(Input::MemberJoined(*agent));
            }
        }
        news
    }
}
