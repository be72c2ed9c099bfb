//! Agents that may not write in the channel, as the chat reports it (rule 81)

use crate::machine::step::Step;
use crate::state::roster::Forbidden;
use crate::{AgentKey, Cause, Refusal, Timestamp};

/// Follows which agents may write. An agent in a time-out, or without the permission to send, was once called and paid
/// for again and again, and each reply was lost.
pub(crate) struct Writing<'s, 'o> {
    pub(crate) step: &'s mut Step<'o>,
}

impl Writing<'_, '_> {
    pub(crate) fn on_refused(
        &mut self,
        agent: AgentKey,
        until: Option<Timestamp>,
    ) -> Result<(), Refusal> {
        if until.is_some_and(|until| until <= self.step.out.now) {
            // The time-out that the chat reported is over already.
            self.on_allowed(agent);
            return Ok(());
        }
        let step = &mut *self.step;
        let was = step.state.roster.forbid(agent, until).ok_or(Refusal::TooManyAgents)?;
        if !matches!(was, Forbidden::New) {
            step.out.changed_if(matches!(was, Forbidden::Moved));
            return Ok(());
        }
        if step.state.floor.speaker() == Some(agent) {
            step.take_floor(agent, Cause::AgentMayNotWrite);
        } else {
            step.tell(Some(agent), Cause::AgentMayNotWrite);
        }
        step.take_permit_from(agent);
        Ok(())
    }

    pub(crate) fn on_allowed(&mut self, agent: AgentKey) {
        if self.step.state.roster.allow(agent) {
            self.step.tell(Some(agent), Cause::AgentMayWrite);
            self.step.comes_back(agent);
        }
    }

    /// Ends the time-outs that are over.
    pub(crate) fn on_due(&mut self) {
        let now = self.step.out.now;
        while let Some(agent) = self.step.state.roster.allowed_by(now) {
            self.on_allowed(agent);
        }
    }
}
