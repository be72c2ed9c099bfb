//! The use of a channel's budgets, until an operator resets them (rule 65).

use crate::Config;

/// The used part of a channel's budgets, since the channel was made or they were reset.
///
/// ```
/// assert_eq!(dirigent_core::view::Budget::default().cost, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Budget {
    /// Turns that were granted while their number was bounded.
    pub turns: u32,
    /// Cycles that began while their number was bounded.
    pub cycles: u32,
    /// Cost that the host reported, in its own unit.
    pub cost: u64,
    /// True if the notice that a budget is spent was given.
    pub announced: bool,
}

impl Budget {
    /// Returns true if there is no budget for another turn.
    pub(crate) fn is_turn_spent(&self, config: &Config) -> bool {
        config.budget.turns.is_some_and(|max| self.turns >= max)
            || config.budget.cost.is_some_and(|max| self.cost >= max)
    }

    /// Returns true if there is no budget for another cycle or turn.
    pub(crate) fn is_spent(&self, config: &Config) -> bool {
        config.budget.cycles.is_some_and(|max| self.cycles >= max) || self.is_turn_spent(config)
    }

    /// Adds the cost that the host reported. Returns true if the total changed.
    pub(crate) fn add_cost(&mut self, cost: u64) -> bool {
        // The channel's revision rises only with a change, and each revision is a commit.
        let total = self.cost.saturating_add(cost);
        core::mem::replace(&mut self.cost, total) != total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_budget_is_spent_by_itself_and_none_without_a_limit() {
        let used = Budget { turns: 3, cycles: 2, cost: 50, announced: false };
        assert!(!used.is_spent(&Config::default()));
        let spent = |turns, cycles, cost| {
            let mut config = Config::default();
            (config.budget.turns, config.budget.cycles, config.budget.cost) = (turns, cycles, cost);
            (used.is_turn_spent(&config), used.is_spent(&config))
        };
        assert_eq!(spent(Some(3), None, None), (true, true));
        assert_eq!(spent(None, Some(2), None), (false, true), "a cycle ends with its turns");
        assert_eq!(spent(None, None, Some(50)), (true, true));
        assert_eq!(spent(Some(4), Some(3), Some(51)), (false, false));
    }

    #[test]
    fn cost_saturates_and_tells_whether_it_rose() {
        let mut budget = Budget::default();
        assert!(budget.add_cost(u64::MAX) && !budget.add_cost(5) && !budget.add_cost(0));
    }
}
