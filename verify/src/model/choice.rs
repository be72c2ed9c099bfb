//! Whom an operator chose (rule 61).

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Refusal};

use super::Model;
use super::state::{First, Phase, Purpose};

impl Model {
    /// `SpeakNext`.
    pub(super) fn on_speak_next(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        self.check_choice(agent)?;
        self.on_human_word();
        match &mut self.phase {
            Phase::Dormant => {
                self.untaken = true;
                self.be_news(None);
                self.wake(First::Chosen(agent));
            }
            Phase::Refreshing(Purpose::Waking { first }) => {
                *first = First::Chosen(agent);
                self.untaken = true;
                self.be_news(None);
            }
            Phase::Refreshing(Purpose::Boundary) => {
                self.untaken = true;
                self.veto();
                self.choice = Some(agent);
            }
            Phase::Turn(_) => self.choice = Some(agent),
            Phase::Disabled | Phase::Dead | Phase::Archived | Phase::Unknown { .. } => {}
        }
        Ok(())
    }

    /// What hinders a choice.
    fn check_choice(&self, agent: AgentKey) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        self.check_not_stopped()?;
        if !self.mode.keeps_turns() || self.phase == Phase::Disabled {
            return Err(Refusal::NotManaged);
        }
        if !self.is_present(agent) {
            return Err(Refusal::NotListed);
        }
        if self.muted.contains(&agent) {
            return Err(Refusal::Muted);
        }
        if self.may_not_write.contains_key(&agent) {
            return Err(Refusal::MayNotWrite);
        }
        if self.away.contains_key(&agent) {
            return Err(Refusal::AgentOffline);
        }
        if self.speaker() == Some(agent) {
            return Err(Refusal::HasTheFloor);
        }
        if self.is_any_budget_spent() {
            return Err(Refusal::BudgetSpent);
        }
        if self.sleeps_without_chat() {
            return Err(Refusal::ChatAway); // rule 70
        }
        Ok(())
    }

    /// At an advance: moves the chosen slot behind the one whose turn ended; where it is then. A
    /// choice that is not available waits for the boundary, or is forgotten by another grant.
    pub(super) fn move_choice_behind(&mut self, ended: Option<usize>) -> Option<usize> {
        let chosen = self.choice?;
        let ended = self.list.get(ended?).map(|slot| slot.agent)?;
        let from = self.list.iter().position(|slot| slot.agent == chosen)?;
        if !self.is_place_available(from) || chosen == ended {
            return None;
        }
        let mut slot = self.list.remove(from);
        let spoke = slot.turn == SeatTurn::Spoke;
        slot.turn = SeatTurn::Ahead;
        let to = self.list.iter().position(|slot| slot.agent == ended)? + 1;
        self.list.insert(to, slot);
        if spoke {
            self.veto();
        }
        if self.cycle.last_completer == Some(chosen) {
            self.cycle.last_completer = None;
        }
        Some(to)
    }

    /// At a boundary: moves the chosen slot to the front.
    pub(super) fn move_to_front(&mut self, choice: Option<AgentKey>) {
        let at = self.list.iter().position(|slot| Some(slot.agent) == choice);
        if let Some(at) = at {
            let slot = self.list.remove(at);
            self.list.insert(0, slot);
        }
    }
}
