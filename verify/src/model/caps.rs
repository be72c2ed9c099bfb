//! How often an agent may speak in an hour (rule 64).

use std::time::Duration;

use dirigent_core::{AgentKey, Timestamp};

use super::Model;
use super::state::Slot;

/// How long a turn counts.
const HOUR: Duration = Duration::from_secs(3_600);

impl Model {
    /// A slot became Spoke.
    pub(super) fn remember_spoken_turn(&mut self, agent: AgentKey) {
        let now = self.now;
        if let Some(slot) = self.list.iter_mut().find(|slot| slot.agent == agent) {
            slot.spoke_at.push(now);
        }
        self.trim_spoken_turns();
    }

    /// Only as many as the cap are remembered, and none without the option.
    pub(super) fn trim_spoken_turns(&mut self) {
        let most = usize::from(self.config.budget.agent_turns_per_hour.unwrap_or(0));
        for slot in &mut self.list {
            let surplus = slot.spoke_at.len().saturating_sub(most);
            slot.spoke_at.drain(..surplus);
        }
    }

    /// When the agent may have another turn, if it ever had as many as the cap.
    fn capped_until(&self, slot: &Slot) -> Option<Timestamp> {
        let most = usize::from(self.config.budget.agent_turns_per_hour?);
        let last = slot.spoke_at.iter().rev().nth(most.checked_sub(1)?)?;
        Some(*last + HOUR)
    }

    /// Whether the slot's agent is capped.
    pub(super) fn is_slot_capped(&self, slot: &Slot) -> bool {
        self.capped_until(slot).is_some_and(|until| self.now < until)
    }

    /// Whether the agent is capped.
    pub(super) fn is_capped(&self, agent: AgentKey) -> bool {
        self.list.iter().any(|slot| slot.agent == agent && self.is_slot_capped(slot))
    }

    /// Rule 66: turns that are older than an hour when that is due are forgotten.
    pub(super) fn forget_old_turns(&mut self, due: Timestamp) {
        for slot in &mut self.list {
            slot.spoke_at.retain(|at| due < *at + HOUR);
        }
    }

    /// Deadline `Cap`: when a message in mind may be answered after all.
    pub(super) fn cap_moment(&self) -> Option<Timestamp> {
        if !self.may_wake_for_mind() || self.settling.is_some() {
            return None;
        }
        let able = self.list.iter();
        let able = able.filter(|slot| self.is_available(slot));
        able.filter_map(|slot| self.capped_until(slot)).min()
    }
}
