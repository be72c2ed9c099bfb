//! Replies that the library delivers (rules 67 to 69).

use dirigent_core::view::{PendingReply, SeatTurn};
use dirigent_core::{AgentKey, Cause, Refusal, RunId, TurnId};

use super::Model;
use super::run::Belongs;
use super::state::{Phase, TurnProgress};

impl Model {
    /// `Replied`.
    pub(super) fn on_replied(
        &mut self,
        agent: AgentKey,
        run: Option<RunId>,
        next: Option<AgentKey>,
    ) -> Result<(), Refusal> {
        self.check_runs_matter()?;
        let belongs = self.belongs(agent, run);
        self.check_end(run)?;
        match belongs {
            Belongs::RunningTurn => {
                self.start_delivering()?;
                self.handed_to = next.or(self.handed_to); // rule 78
                Ok(())
            }
            Belongs::PermitRun => {
                let running = self.permit.as_mut().and_then(|permit| permit.running.as_mut());
                let running = running.filter(|running| !running.replied);
                let running = running.ok_or(Refusal::StaleRun)?;
                running.replied = true;
                running.due = None;
                self.causes.push(Cause::Replied);
                Ok(())
            }
            Belongs::ConfirmingTurn | Belongs::Stale => Err(Refusal::StaleRun),
        }
    }

    /// Rules 67 and 68: at once, or when the rest is over.
    fn start_delivering(&mut self) -> Result<(), Refusal> {
        let turn = self.phase.turn_mut().filter(|turn| turn.is_running());
        let turn = turn.ok_or(Refusal::StaleRun)?;
        turn.end = None;
        turn.slow = None;
        if let TurnProgress::Waiting(waiting) = &mut turn.stage {
            waiting.replied = true;
            waiting.end_left = None;
            waiting.slow_left = None;
        } else {
            turn.stage = TurnProgress::Delivering;
        }
        self.causes.push(Cause::Replied);
        Ok(())
    }

    /// `Undelivered`.
    pub(super) fn on_undelivered(
        &mut self,
        agent: AgentKey,
        run: Option<RunId>,
        posted: bool,
    ) -> Result<(), Refusal> {
        self.check_runs_matter()?;
        let belongs = self.belongs(agent, run);
        self.check_end(run)?;
        let delivers = self.phase.turn().is_some_and(|turn| turn.stage == TurnProgress::Delivering);
        match belongs {
            Belongs::RunningTurn if delivers => {
                let known = self.phase.turn().and_then(|turn| turn.run);
                self.remember_ended(known.or(run));
                let how = if posted { SeatTurn::Spoke } else { SeatTurn::Skipped };
                self.end_turn(how, Cause::Undelivered);
                self.advance();
                Ok(())
            }
            Belongs::PermitRun if self.permit_delivers() => {
                self.causes.push(Cause::Undelivered);
                if posted {
                    self.mark_permit_spoken();
                }
                self.end_permit_run(run);
                Ok(())
            }
            Belongs::RunningTurn
            | Belongs::PermitRun
            | Belongs::ConfirmingTurn
            | Belongs::Stale => Err(Refusal::StaleRun),
        }
    }

    /// Rule 68: whether the permit's reply is delivered.
    pub(super) fn permit_delivers(&self) -> bool {
        let running = self.permit.as_ref().and_then(|permit| permit.running.as_ref());
        running.is_some_and(|running| running.replied)
    }

    /// The reply that waits or is delivered.
    pub(super) fn pending_reply(&self) -> Option<PendingReply> {
        if let Phase::Turn(turn) = &self.phase {
            let waits = turn.stage != TurnProgress::Delivering;
            let turn = Some(turn).filter(|turn| turn.has_replied())?;
            let number = Some(TurnId::new(self.turn));
            return Some(PendingReply { agent: turn.agent, run: turn.run, turn: number, waits });
        }
        let permit = self.permit.as_ref().filter(|_| self.permit_delivers())?;
        let run = permit.running.as_ref().and_then(|running| running.run);
        Some(PendingReply { agent: permit.agent, run, turn: None, waits: false })
    }
}
