//! Agents whose messages the chat refuses (rule 81).

use dirigent_core::{AgentKey, Cause, Refusal, Timestamp};

use super::{AGENTS_MAX, Model};

impl Model {
    /// `MayNotWrite`.
    pub(super) fn on_may_not_write(
        &mut self,
        agent: AgentKey,
        until: Option<Timestamp>,
    ) -> Result<(), Refusal> {
        if until.is_some_and(|until| until <= self.now) {
            self.on_may_write(agent);
            return Ok(());
        }
        if let Some(known) = self.may_not_write.get_mut(&agent) {
            *known = until;
            return Ok(());
        }
        if self.may_not_write.len() >= AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.may_not_write.insert(agent, until);
        self.leave_untaken(agent);
        self.lose(agent, Cause::AgentMayNotWrite);
        Ok(())
    }

    /// `MayWrite`.
    pub(super) fn on_may_write(&mut self, agent: AgentKey) {
        if self.may_not_write.remove(&agent).is_some() {
            self.agent_comes_back(agent);
        }
    }

    /// The next end of a time-out.
    pub(super) fn may_write_moment(&self) -> Option<Timestamp> {
        let ends = self.may_not_write.values().flatten().min().copied();
        ends.filter(|_| self.closing.is_none())
    }

    /// Time-outs are over.
    pub(super) fn on_may_write_due(&mut self) {
        let now = self.now;
        let is_over = |until: &Option<Timestamp>| until.is_some_and(|until| until <= now);
        let over = self.may_not_write.iter().filter(|(_, until)| is_over(until));
        let over: Vec<_> = over.map(|(agent, _)| *agent).collect();
        for agent in over {
            self.on_may_write(agent);
        }
    }
}
