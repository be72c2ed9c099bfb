//! Agents that crash or disconnect, and come back (rule 56)

use crate::machine::ending::TurnEnd;
use crate::machine::step::Step;
use crate::state::speaker_list::SeatTurn;
use crate::{AgentKey, Cause, Effect, Notice, Refusal};

/// Follows which agents are online.
pub(crate) struct Attending<'s, 'o> {
    pub(crate) step: &'s mut Step<'o>,
}

impl Attending<'_, '_> {
    pub(crate) fn on_offline(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        let step = &mut *self.step;
        if step.state.roster.away(agent) == Some(true) {
            return Ok(());
        }
        self.mark(agent, true)?;
        let step = &mut *self.step;
        let permit = step.state.reminders.permit();
        // A reply that was made still goes out, by a permit or in a turn, because a crash afterwards does not unsay it.
        if permit.is_some_and(|permit| !permit.is_delivering()) {
            step.take_permit_from(agent);
        }
        let floor = &step.state.floor;
        let speaks = floor.speaker() == Some(agent) && !floor.has_replied();
        // A crashed speaker would otherwise keep the floor until a deadline ends its turn.
        if speaks {
            step.runs().cancel();
            step.ending().record(TurnEnd::skipped(agent, Cause::AgentOffline));
        } else {
            step.tell(Some(agent), Cause::AgentOffline);
        }
        if self.is_announced(agent) {
            let notice = Notice::Disconnected { agent };
            self.step.out.request(|ticket| Effect::Notice { ticket, notice });
        }
        if speaks {
            self.step.rotation().advance_after(agent);
        }
        Ok(())
    }

    fn mark(&mut self, agent: AgentKey, offline: bool) -> Result<(), Refusal> {
        let is_marked = self.step.state.roster.attendance.edit().mark(agent, offline);
        if is_marked { Ok(()) } else { Err(Refusal::TooManyAgents) }
    }

    fn is_announced(&self, agent: AgentKey) -> bool {
        self.step.out.config.announce_offline
            && self.step.state.standing.keeps_turns()
            && self.step.state.roster.is_present(agent)
    }

    pub(crate) fn on_online(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        if self.step.state.roster.away(agent) != Some(true) {
            return Ok(());
        }
        if self.step.out.config.order.auto_requeue {
            self.assign(agent);
            return Ok(());
        }
        self.mark(agent, false)?;
        self.step.tell(Some(agent), Cause::AgentOnline);
        Ok(())
    }

    pub(crate) fn on_assign(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        match self.step.state.roster.away(agent) {
            Some(true) => return Err(Refusal::AgentOffline),
            Some(false) => self.assign(agent),
            None => {}
        }
        Ok(())
    }

    /// Gives the agent its turns back. If it has not had one in this cycle, its place is behind all others.
    fn assign(&mut self, agent: AgentKey) {
        let state = &mut *self.step.state;
        state.roster.attendance.edit().readmit(agent);
        let turn = state.roster.list.slot(agent).map(|slot| slot.turn);
        let has_floor = state.floor.speaker() == Some(agent);
        if !has_floor && matches!(turn, Some(SeatTurn::Ahead | SeatTurn::Skipped)) {
            state.roster.list.move_to(agent, usize::MAX);
        }
        self.step.tell(Some(agent), Cause::AgentAssigned);
        self.step.comes_back(agent);
    }
}
