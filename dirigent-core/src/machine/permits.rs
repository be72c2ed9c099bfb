//! The initiator's one run after a reminder (rules 36 and 48)

use crate::machine::out::Out;
use crate::state::{Floor, InitiatorPermit, PermitRun, Rare, Reminders, RunFate, Seen};
use crate::{AgentKey, Cause, Effect, Refusal, RunId};

/// Follows the permitted run.
pub(crate) struct Permits<'a, 'o> {
    pub(crate) floor: &'a mut Floor,
    pub(crate) reminders: &'a mut Rare<Reminders>,
    pub(crate) seen: &'a mut Seen,
    pub(crate) out: &'a mut Out<'o>,
}

impl Permits<'_, '_> {
    /// Starts the initiator's one run, or replaces it with a newer one.
    pub(crate) fn start(&mut self, id: Option<RunId>) {
        let until = self.out.config.deadlines.run.map(|limit| self.out.now + limit);
        let Some(permit) = self.reminders.permit_mut() else {
            return;
        };
        let agent = permit.agent;
        match &mut permit.run {
            PermitRun::Offered => {
                permit.run = PermitRun::Running { id, until, spoke: false, replied: false };
                self.reminders.cancel();
                self.out.tell(self.floor, Some(agent), Cause::RunStarted);
            }
            PermitRun::Running { id: known, .. } if id.is_some() && *known != id => {
                let replaced = core::mem::replace(known, id);
                self.remember(replaced);
                self.out.tell(self.floor, Some(agent), Cause::RunReplaced);
            }
            // The same run asks again, so its permission stands.
            PermitRun::Running { .. } => {}
        }
    }

    /// Returns true if this ends the permitted run.
    pub(crate) fn ends(&self, agent: AgentKey, id: Option<RunId>) -> bool {
        self.reminders.permit().is_some_and(|permit| permit.is_ended_by(agent, id, self.seen))
    }

    /// Notes that the library has the reply of the permitted run, and delivers it.
    pub(crate) fn reply(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        let is_first = self.reminders.permit_mut().is_some_and(InitiatorPermit::mark_replied);
        if !is_first {
            return Err(Refusal::StaleRun);
        }
        self.out.tell(self.floor, Some(agent), Cause::Replied);
        Ok(())
    }

    /// Notes that the delivery of the permitted run's reply was given up.
    pub(crate) fn give_up(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        posted: bool,
    ) -> Result<(), Refusal> {
        match self.reminders.permit_mut() {
            Some(permit) if permit.is_delivering() => {
                if posted {
                    permit.mark_spoken();
                }
            }
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.remember(id);
        self.out.tell(self.floor, Some(agent), Cause::Undelivered);
        Ok(())
    }

    /// Ends the permitted run, and returns its permit.
    pub(crate) fn use_up(&mut self) -> Option<InitiatorPermit> {
        let permit = self.reminders.existing()?.permit.take()?;
        self.remember(permit.run_id());
        self.out.tell(self.floor, Some(permit.agent), Cause::PermitUsed);
        Some(permit)
    }

    /// Withdraws the permit, and cancels its run if there is one.
    pub(crate) fn withdraw(&mut self) {
        let permit = self.reminders.existing().and_then(|reminders| reminders.permit.take());
        if let Some(permit) = permit.filter(InitiatorPermit::is_running) {
            let (agent, run) = (permit.agent, permit.run_id());
            self.remember(run);
            self.out.emit(Effect::CancelRun { agent, run, turn: None });
        }
    }

    /// Ends a permitted run that took too long, and returns its permit.
    pub(crate) fn expire(&mut self) -> Option<InitiatorPermit> {
        let permit = self.reminders.permit()?;
        self.withdraw();
        self.out.tell(self.floor, Some(permit.agent), Cause::RunTimedOut);
        Some(permit)
    }

    /// Forgets a permitted run that is gone with its process. Its agent may run again.
    pub(crate) fn lose(&mut self, permit: &InitiatorPermit) {
        if let Some(reminders) = self.reminders.existing() {
            reminders.permit = None;
        }
        self.remember(permit.run_id());
        self.out.tell(self.floor, Some(permit.agent), Cause::RunLost);
    }

    /// Remembers that the run can no longer speak.
    pub(crate) fn remember(&mut self, run: Option<RunId>) {
        if self.seen.remember_run(run, RunFate::Ended) {
            self.floor.last_activity_at = self.out.now;
        }
    }
}
