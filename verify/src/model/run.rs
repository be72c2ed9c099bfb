//! The end of a run (rules 12 to 15).

use std::collections::BTreeMap;

use dirigent_core::view::SeatTurn;
use dirigent_core::{AgentKey, Cause, MessageId, Outcome, Refusal, RunId, Tail};

use super::Model;
use super::permit::REMINDERS_MAX;
use super::state::{Confirming, Permit, Phase, Poll, Turn, TurnProgress};

/// What a run's end or a receipt may belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Belongs {
    /// A turn in Running.
    RunningTurn,
    /// A turn in Confirming.
    ConfirmingTurn,
    /// A permit's run.
    PermitRun,
    /// Nothing.
    Stale,
}

impl Model {
    /// Rules 12, 14 and 15.
    pub(super) fn on_run_ended(
        &mut self,
        agent: AgentKey,
        run: Option<RunId>,
        outcome: &Outcome,
    ) -> Result<(), Refusal> {
        self.check_runs_matter()?;
        let belongs = self.belongs(agent, run);
        if belongs == Belongs::RunningTurn || belongs == Belongs::PermitRun {
            self.check_end(run)?;
        }
        match belongs {
            Belongs::RunningTurn => {
                if self.waiting().is_some_and(|waiting| waiting.kept.is_some()) {
                    return Err(Refusal::StaleRun); // rule 55
                }
                if !self.keep_end(run, outcome) {
                    self.end_run(run, outcome);
                }
                Ok(())
            }
            Belongs::PermitRun => {
                self.end_permit_run(run);
                Ok(())
            }
            Belongs::ConfirmingTurn | Belongs::Stale => Err(Refusal::StaleRun),
        }
    }

    /// Rule 13.
    pub(super) fn on_receipt(
        &mut self,
        agent: AgentKey,
        run: Option<RunId>,
        messages: &[MessageId],
    ) -> Result<(), Refusal> {
        if messages.is_empty() {
            return Err(Refusal::EmptyReceipt);
        }
        self.check_runs_matter()?;
        let belongs = self.belongs(agent, run);
        if belongs == Belongs::Stale {
            return Err(Refusal::StaleRun);
        }
        for id in messages {
            self.memory.remember(*id, self.now);
        }
        match belongs {
            Belongs::RunningTurn => {
                if let Phase::Turn(turn) = &mut self.phase {
                    turn.receipt = true;
                    self.untaken = false; // rule 54
                }
            }
            Belongs::ConfirmingTurn => {
                self.mark_whole(true);
                self.confirm(Cause::ReceiptGiven);
            }
            Belongs::PermitRun => {
                self.reminders = 0; // rule 36
                self.mark_permit_spoken();
            }
            Belongs::Stale => {}
        }
        Ok(())
    }

    /// Rule 12: runs mean nothing where no turns are kept.
    pub(super) fn check_runs_matter(&self) -> Result<(), Refusal> {
        if self.closing.is_some() {
            return Err(Refusal::Archived);
        }
        if !self.mode.keeps_turns() || self.phase == Phase::Disabled {
            return Err(Refusal::NotManaged);
        }
        Ok(())
    }

    /// Rule 12: where no run id is known, none that has a past may end.
    pub(super) fn check_end(&self, run: Option<RunId>) -> Result<(), Refusal> {
        let known = match (&self.phase, &self.permit) {
            (Phase::Turn(turn), _) => turn.run,
            (_, Some(permit)) => permit.running.as_ref().and_then(|running| running.run),
            (_, None) => None,
        };
        let past = run.and_then(|run| self.memory.fate(run));
        if known.is_none() && past.is_some() {
            return Err(Refusal::StaleRun);
        }
        Ok(())
    }

    /// Rules 12 and 13: what this run is.
    pub(super) fn belongs(&self, agent: AgentKey, run: Option<RunId>) -> Belongs {
        let matches_run = |known: Option<RunId>| known.is_none() || known == run;
        if let Phase::Turn(turn) = &self.phase {
            if turn.agent == agent && matches_run(turn.run) {
                return match turn.stage {
                    TurnProgress::Confirming(_) => Belongs::ConfirmingTurn,
                    // A turn that rests counts as what it was (rule 55).
                    TurnProgress::Running { .. }
                    | TurnProgress::Delivering
                    | TurnProgress::Waiting(_)
                        if turn.listens() =>
                    {
                        Belongs::RunningTurn
                    }
                    TurnProgress::Granted { .. }
                    | TurnProgress::Continuing { .. }
                    | TurnProgress::Running { .. }
                    | TurnProgress::Delivering
                    | TurnProgress::Waiting(_) => Belongs::Stale,
                };
            }
        }
        if let Some(permit) = &self.permit {
            if let Some(running) = &permit.running {
                if permit.agent == agent && matches_run(running.run) {
                    return Belongs::PermitRun;
                }
            }
        }
        Belongs::Stale
    }

    /// Rule 14: the end of the turn's run.
    fn end_run(&mut self, run: Option<RunId>, outcome: &Outcome) {
        let known = self.phase.turn().and_then(|turn| turn.run);
        self.remember_ended(known.or(run));
        self.let_end_take_effect(outcome);
    }

    /// Rules 14, 49 and 63: what the end of the turn's run does.
    pub(super) fn let_end_take_effect(&mut self, outcome: &Outcome) {
        if matches!(outcome, Outcome::Unfinished { .. }) {
            self.go_on_with_turn();
            return;
        }
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        turn.awaits_human = matches!(outcome, Outcome::AwaitsHuman { .. });
        turn.slow = None;
        let spoke_before = !turn.pieces.is_empty();
        if matches!(outcome, Outcome::Repeated) {
            return self.end_empty(Cause::Repeated); // rule 77
        }
        if turn.receipt {
            self.mark_whole(!matches!(outcome, Outcome::Failed)); // rule 23
            self.confirm(Cause::ReceiptGiven);
            return;
        }
        let length = self.config.confirmation.fingerprint_length;
        match outcome {
            Outcome::Spoke { tail } | Outcome::AwaitsHuman { tail } => {
                self.await_reply(&tail.last(length));
            }
            _ if spoke_before => self.await_reply(&Tail::EMPTY), // D46
            Outcome::Pass => self.end_empty(Cause::Passed),
            Outcome::Failed | _ => self.end_empty(Cause::RunFailed),
        }
    }

    /// Rule 49: it spoke, has not finished, and keeps the floor.
    fn go_on_with_turn(&mut self) {
        if self.speaker().is_some_and(|agent| self.away.contains_key(&agent)) {
            self.end_turn(SeatTurn::Spoke, Cause::AgentOffline); // rule 67
            self.advance();
            return;
        }
        let held = self.is_held();
        self.causes.push(Cause::Unfinished);
        let continuations = self.config.order.continuations;
        self.untaken = false; // rule 54
        let Some(turn) = self.continue_turn() else {
            return;
        };
        turn.spoken = true;
        let asks = turn.asked < continuations && !held;
        if asks {
            turn.asked += 1;
        }
        let agent = turn.agent;
        if asks {
            self.emit_trigger(agent, 0, None);
        }
    }

    /// Rule 49: from Running to Continuing.
    fn continue_turn(&mut self) -> Option<&mut Turn> {
        let (held, due) = (self.is_held(), self.fresh_start());
        let anew = self.config.deadlines.turn.map(|time| self.now + time);
        let turn = self.phase.turn_mut()?;
        if turn.stage == TurnProgress::Delivering {
            turn.end = anew; // rule 67
        }
        turn.stage = TurnProgress::Continuing { due };
        turn.run = None;
        turn.anchor = None;
        turn.pieces.clear();
        turn.last_piece = None;
        turn.arrivals.clear();
        turn.receipt = false;
        turn.slow = None;
        turn.end = turn.end.filter(|_| !held); // rule 50
        Some(turn)
    }

    /// Rule 40: the run took too long, and what it said is a turn all the same.
    pub(super) fn on_run_due(&mut self) {
        self.cancel_turn_run();
        let Some(turn) = self.phase.turn_mut() else {
            return;
        };
        turn.slow = None;
        if turn.receipt {
            self.confirm(Cause::ReceiptGiven);
        } else if turn.pieces.is_empty() {
            self.time_out(SeatTurn::Skipped, Cause::RunTimedOut);
        } else {
            self.await_reply(&Tail::EMPTY);
        }
    }

    /// Rule 14: from Running to Confirming.
    fn await_reply(&mut self, fingerprint: &Tail) {
        self.memory.reply_kept = true; // rule 41
        let (now, config) = (self.now, &self.config);
        if let Phase::Turn(turn) = &mut self.phase {
            turn.stage = TurnProgress::Confirming(Confirming {
                ended: now,
                fingerprint: *fingerprint,
                poll: Poll::Next(now + config.confirmation.poll_first),
                interval: config.confirmation.poll_interval,
            });
        }
        self.confirm_if_tail_matches();
    }

    /// Rule 43: the host was restarted, and what ran is gone.
    pub(super) fn on_runs_lost(&mut self, rerun: bool) {
        self.lose_consultation(); // rule 55
        if self.phase.turn().is_some_and(Turn::is_running) {
            self.lose_turn_run(rerun);
            return;
        }
        let permit = self.permit.as_ref();
        let Some(running) = permit.and_then(|permit| permit.running.as_ref()) else {
            return;
        };
        if running.replied {
            return; // rule 68
        }
        let (run, spoken) = (running.run, running.spoken);
        if !spoken && rerun && self.reminders < REMINDERS_MAX {
            self.remember_ended(run);
            self.permit = None;
            if self.is_held() {
                self.set_reminder_anew();
            } else {
                self.send_reminder();
            }
        } else {
            self.end_permit_run(None);
        }
    }

    /// Rule 43: the turn's run is gone.
    fn lose_turn_run(&mut self, rerun: bool) {
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let (agent, run) = (turn.agent, turn.run);
        if turn.receipt || !turn.pieces.is_empty() {
            self.end_run(None, &Outcome::Failed);
            return;
        }
        self.remember_ended(run);
        if !rerun {
            if !self.phase.turn().is_some_and(|turn| turn.spoken) {
                self.cycle.vetoed = true; // no news to others (rules 59, 76)
            }
            self.leave_untaken(agent);
            self.end_turn(SeatTurn::Skipped, Cause::RunLost);
            self.advance();
            return;
        }
        if let Some(turn) = self.continue_turn() {
            if let (TurnProgress::Continuing { due }, false) = (&turn.stage, turn.spoken) {
                turn.stage = TurnProgress::Granted { attempt: 0, due: *due };
            }
        }
        if !self.is_held() {
            self.emit_trigger(agent, 0, None);
        }
    }

    /// Rule 15: the end of the permit's run.
    pub(super) fn end_permit_run(&mut self, run: Option<RunId>) {
        let Some(Permit { agent, running: Some(running) }) = self.permit.take() else {
            return;
        };
        self.remember_ended(running.run.or(run));
        self.go_on_after_permit(agent, running.spoken);
    }

    /// Rules 15 and 36: what the permit's run said wakes, or the reminder is set anew.
    pub(super) fn go_on_after_permit(&mut self, agent: AgentKey, spoken: bool) {
        let barred = self.is_ceiling_reached() || self.awaits_human;
        if spoken && !barred {
            if !self.is_any_budget_spent() {
                self.be_news(None);
                self.wake(self.first_after(agent)); // rule 58
                return;
            }
            self.keep_in_mind(); // rule 65
            self.say_that_budget_is_spent();
        }
        self.set_reminder_anew();
    }
}

/// Rule 16: pieces in id order, joined.
pub(super) fn joined(pieces: &BTreeMap<MessageId, Tail>) -> Tail {
    let mut whole = Tail::EMPTY;
    for piece in pieces.values() {
        whole.join(piece);
    }
    whole
}
