//! Reading the list: refreshes, recounts, rebuilding, coming and going (rules 26, 28, 37).

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Cause, Mode, Refusal, Ticket};

use super::state::{First, Phase, Purpose, Refresh, Slot};
use super::{AGENTS_MAX, Model};

impl Model {
    /// Asks for the members; nothing may be outstanding.
    pub(super) fn ask_refresh(&mut self) {
        let ticket = self.emit_fetch();
        self.refresh =
            Some(Refresh { ticket, due: self.now + self.config.members.refresh_deadline });
        self.refresh_asked = Some(self.now);
    }

    /// Rule 26: a recount, at most every `recount_interval`.
    pub(super) fn ask_recount(&mut self) {
        let asked = self.refresh_asked;
        let early = asked.is_some_and(|at| self.now < at + self.config.members.recount_interval);
        if self.refresh.is_none() && !early {
            self.ask_refresh();
        }
    }

    /// Rule 28: a forgotten refresh is no longer pending.
    pub(super) fn forget_refresh(&mut self) {
        if let Some(refresh) = self.refresh.take() {
            self.forget_pending(refresh.ticket);
        }
    }

    /// Rule 27: whether the list may be used without reading it again.
    pub(super) fn is_list_fresh(&self) -> bool {
        let fresh = self.config.members.list_fresh;
        let age = self.list_read.map(|read| self.now.since(read));
        age.is_some_and(|age| age <= fresh)
    }

    /// Rule 28: the answer to a refresh.
    pub(super) fn on_members(
        &mut self,
        ticket: Ticket,
        agents: &[AgentKey],
    ) -> Result<(), Refusal> {
        let outstanding = self.refresh.is_some_and(|refresh| refresh.ticket == ticket);
        if !outstanding || self.pending(ticket).is_none() {
            return Err(Refusal::UnknownTicket);
        }
        if agents.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        let present = without_duplicates(agents);
        self.forget_refresh();
        for agent in &present {
            let left = self.list.iter_mut().find(|slot| slot.agent == *agent && slot.left);
            if let Some(slot) = left {
                slot.left = false;
                self.note_return(*agent); // rule 54
            }
        }
        let had_list = self.list_read.is_some();
        let before = self.cycle_so_far();
        let is_anybody_new = self.rebuild(&present);
        self.list_read = Some(self.now);
        if !had_list && self.config.order.shuffle_first && self.list.len() >= 3 {
            self.adopt_order(None, None); // rule 28
        }
        self.go_on(is_anybody_new, &before);
        Ok(())
    }

    /// Rule 28: there is no answer; the old list is used and no agent is new.
    pub(super) fn on_no_answer(&mut self, why: Cause) {
        self.causes.push(why);
        self.forget_refresh();
        if self.list_read.is_none() {
            self.on_members_unknown(); // rule 72
            return;
        }
        let before = self.cycle_so_far();
        self.go_on(false, &before);
    }

    /// What the list was read for.
    fn go_on(&mut self, is_anybody_new: bool, before: &CycleSoFar) {
        match self.phase {
            Phase::Refreshing(Purpose::Boundary) => self.after_boundary(is_anybody_new, before),
            Phase::Refreshing(Purpose::Waking { first }) => {
                if !self.has_enough_agents() {
                    self.disable();
                    return;
                }
                self.start_cycle(first);
            }
            Phase::Disabled | Phase::Unknown { .. } if self.has_enough_agents() => {
                self.end_disabled();
            }
            Phase::Dormant | Phase::Unknown { .. } if !self.has_enough_agents() => self.disable(),
            Phase::Disabled
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Dead
            | Phase::Archived
            | Phase::Turn(_) => {}
        }
    }

    /// Rules 26 and 82: whether turns are kept with the agents of the list.
    pub(super) fn has_enough_agents(&self) -> bool {
        let fewest = if self.may_be_alone() { 1 } else { 2 };
        self.list.len() >= fewest
    }

    /// Rule 82: whether one agent is enough here.
    fn may_be_alone(&self) -> bool {
        self.mode == Mode::Chat && self.config.order.single_agent
    }

    /// Rule 82: whether the agent is the only one that has turns.
    pub(super) fn is_alone(&self, agent: AgentKey) -> bool {
        let listed: Vec<AgentKey> = self.list.iter().map(|slot| slot.agent).collect();
        self.may_be_alone() && listed == [agent]
    }

    /// Rule 26: enough agents now.
    fn end_disabled(&mut self) {
        self.causes.push(Cause::EnoughAgents);
        self.enter(Phase::Dormant); // no reminder, as on creation
        if !self.is_stopped() && self.kept_in_mind {
            self.wake(First::Front); // when stopped, what is kept in mind waits for the resume
        }
    }

    /// Rule 28: those who stay, in order; then the newcomers. Whether there are any.
    fn rebuild(&mut self, present: &[AgentKey]) -> bool {
        self.list.retain(|slot| present.contains(&slot.agent));
        self.last_word = self.last_word.filter(|agent| present.contains(agent)); // rule 76
        let stayed = self.list.len();
        for agent in present {
            if !self.list.iter().any(|slot| slot.agent == *agent) {
                self.list.push(Slot::new(*agent));
            }
        }
        self.list.len() > stayed
    }

    /// What the boundary must know of the list before it is rebuilt.
    pub(super) fn cycle_so_far(&self) -> CycleSoFar {
        let spoke = self.list.iter().filter(|slot| slot.turn == SeatTurn::Spoke);
        CycleSoFar {
            spoke: spoke.map(|slot| slot.agent).collect(),
            passed: self.list.iter().any(|slot| slot.turn == SeatTurn::Passed),
            agents: self.list.len(),
        }
    }

    /// Rule 37: whether the agent is listed and has not left.
    pub(super) fn is_present(&self, agent: AgentKey) -> bool {
        self.list.iter().any(|slot| slot.agent == agent && !slot.left)
    }

    /// Rule 11: a channel that keeps turns but has too few agents.
    pub(super) fn is_disabled_by_count(&self) -> bool {
        self.mode.keeps_turns() && self.phase == Phase::Disabled
    }

    /// Rule 37.
    pub(super) fn on_joined(&mut self, agent: AgentKey) {
        if self.closing.is_some() || !self.mode.keeps_turns() {
            return;
        }
        let slot = self.list.iter_mut().find(|slot| slot.agent == agent && slot.left);
        if let Some(slot) = slot {
            slot.left = false;
            self.agent_comes_back(agent); // rule 54
        }
        if self.is_disabled_by_count() && self.refresh.is_none() {
            self.ask_refresh(); // rule 26: regardless of the interval
        }
        if self.refresh.is_none() {
            self.ask_again(); // rule 72
        }
    }
}

/// The cycle as it was before the list was rebuilt (rule 32).
#[derive(Clone, Debug)]
pub(super) struct CycleSoFar {
    /// Who Spoke in it, even if it has left since.
    pub(super) spoke: Vec<AgentKey>,
    /// Whether a slot of it was Passed.
    pub(super) passed: bool,
    /// How many were listed.
    pub(super) agents: usize,
}

/// Each agent once, in the order of first mention.
pub(super) fn without_duplicates(agents: &[AgentKey]) -> Vec<AgentKey> {
    let mut once: Vec<AgentKey> = Vec::new();
    for agent in agents {
        if !once.contains(agent) {
            once.push(*agent);
        }
    }
    once
}
