//! Knows which agents are online, from reports of the host or from heartbeats. It also knows which agents were
//! registered recently, because every channel has to learn that, too.

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

/// Knows which agents are online, in all channels together. It has no lock and no clock. After each change every
/// channel in memory must get its news.
///
/// Each channel stores its own mark for agents that are offline. A channel remembers the epoch up to which it got all
/// news, so a channel that is not in memory gets the rest when it is loaded. The marks survive the process, and this
/// value does not. An agent that this process has not heard of may therefore have an old mark, and its first heartbeat
/// brings it back.
#[derive(Debug, Default)]
pub(crate) struct Presence {
    /// The longest time without a sign of life. `None` if no agent is watched.
    silence_max: Option<Duration>,
    /// Rises each time an agent goes offline, comes online or is registered.
    epoch: u64,
    /// The agents that went offline, came online or were registered in this process.
    known: BTreeMap<AgentKey, AgentEpochs>,
    /// The newest sign of life of each watched agent.
    signs: BTreeMap<AgentKey, Timestamp>,
    by_age: BTreeSet<(Timestamp, AgentKey)>,
    failures: BTreeMap<AgentKey, FailedCalls>,
    /// The newest failures of turns in all channels, oldest first, with the class of each.
    classes: VecDeque<(ChannelId, TurnId, Arc<str>)>,
}

const CLASSES_MAX: usize = 256;

/// The calls of an agent that failed since the last success.
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
    /// The number of calls.
    pub number: u32,
    /// The kind of the newest failure, if the agent names it ([`Agent::failure_class`](crate::Agent::failure_class)).
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

/// The epochs when an agent last went offline, came online and was registered. An epoch is 0 if that did not happen in
/// this process.
#[derive(Clone, Copy, Debug, Default)]
struct AgentEpochs {
    offline_since: u64,
    online_since: u64,
    /// The epoch of its registration. It is 0 for an agent that was registered when the process began.
    new_at: u64,
}

impl AgentEpochs {
    const fn is_online(self) -> bool {
        self.online_since > self.offline_since
    }
}

impl Presence {
    /// Creates a value that knows no agent. Without a heartbeat no agent is ever watched.
    pub(crate) fn new(heartbeat: Option<Heartbeat>) -> Self {
        Self { silence_max: heartbeat.map(Heartbeat::limit), ..Self::default() }
    }

    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Records that the agent went offline. Its silence then means nothing until its next heartbeat.
    pub(crate) fn offline(&mut self, agent: AgentKey) {
        self.epoch += 1;
        self.known.entry(agent).or_default().offline_since = self.epoch;
        self.watch(agent, None);
    }

    pub(crate) fn online(&mut self, agent: AgentKey) {
        self.epoch += 1;
        self.known.entry(agent).or_default().online_since = self.epoch;
    }

    /// Records that the agent is registered from now on. If its account can see a channel, the agent is there from now
    /// on.
    pub(super) fn registered(&mut self, agent: AgentKey) {
        self.epoch += 1;
        self.known.entry(agent).or_default().new_at = self.epoch;
    }

    pub(super) fn failures(&self, agent: AgentKey) -> Option<FailedCalls> {
        self.failures.get(&agent).cloned()
    }

    /// Returns the failed turns of a channel with the class of each failure, oldest first, as far as both are known.
    pub(crate) fn classes_in(&self, channel: ChannelId) -> Vec<(TurnId, Arc<str>)> {
        let here = self.classes.iter().filter(|(of, ..)| *of == channel);
        here.map(|(_, turn, class)| (*turn, Arc::clone(class))).collect()
    }

    /// Records the end of a call. Returns whether the agent is offline from now on, because `most` calls failed in a
    /// row.
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
            // Counted anew once it is back, because one failure more must not end it at once.
            self.failures.remove(&agent);
            self.offline(agent);
        }
        is_offline
    }

    /// Sets the newest sign of life of an agent. With `None` the agent is no longer watched.
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

    /// Records a heartbeat. The agent is watched from now on. It brings an offline agent back, and also an agent that
    /// this process has not heard of, because channels may have marked it before a restart. Returns whether it does so.
    pub(crate) fn heartbeat(&mut self, agent: AgentKey, now: Timestamp) -> bool {
        if self.silence_max.is_some() {
            self.watch(agent, Some(now));
        }
        // An agent that this process has not heard of may be marked offline in records of an earlier one.
        let is_online = self.known.get(&agent).is_some_and(|known| known.is_online());
        if !is_online {
            self.online(agent);
        }
        !is_online
    }

    /// Records another sign of life. It matters only for a watched agent, and brings no agent back.
    pub(crate) fn sign_of_life(&mut self, agent: AgentKey, now: Timestamp) {
        // A sign of an unwatched agent must not start a watch that it cannot keep up.
        if self.signs.contains_key(&agent) {
            self.watch(agent, Some(now));
        }
    }

    /// Adjusts the signs after the clock was set back to `now` by this much, so that no silence gets longer. A sign of
    /// life that does not lie ahead may have come since.
    pub(crate) fn move_back(&mut self, now: Timestamp, by: Duration) {
        for sign in self.signs.values_mut().filter(|sign| **sign > now) {
            *sign = sign.saturating_sub(by);
        }
        self.by_age = self.signs.iter().map(|(agent, sign)| (*sign, *agent)).collect();
    }

    /// Returns the time when the next agent counts as offline, if it gives no sign before.
    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        let silence_max = self.silence_max?;
        self.by_age.first().map(|(sign, _)| *sign + silence_max)
    }

    /// Marks agents offline that were silent for too long, and returns them.
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

    /// Returns the news for a channel that got all news up to this epoch. It is 0 for a channel without news from this
    /// process.
    pub(crate) fn news_since(&self, epoch: u64) -> Vec<Input> {
        let mut news = Vec::new();
        for (agent, known) in &self.known {
            // Offline comes first, so that a channel learns in this order of an agent that went and came back.
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
