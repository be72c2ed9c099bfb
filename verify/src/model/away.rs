//! Agents that crash, come back and are assigned (rule 56).

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Cause, Notice, Refusal};

use super::state::Away;
use super::{AGENTS_MAX, Model};

impl Model {
    /// `Offline`.
    pub(super) fn on_offline(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        match self.away.get(&agent) {
            Some(Away::Offline) => return Ok(()),
            None if self.away.len() >= AGENTS_MAX => return Err(Refusal::TooManyAgents),
            Some(Away::Unassigned) | None => {}
        }
        self.away.insert(agent, Away::Offline);
        let is_made = self.permit_delivers(); // rule 68
        if !is_made {
            self.lose_permit(agent);
        }
        let turn = self.phase.turn().filter(|turn| turn.agent == agent);
        let had_floor = turn.is_some_and(|turn| !turn.has_replied()); // rule 67
        if had_floor {
            self.leave_untaken(agent);
            self.cancel_turn_run();
            self.end_turn(SeatTurn::Skipped, Cause::AgentOffline);
        }
        let concerns = self.closing.is_none() && self.mode.keeps_turns() && self.is_present(agent);
        if self.config.announce_offline && concerns {
            self.emit_notice(Notice::Disconnected { agent });
        }
        if had_floor {
            self.advance();
        }
        Ok(())
    }

    /// `Online`.
    pub(super) fn on_online(&mut self, agent: AgentKey) {
        if self.away.get(&agent) != Some(&Away::Offline) {
            return;
        }
        if self.config.order.auto_requeue {
            self.assign(agent);
        } else {
            self.away.insert(agent, Away::Unassigned);
            self.causes.push(Cause::AgentOnline);
        }
    }

    /// `Assign`.
    pub(super) fn on_assign(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        match self.away.get(&agent) {
            Some(Away::Offline) => return Err(Refusal::AgentOffline),
            Some(Away::Unassigned) => self.assign(agent),
            None => {}
        }
        Ok(())
    }

    /// It has turns again, at the end of the list.
    fn assign(&mut self, agent: AgentKey) {
        self.away.remove(&agent);
        self.causes.push(Cause::AgentAssigned);
        let is_to_come = |turn| matches!(turn, SeatTurn::Ahead | SeatTurn::Skipped);
        let mut slots = self.list.iter();
        let has_floor = self.speaker() == Some(agent); // rule 67
        let at = slots.position(|slot| slot.agent == agent && is_to_come(slot.turn));
        if let Some(at) = at.filter(|_| !has_floor) {
            let mut slot = self.list.remove(at);
            slot.turn = SeatTurn::Ahead;
            self.list.push(slot);
        }
        self.agent_comes_back(agent);
    }
}
