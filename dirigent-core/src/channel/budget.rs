//! Budgets that only an operator renews, and how often an agent speaks in an hour (rules 64 and 65)

use core::time::Duration;

use super::Channel;
use super::phase::Phase;
use super::step::Step;
use crate::steering::{Budget, SpokenTurn};
use crate::{AgentKey, Cause, Effect, Notice, Refusal, Timestamp};

/// What agents' turns are counted in.
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

impl Channel {
    /// What was used of the budgets.
    pub(crate) fn budget(&self) -> Budget {
        self.steering.as_ref().map_or_else(Budget::default, |steering| steering.budget)
    }

    /// Whether no further turn is paid for.
    pub(super) fn turn_budget_spent(&self) -> bool {
        let turns = self.config.budget_turns;
        let cost = self.config.budget_cost;
        (turns.is_some() || cost.is_some()) && {
            let used = self.budget();
            turns.is_some_and(|max| used.turns >= max) || cost.is_some_and(|max| used.cost >= max)
        }
    }

    /// Whether no further cycle is paid for, or no further turn.
    pub(crate) fn budget_spent(&self) -> bool {
        let cycles = self.config.budget_cycles;
        cycles.is_some_and(|max| self.budget().cycles >= max) || self.turn_budget_spent()
    }

    pub(super) fn count_budget_turn(&mut self) {
        if self.config.budget_turns.is_some() {
            let turns = &mut self.steering_mut().budget.turns;
            *turns = turns.saturating_add(1);
        }
    }

    pub(super) fn count_budget_cycle(&mut self) {
        if self.config.budget_cycles.is_some() {
            let cycles = &mut self.steering_mut().budget.cycles;
            *cycles = cycles.saturating_add(1);
        }
    }

    /// Whether the agent has had its turns for this hour.
    pub(crate) fn is_capped(&self, agent: AgentKey) -> bool {
        self.cap_ends(agent).is_some_and(|at| at > self.now)
    }

    /// When the oldest of the turns that fill an agent's hour is an hour old.
    fn cap_ends(&self, agent: AgentKey) -> Option<Timestamp> {
        let before = usize::from(self.config.agent_turns_per_hour?).checked_sub(1)?;
        let turns = &self.steering.as_ref()?.spoken;
        let newest = turns.iter().rev().filter(|turn| turn.agent == agent);
        newest.map(|turn| turn.at + HOUR).nth(before)
    }

    /// When an agent may speak again for whom a message is kept in mind.
    pub(super) fn cap_deadline(&self) -> Option<Timestamp> {
        let barred = self.ceiling_reached() || !self.wakes_for_missed();
        if self.config.agent_turns_per_hour.is_none() || barred {
            return None;
        }
        let agents = self.list.slots().iter().map(|slot| slot.agent);
        let free = agents.filter(|agent| self.is_available(*agent));
        free.filter_map(|agent| self.cap_ends(agent)).min()
    }

    /// Whether a message that is kept in mind may wake the channel.
    pub(super) fn wakes_for_missed(&self) -> bool {
        self.phase == Phase::Dormant
            && self.missed
            && !self.is_stopped()
            && !self.awaits_human()
            && !self.budget_spent()
            && !self.is_chat_away()
    }

    /// Whether only a human wakes the channel.
    pub(crate) fn awaits_human(&self) -> bool {
        self.steering.as_ref().is_some_and(|steering| steering.awaits_human)
    }

    pub(super) fn stop_awaiting(&mut self) {
        if let Some(steering) = &mut self.steering {
            steering.awaits_human = false;
        }
    }
}

impl Step<'_> {
    /// Something changed that may let an agent be granted: a message kept in mind wakes.
    pub(super) fn wake_for_missed(&mut self) {
        if self.channel.wakes_for_missed() {
            self.wake(super::Start::First, Cause::HumanMessage);
        }
    }

    /// No agent speaks until a person writes.
    pub(super) fn await_human(&mut self) {
        self.channel.steering_mut().awaits_human = true;
        self.become_dormant(Cause::AwaitingHuman);
    }

    /// No agent speaks until an operator renews the budgets.
    pub(super) fn stop_at_budget(&mut self) {
        self.become_dormant(Cause::BudgetSpent);
        let budget = &mut self.channel.steering_mut().budget;
        if !core::mem::replace(&mut budget.announced, true) {
            self.owe(|ticket| Effect::Notice { ticket, notice: Notice::Budget });
        }
    }

    /// An agent has spoken: those that passed may answer, and the turn counts for its hour.
    pub(super) fn note_spoken(&mut self, agent: AgentKey) {
        self.channel.list.forget_passed();
        let Some(most) = self.channel.config.agent_turns_per_hour else {
            return;
        };
        let turn = SpokenTurn { agent, at: self.channel.now };
        let spoken = &mut self.channel.steering_mut().spoken;
        spoken.push(turn);
        let mine = |turn: &SpokenTurn| turn.agent == agent;
        if spoken.iter().filter(|turn| mine(turn)).count() > usize::from(most) {
            if let Some(oldest) = spoken.iter().position(mine) {
                spoken.remove(oldest);
            }
        }
    }

    /// Follows a change of the rules, and of the list: counted are turns of those who are in it.
    pub(super) fn forget_spoken(&mut self) {
        let Channel { steering, list, config, .. } = &mut *self.channel;
        if let Some(steering) = steering {
            steering.spoken.retain(|turn| list.position(turn.agent).is_some());
            match config.agent_turns_per_hour {
                Some(most) => steering.keep_spoken(most),
                None => steering.spoken.clear(),
            }
        }
    }

    pub(super) fn on_spent(&mut self, cost: u64) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return Err(Refusal::Archived);
        }
        let budget = &mut self.channel.steering_mut().budget;
        let total = budget.cost.saturating_add(cost);
        if core::mem::replace(&mut budget.cost, total) != total {
            self.changed();
        }
        Ok(())
    }

    pub(super) fn on_reset_budget(&mut self) -> Result<(), Refusal> {
        if self.channel.archived.is_some() {
            return Err(Refusal::Archived);
        }
        if let Some(steering) = &mut self.channel.steering {
            steering.budget = Budget::default();
        }
        self.tell(None, Cause::BudgetReset);
        self.wake_for_missed();
        Ok(())
    }
}
