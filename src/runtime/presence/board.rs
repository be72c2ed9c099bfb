//! Knows which agents are online, with its lock and clock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use dirigent_core::{AgentKey, Input, Timestamp, TurnId};

use super::{FailedCalls, Presence};
use crate::runtime::events::Failed;
use crate::settings::Heartbeat;
use crate::values::sync::locked;
use crate::{ChannelId, Clock};

pub(crate) struct PresenceBoard {
    presence: Mutex<Presence>,
    clock: Arc<dyn Clock>,
    is_watching: bool,
    /// `true` if a call of any agent has failed.
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

    /// Locks the agents' presence. While it is locked, no other lock may be taken.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Presence> {
        locked(&self.presence)
    }

    /// Records that the agent asked to speak or ended a run.
    pub(crate) fn sign_of_life(&self, agent: AgentKey) {
        if self.is_watching {
            let now = self.clock.now();
            self.lock().sign_of_life(agent, now);
        }
    }

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

    pub(crate) fn registered(&self, agents: &[AgentKey]) {
        let mut presence = self.lock();
        for agent in agents {
            presence.registered(*agent);
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Acquire)
    }

    pub(crate) fn failures(&self, agent: AgentKey) -> Option<FailedCalls> {
        self.lock().failures(agent)
    }

    pub(crate) fn next_silence(&self) -> Option<Timestamp> {
        if self.is_watching { self.lock().next_silence() } else { None }
    }

    /// Returns the agents that are offline from now on, because their heartbeats are missing.
    pub(super) fn expire(&self, now: Timestamp) -> Vec<AgentKey> {
        if self.is_watching { self.lock().expire(now) } else { Vec::new() }
    }

    pub(super) fn news_since(&self, epoch: &mut u64) -> Vec<Input> {
        let presence = self.lock();
        let news = presence.news_since(*epoch);
        *epoch = presence.epoch();
        news
    }
}
