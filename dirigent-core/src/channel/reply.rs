//! A reply that the library delivers (rules 67 to 69)

use super::Channel;
use super::permit::{Permit, PermitRun};
use super::phase::{Phase, TurnRun};
use super::step::Step;
use crate::seen::RunFate;
use crate::steering::{Rested, Waiting};
use crate::{AgentKey, Cause, PendingReply, Refusal, RunId, SeatTurn};

impl Channel {
    /// Whether the agent that has the floor has made its reply, which waits to be delivered or is.
    pub(crate) fn has_replied(&self) -> bool {
        matches!(self.phase, Phase::Delivering { .. }) || self.rests_replied()
    }

    /// Whether the turn rests with a reply that is delivered when it goes on.
    pub(super) fn rests_replied(&self) -> bool {
        let rested = self.waiting().map(|waiting| waiting.rested);
        matches!(rested, Some(Rested::Running { replied: true, .. }))
    }

    /// The reply that the library holds, of the turn or of the permitted run.
    pub(crate) fn pending_reply(&self) -> Option<PendingReply> {
        if let Some(run) = self.turn_run().filter(|_| self.has_replied()) {
            let rests = !matches!(self.phase, Phase::Delivering { .. });
            let TurnRun { agent, id: run, .. } = run;
            return Some(PendingReply { agent, run, turn: Some(self.turn), rests });
        }
        let permit = self.permit.filter(Permit::is_delivering)?;
        Some(PendingReply { agent: permit.agent, run: permit.run_id(), turn: None, rests: false })
    }
}

impl Permit {
    /// Whether the library delivers the reply of the permitted run.
    pub(crate) const fn is_delivering(&self) -> bool {
        matches!(self.run, PermitRun::Running { replied: true, .. })
    }
}

impl Step<'_> {
    pub(super) fn on_replied(&mut self, agent: AgentKey, id: Option<RunId>) -> Result<(), Refusal> {
        self.require_turns()?;
        match self.channel.phase {
            Phase::Running { run, receipt, .. } if self.ends(&run, agent, id) => {
                self.forget_turn_limits();
                self.shift(Phase::Delivering { run, receipt }, Some(agent), Cause::Replied);
                Ok(())
            }
            Phase::Waiting(_) => self.keep_reply(agent, id),
            Phase::Dormant if self.permit_ends(agent, id) => self.deliver_permitted(agent),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. } => Err(Refusal::StaleRun),
        }
    }

    /// A reply has no time limit: neither its turn's end nor a slow run.
    fn forget_turn_limits(&mut self) {
        self.unwatch_run();
        if let Some(terms) = self.channel.terms_mut() {
            terms.until = None;
        }
    }

    /// The run of a turn that rests made its reply: it is delivered when the turn goes on.
    fn keep_reply(&mut self, agent: AgentKey, id: Option<RunId>) -> Result<(), Refusal> {
        let run = self.channel.turn_run().filter(|run| self.ends(run, agent, id));
        run.ok_or(Refusal::StaleRun)?;
        match &mut self.channel.steering_mut().waiting {
            Some(Waiting { end: None, rested: Rested::Running { replied, until, .. }, .. })
                if !*replied =>
            {
                *replied = true;
                *until = None;
            }
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.forget_turn_limits();
        self.tell(Some(agent), Cause::Replied);
        Ok(())
    }

    fn deliver_permitted(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        match &mut self.channel.permit {
            Some(Permit { run: PermitRun::Running { until, replied, .. }, .. }) if !*replied => {
                *replied = true;
                *until = None;
            }
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.tell(Some(agent), Cause::Replied);
        Ok(())
    }

    pub(super) fn on_undelivered(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        posted: bool,
    ) -> Result<(), Refusal> {
        self.require_turns()?;
        match self.channel.phase {
            Phase::Delivering { run, .. } if self.ends(&run, agent, id) => {
                self.remember_run(run.id.or(id), RunFate::Ended);
                let turn = if posted { SeatTurn::Spoke } else { SeatTurn::Skipped };
                self.complete(agent, turn, Cause::Undelivered);
                Ok(())
            }
            Phase::Dormant if self.permit_ends(agent, id) => {
                self.give_up_permitted(agent, id, posted)
            }
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => Err(Refusal::StaleRun),
        }
    }

    fn give_up_permitted(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        posted: bool,
    ) -> Result<(), Refusal> {
        match &mut self.channel.permit {
            Some(permit) if permit.is_delivering() => {
                if posted {
                    permit.mark_spoken();
                }
            }
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.remember_run(id, RunFate::Ended);
        self.tell(Some(agent), Cause::Undelivered);
        self.end_permit_run();
        Ok(())
    }
}
