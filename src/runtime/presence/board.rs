//! Knows which agents are online, with its lock and clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dirigent_core::{AgentKey, Input, Timestamp, TurnId};

use super::{FailedCalls, Presence};
use crate::runtime::events::Failed;
use crate::settings::Heartbeat;
use crate::{ChannelId, Clock};

/// Who is online, told by hosts and by time.
pub(crate) struct PresenceBoard {
    presence: Mutex<Presence>,
    clock: Arc<dyn Clock>,
    /// Whether heartbeats are expected.
    is_watching: bool,
    /// Whether a call of any agent has failed.
    has_failed: AtomicBool,
}

impl PresenceBoard {
    pub(crate) fn new(heartbeat: Option<Heartbeat>, clock: Arc<dyn Clock>) -> Self {
        let is_watching = heartbeat.is_some();
        Self {
            presence: Mutex::new(Presence::new(heartbeat)),
            clock,
            is_watching,
            has_failed: AtomicBool::new(false),
        }
    }

    /// Which agents are online. While this is locked, nothing else gets locked.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Presence> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent asked to speak or ended a run.
    pub(crate) fn sign_of_life(&self, agent: AgentKey) {
        if self.is_watching {
            let now = self.clock.now();
            self.lock().sign_of_life(agent, now);
        }
    }

    /// A call of the agent ended. Returns whether it is offline from now on, since `most` failed in a row.
    pub(super) fn call_ended(
        &self,
        of: (AgentKey, Option<(ChannelId, TurnId)>),
        failed: Option<&Failed>,
        most: Option<u32>,
    ) -> bool {
        if failed.is_some() {
            self.has_failed.store(true, Ordering::Release);
        }
        self.lock().call_ended(of, failed, most)
    }

    /// These agents are registered from now on.
    pub(crate) fn registered(&self, agents: &[AgentKey]) {
        let mut presence = self.lock();
        for agent in agents {
            presence.registered(*agent);
        }
    }

    /// Whether a call of any agent has failed in this process.
    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    /// The calls of the agent that failed since one succeeded, in any channel of this process.
    pub(crate) fn failures(&self, agent: AgentKey) -> Option<FailedCalls> {
        self.lock().failures(agent)
    }

    /// When the next agent counts as offline, if nothing is heard of it before.
    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        if self.is_watching { self.lock().next_silence() } else { None }
    }

    /// The agents that are offline from now on, since their heartbeats are missing.
    pub(super) fn expire(&self, now: Timestamp) -> Vec<AgentKey> {
        if self.is_watching { self.lock().expire(now) } else { Vec::new() }
    }

    /// What a channel was not told that was told of everything up to this epoch.
    pub(super) fn news_since(&self, epoch: &mut u64) -> Vec<Input> {
        let presence = self.lock();
        let news = presence.news_since(*epoch);
        *epoch = presence.epoch();
        news
    }
}
