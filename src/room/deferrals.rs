//! Runs that were put off until the turn of their agent comes.

use std::time::Duration;

use dirigent_core::config::AGENTS_MAX;
use dirigent_core::{AgentKey, Timestamp};

use crate::values::deferral_key::DeferralKey;

/// Who is to be called back: each agent at most once.
#[derive(Debug, Default)]
pub(crate) struct Deferrals {
    waiting: Vec<(AgentKey, DeferralKey)>,
    /// Until when they wait, if nothing happens.
    until: Option<Timestamp>,
}

impl Deferrals {
    /// The agent is to be called back under this key, or under the one that it has already. `None` where
    /// too many agents wait.
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
        if self.waiting.len() >= AGENTS_MAX {
            return None;
        }
        self.waiting.push((agent, key));
        Some(key)
    }

    /// The agent's turn has come.
    pub(crate) fn take(&mut self, agent: AgentKey) -> Option<DeferralKey> {
        let at = self.waiting.iter().position(|(known, _)| *known == agent)?;
        let (_, key) = self.waiting.swap_remove(at);
        if self.waiting.is_empty() {
            self.until = None;
        }
        Some(key)
    }

    /// Where nothing has happened for long, those who waited wait in vain.
    pub(crate) fn expire(
        &mut self,
        now: Timestamp,
        is_idle: bool,
        forget_after: Duration,
    ) -> Vec<DeferralKey> {
        if self.until.is_none_or(|until| now < until) {
            return Vec::new();
        }
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
