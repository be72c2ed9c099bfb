//! The limits on what agents may say: ceilings that people lift, budgets that operators reset, and caps that end by
//! themselves.

use crate::state::budget::Budget;
use crate::state::ceiling_counts::CeilingCounts;
use crate::state::hourly::{Hourly, SpokenTurn};
use crate::state::rare::Rare;
use crate::{AgentKey, Config, Mode, Timestamp};

/// The counters of ceilings, budgets and caps.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Quota::default().limits.cycles, 0);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Quota {
    /// The counters of the ceilings.
    pub limits: CeilingCounts,
    /// The used part of the budgets.
    pub budget: Rare<Budget>,
    /// The recent turns with a reply, while agents are capped.
    pub hourly: Rare<Hourly>,
}

impl Quota {
    /// Returns true if no further turn is granted until a human speaks.
    pub(crate) fn turns_reached(&self, config: &Config, mode: Mode, now: Timestamp) -> bool {
        let time_up = || self.limits.time_up(config, mode).is_some_and(|at| at <= now);
        self.limits.turns_reached(config, mode) || time_up()
    }

    /// Returns true if no further turn or cycle is granted until a human speaks.
    pub(crate) fn ceiling_reached(&self, config: &Config, mode: Mode, now: Timestamp) -> bool {
        self.turns_reached(config, mode, now) || self.limits.cycles_reached(config, mode)
    }

    /// Returns true if there is no budget for another turn.
    pub(crate) fn turn_budget_spent(&self, config: &Config) -> bool {
        // Without a limit nothing is counted, so there is nothing to look up.
        let is_bounded = config.budget.turns.is_some() || config.budget.cost.is_some();
        is_bounded && self.budget.value().is_turn_spent(config)
    }

    /// Returns true if there is no budget for another cycle or turn.
    pub(crate) fn budget_spent(&self, config: &Config) -> bool {
        let is_bounded = config.budget.cycles.is_some()
            || config.budget.turns.is_some()
            || config.budget.cost.is_some();
        is_bounded && self.budget.value().is_spent(config)
    }

    pub(crate) fn count_turn(&mut self, config: &Config) {
        self.limits.count_turn();
        // Turns count only while they are bounded, so a new budget begins at zero.
        if config.budget.turns.is_some() {
            let turns = &mut self.budget.edit().turns;
            *turns = turns.saturating_add(1);
        }
    }

    /// Counts a cycle that begins. Turns that are an hour old by now cap no agent in it. Otherwise the end of such a
    /// cap would wake the channel anew after each cycle in which all agents fail.
    pub(crate) fn count_cycle(&mut self, config: &Config, now: Timestamp) {
        self.limits.count_cycle();
        if let Some(hourly) = self.hourly.existing() {
            hourly.forget(now);
        }
        if config.budget.cycles.is_some() {
            let cycles = &mut self.budget.edit().cycles;
            *cycles = cycles.saturating_add(1);
        }
    }

    pub(crate) fn cap_ends(&self, agent: AgentKey, config: &Config) -> Option<Timestamp> {
        self.hourly.get()?.cap_ends(agent, config.budget.agent_turns_per_hour?)
    }

    pub(crate) fn is_capped(&self, agent: AgentKey, config: &Config, now: Timestamp) -> bool {
        self.cap_ends(agent, config).is_some_and(|at| at > now)
    }

    pub(crate) fn count_spoken(&mut self, agent: AgentKey, config: &Config, now: Timestamp) {
        if let Some(most) = config.budget.agent_turns_per_hour {
            self.hourly.edit().add(SpokenTurn { agent, at: now }, most);
        }
    }

    /// Recounts after a change of the rules or of the list. Only turns of listed agents count.
    pub(crate) fn recount_spoken(&mut self, config: &Config, is_listed: impl Fn(AgentKey) -> bool) {
        if let Some(hourly) = self.hourly.existing() {
            hourly.keep(is_listed, config.budget.agent_turns_per_hour);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_limits_counting_takes_no_memory_and_nothing_is_ever_spent() {
        let (mut quota, mut config) = (Quota::default(), Config::default());
        (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (None, None);
        for _ in 0..1_000 {
            quota.count_turn(&config);
            quota.count_cycle(&config, Timestamp::default());
            quota.count_spoken(AgentKey::new(1), &config, Timestamp::default());
        }
        assert!(!quota.ceiling_reached(&config, Mode::Chat, Timestamp::default()));
        assert!(!quota.budget_spent(&config));
        assert_eq!((quota.budget, quota.hourly), (Rare::default(), Rare::default()));
    }

    #[test]
    fn a_ceiling_is_reached_by_turns_or_cycles_but_only_turns_end_a_cycle() {
        let (mut quota, mut config) = (Quota::default(), Config::default());
        (config.ceilings.chat.turns, config.ceilings.chat.cycles) = (Some(2), Some(1));
        let now = Timestamp::default();
        quota.count_cycle(&config, Timestamp::default());
        assert!(quota.ceiling_reached(&config, Mode::Chat, now));
        assert!(!quota.turns_reached(&config, Mode::Chat, now));
        assert!(!quota.ceiling_reached(&config, Mode::Discussion, now), "it has its own");
        quota.count_turn(&config);
        quota.count_turn(&config);
        assert!(quota.turns_reached(&config, Mode::Chat, now));
    }
}
