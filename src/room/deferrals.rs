//! Runs that are deferred until the turn of their agent comes.

use std::time::Duration;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::{AgentKey, Timestamp};

use crate::values::deferral_key::DeferralKey;

/// The agents to call back, each at most once.
#[derive(Debug, Default)]
pub(crate) struct Deferrals {
    waiting: Vec<(AgentKey, DeferralKey)>,
    /// The time until which they wait, unless something happens.
    until: Option<Timestamp>,
}

impl Deferrals {
    /// Adds the agent under this key, and returns the key, or the one that the agent already has. `None` if too many
    /// agents wait.
    pub(crate) fn defer(
        &mut self,
        agent: AgentKey,
        key: DeferralKey,
        until: Timestamp,
    ) -> Option<DeferralKey> {
        self.until = Some(until);
        if let Some((_, known)) = self.waiting.iter().find(|(known, _)| *known == agent) {
            return Some(*known);
        }
        // The number of agents in a channel is limited, and so is this list.
        if self.waiting.len() >= AGENTS_MAX {
            return None;
        }
        self.waiting.push((agent, key));
        Some(key)
    }

    pub(crate) fn take(&mut self, agent: AgentKey) -> Option<DeferralKey> {
        let at = self.waiting.iter().position(|(known, _)| *known == agent)?;
        let (_, key) = self.waiting.swap_remove(at);
        if self.waiting.is_empty() {
            self.until = None;
        }
        Some(key)
    }

    /// Drops the deferrals after a long time without activity, so their waiters get `None`.
    pub(crate) fn expire(
        &mut self,
        now: Timestamp,
        is_idle: bool,
        forget_after: Duration,
    ) -> Vec<DeferralKey> {
        if self.until.is_none_or(|until| now < until) {
            return Vec::new();
        }
        // A channel with a speaker may still give the turn, so the callers go on waiting.
        if is_idle {
            self.until = None;
            return self.waiting.drain(..).map(|(_, key)| key).collect();
        }
        self.until = Some(now + forget_after);
        Vec::new()
    }

    pub(crate) const fn next_at(&self) -> Option<Timestamp> {
        self.until
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.until = self.until.map(|until| until.saturating_sub(by));
    }
}
