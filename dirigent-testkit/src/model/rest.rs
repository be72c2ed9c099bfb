//! Stop, hold and resume (rule 37).

use dirigent_core::{Cause, Mode, Refusal, Rest};

use super::Model;
use super::state::{Phase, Stage};

impl Model {
    /// Whether everybody is denied.
    pub(super) fn is_stopped(&self) -> bool {
        self.rest == Some(Rest::Stopped)
    }

    /// Whether the channel pauses.
    pub(super) fn is_held(&self) -> bool {
        self.rest == Some(Rest::Held)
    }

    /// Where a stop or a hold means something.
    fn check_may_rest(&self) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        if !self.mode.keeps_turns() && self.mode != Mode::Report {
            return Err(Refusal::NotManaged);
        }
        Ok(())
    }

    /// Rule 37: `Stop`, or a human's stop word (rule 24).
    pub(super) fn on_stop(&mut self) -> Result<(), Refusal> {
        self.check_may_rest()?;
        if self.is_stopped() {
            return Ok(());
        }
        self.causes.push(Cause::Stopped);
        self.rest = Some(Rest::Stopped);
        self.cancel_floor();
        self.withdraw_permit();
        self.reminder_due = None;
        self.forget_refresh();
        self.empty_cycle();
        match self.phase {
            Phase::Disabled => self.enter(Phase::Disabled), // rule 41: counts as becoming
            Phase::Dead => self.enter(Phase::Dead),
            Phase::Dormant | Phase::Archived | Phase::Refreshing(_) | Phase::Turn(_) => {
                self.enter(Phase::Dormant);
            }
        }
        Ok(())
    }

    /// Rule 37: `Hold`.
    pub(super) fn on_hold(&mut self) -> Result<(), Refusal> {
        self.check_may_rest()?;
        if self.is_stopped() {
            return Err(Refusal::Stopped);
        }
        if !self.is_held() {
            self.causes.push(Cause::Held);
        }
        self.rest = Some(Rest::Held);
        if let Phase::Turn(turn) = &mut self.phase {
            if let Stage::Granted { due, .. } = &mut turn.stage {
                *due = None;
            }
        }
        Ok(())
    }

    /// Rule 37: `Resume`, or a human's resume word (rule 24).
    pub(super) fn on_resume(&mut self) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        match self.rest.take() {
            None => return Err(Refusal::NotResting),
            Some(Rest::Stopped) => self.end_stop(),
            Some(_) => self.end_hold(),
        }
        Ok(())
    }

    /// After a stop: dormant, unless somebody wrote.
    fn end_stop(&mut self) {
        if self.phase == Phase::Dormant && std::mem::take(&mut self.kept_in_mind) {
            self.wake(None);
        }
    }

    /// After a hold: a granted agent is woken anew.
    fn end_hold(&mut self) {
        let fresh = self.config.start_deadline.map(|time| self.now + time);
        if let Phase::Turn(turn) = &mut self.phase {
            if let Stage::Granted { due, attempt } = &mut turn.stage {
                *due = fresh;
                let (agent, attempt) = (turn.agent, *attempt);
                self.emit_trigger(agent, attempt);
            }
        }
    }
}
