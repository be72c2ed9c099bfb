//! The effects of a member list, and of agents that come and go (rules 26, 28, 32, 37 and 72)

use crate::machine::rotation::EndedCycle;
use crate::machine::step::Step;
use crate::state::{Phase, Purpose, Start};
use crate::{AgentKey, Cause, Refusal, Ticket};

/// Follows the member list.
pub(crate) struct Listing<'s, 'o> {
    pub(crate) step: &'s mut Step<'o>,
}

impl Listing<'_, '_> {
    pub(crate) fn on_members(
        &mut self,
        ticket: Ticket,
        agents: &[AgentKey],
    ) -> Result<(), Refusal> {
        let step = &mut *self.step;
        step.members().check(ticket, agents)?;
        step.members().stop_reading();
        step.out.changed();
        // The list may bring an agent back although its return was never reported, and a word may wait for it.
        while let Some(agent) = step.state.roster.list.unmark(agents) {
            step.rotation().note_return(agent);
        }
        let ended = EndedCycle::of(step.state);
        let anybody_new = step.members().read(agents);
        // An agent that has left begins with a free hour when it comes back.
        let list = &step.state.roster.list;
        step.state.quota.recount_spoken(step.out.config, |agent| list.position(agent).is_some());
        self.go_on(ended, anybody_new);
        Ok(())
    }

    /// Goes on with the old list, because the new one will not come.
    pub(crate) fn go_on_without(&mut self, cause: Cause) {
        self.step.members().stop_reading();
        self.step.tell(None, cause);
        if self.step.state.roster.read_at.is_none() {
            return self.on_unknown();
        }
        let ended = EndedCycle::of(self.step.state);
        self.go_on(ended, false);
    }

    fn go_on(&mut self, ended: EndedCycle, anybody_new: bool) {
        let step = &mut *self.step;
        let agents = step.state.roster.list.len();
        let enough = step.state.standing.is_enough(agents, step.out.config);
        let phase = step.state.floor.phase;
        let is_unknown = matches!(phase, Phase::Unknown { .. });
        let is_idle = is_unknown || matches!(phase, Phase::Dormant | Phase::Refreshing(_));
        if enough && (is_unknown || phase == Phase::Disabled) {
            step.out.shift(&mut step.state.floor, Phase::Dormant, None, Cause::EnoughAgents);
            if step.state.words.wake_pending && !step.state.standing.is_stopped() {
                step.wake(Start::First, Cause::EnoughAgents);
            }
        } else if !enough && is_idle {
            // A turn under way ends first, and the boundary after it counts again.
            self.leave_turns(Phase::Disabled, Cause::TooFewAgents);
        } else if phase == Phase::Refreshing(Purpose::Boundary) {
            step.rotation().end_boundary(ended, anybody_new);
        } else if let Phase::Refreshing(Purpose::Wake(start)) = phase {
            step.rotation().begin_cycle(start, Cause::NextInList);
        }
    }

    /// Makes the members unknown, because the first list could not be read. An unread list looked like a channel
    /// without agents once: all of them were allowed at once, and a person's word went to none.
    fn on_unknown(&mut self) {
        if self.step.state.standing.is_stopped() {
            return;
        }
        let phase = self.step.members().unknown();
        if matches!(self.step.state.floor.phase, Phase::Unknown { .. }) {
            // The kind of phase does not change, so there is no transition to report.
            self.step.state.floor.phase = phase;
        } else {
            self.leave_turns(phase, Cause::MembersUnknown);
        }
    }

    /// Stops keeping turns for now. Of the cycle only people's words remain.
    pub(crate) fn leave_turns(&mut self, phase: Phase, cause: Cause) {
        let step = &mut *self.step;
        step.permits().withdraw();
        let state = &mut *step.state;
        state.reminders.cancel();
        state.cycle.forget(&mut state.roster.list, &mut state.words);
        state.cycle.forget_plans();
        state.words.awaits_human = false;
        state.words.keep_unserved();
        state.cycle.forget_answered(&state.words);
        step.out.shift(&mut state.floor, phase, None, cause);
    }

    pub(crate) fn on_joined(&mut self, agent: AgentKey) {
        if self.step.state.standing.keeps_turns() && self.step.members().on_joined(agent) {
            self.step.comes_back(agent);
        }
    }

    pub(crate) fn on_left(&mut self, agent: AgentKey) {
        let step = &mut *self.step;
        if !step.state.standing.keeps_turns() {
            return;
        }
        step.members().on_left(agent);
        step.take_permit_from(agent);
        if step.state.floor.speaker() == Some(agent) {
            step.take_floor(agent, Cause::AgentLeft);
        }
    }
}
