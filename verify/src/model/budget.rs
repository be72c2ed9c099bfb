//! Budgets (rule 65).

use dirigent_core::view::Budget;
use dirigent_core::{Cause, Notice, Refusal};

use super::{Model, Phase};

impl Model {
    /// Whether the budget of turns or of cost is spent.
    pub(super) fn is_turn_budget_spent(&self) -> bool {
        let turns = self.config.budget.turns.is_some_and(|most| self.budget.turns >= most);
        let cost = self.config.budget.cost.is_some_and(|most| self.budget.cost >= most);
        turns || cost
    }

    /// Whether any budget is spent.
    pub(super) fn is_any_budget_spent(&self) -> bool {
        let cycles = self.config.budget.cycles.is_some_and(|most| self.budget.cycles >= most);
        cycles || self.is_turn_budget_spent()
    }

    /// Counts a turn, where turns are counted.
    pub(super) fn count_turn_of_budget(&mut self) {
        if self.config.budget.turns.is_some() {
            self.budget.turns = self.budget.turns.saturating_add(1);
        }
    }

    /// Counts a cycle, where cycles are counted.
    pub(super) fn count_cycle_of_budget(&mut self) {
        if self.config.budget.cycles.is_some() {
            self.budget.cycles = self.budget.cycles.saturating_add(1);
        }
    }

    /// Nothing is granted any more.
    pub(super) fn on_budget_spent(&mut self) {
        self.causes.push(Cause::BudgetSpent);
        self.enter_dormancy();
        if !self.budget.announced {
            self.budget.announced = true;
            self.emit_notice(Notice::Budget);
        }
    }

    /// The channel is dormant, and would go on if a budget were not spent: that is said once.
    pub(super) fn say_that_budget_is_spent(&mut self) {
        if !self.budget.announced {
            self.budget.announced = true;
            self.causes.push(Cause::BudgetSpent);
            self.emit_notice(Notice::Budget);
        }
    }

    /// `Spent`.
    pub(super) fn on_spent(&mut self, cost: u64) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        self.budget.cost = self.budget.cost.saturating_add(cost);
        if self.phase == Phase::Dormant && !self.is_stopped() && self.is_any_budget_spent() {
            self.say_that_budget_is_spent();
        }
        Ok(())
    }

    /// `ResetBudget`.
    pub(super) fn on_reset_budget(&mut self) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        self.budget = Budget::default();
        self.causes.push(Cause::BudgetReset);
        self.wake_if_kept_in_mind();
        Ok(())
    }
}
