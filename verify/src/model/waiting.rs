//! Turns that rest while a human is answered (rule 55).

use dirigent_core::{Cause, MessageId, Outcome, RunId, Settlement, Ticket};

use super::Model;
use super::resting::{Range, Waiting, WaitingFrom};
use super::state::{Fate, Phase, TurnProgress};

impl Model {
    /// The rest, if the turn rests.
    pub(super) fn waiting(&self) -> Option<&Waiting> {
        match &self.phase.turn()?.stage {
            TurnProgress::Waiting(waiting) => Some(waiting),
            TurnProgress::Granted { .. }
            | TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. } => None,
        }
    }

    /// The rest, to be changed.
    fn waiting_mut(&mut self) -> Option<&mut Waiting> {
        match &mut self.phase.turn_mut()?.stage {
            TurnProgress::Waiting(waiting) => Some(waiting),
            TurnProgress::Granted { .. }
            | TurnProgress::Running { .. }
            | TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. } => None,
        }
    }

    /// A human spoke: the turn rests, and the orchestrator is asked.
    pub(super) fn rest_turn(&mut self, id: MessageId) {
        let (now, asked) = (self.now, Range::of(id));
        let Some((agent, from)) = self.phase.turn().and_then(|turn| {
            let from = match &turn.stage {
                TurnProgress::Granted { attempt, .. } => WaitingFrom::Granted { attempt: *attempt },
                TurnProgress::Running { due } => {
                    WaitingFrom::Running { left: due.map(|at| at.since(now)) }
                }
                TurnProgress::Continuing { .. } => WaitingFrom::Continuing,
                TurnProgress::Delivering
                | TurnProgress::Confirming(_)
                | TurnProgress::Waiting(_) => return None,
            };
            Some((turn.agent, from))
        }) else {
            return;
        };
        self.causes.push(Cause::HumanInterrupted);
        let ticket = self.emit_consult(agent, asked);
        let due = now + self.config.people.consult_deadline;
        if let Some(turn) = self.phase.turn_mut() {
            let (slow, end) = (turn.slow.take(), turn.end.take());
            turn.stage = TurnProgress::Waiting(Waiting {
                from,
                slow_left: slow.map(|at| at.since(now)),
                end_left: end.map(|at| at.since(now)),
                ticket,
                due,
                asked,
                next: None,
                over: None,
                kept: None,
                replied: false,
            });
        }
    }

    /// The end of the running run takes effect, or is kept while the turn rests.
    pub(super) fn keep_end(&mut self, run: Option<RunId>, outcome: &Outcome) -> bool {
        let known = self.phase.turn().and_then(|turn| turn.run);
        let Some(waiting) = self.waiting_mut() else {
            return false;
        };
        waiting.kept = Some(*outcome);
        if let Some(run) = known.or(run) {
            self.memory.remember_run(run, Fate::Ended, self.now);
        }
        true
    }

    /// The orchestrator answered, or could not.
    pub(super) fn on_consult_settled(&mut self, ticket: Ticket, settlement: Settlement) {
        if self.waiting().is_none_or(|waiting| waiting.ticket != ticket) {
            return;
        }
        match settlement {
            Settlement::Done { .. } => self.on_consult_over(Cause::OrchestratorAnswered),
            Settlement::Failed { .. } | Settlement::Doubtful | Settlement::Dropped | _ => {
                self.on_consult_over(Cause::OrchestratorFailed);
            }
        }
    }

    /// The orchestrator took too long.
    pub(super) fn on_consult_due(&mut self) {
        if let Some(ticket) = self.waiting().map(|waiting| waiting.ticket) {
            self.forget_pending(ticket);
            self.on_consult_over(Cause::OrchestratorLate);
        }
    }

    /// What was asked about is dealt with, or must be handed over; then what was said since.
    fn on_consult_over(&mut self, cause: Cause) {
        self.causes.push(cause);
        let Some(waiting) = self.waiting_mut() else {
            return;
        };
        if cause != Cause::OrchestratorAnswered {
            waiting.over = Range::both(waiting.over, Some(waiting.asked));
        }
        let Some(next) = waiting.next.take() else {
            self.go_on_after_rest();
            return;
        };
        let Some(agent) = self.speaker() else {
            return;
        };
        let ticket = self.emit_consult(agent, next);
        let due = self.now + self.config.people.consult_deadline;
        if let Some(waiting) = self.waiting_mut() {
            waiting.asked = next;
            waiting.ticket = ticket;
            waiting.due = due;
        }
    }

    /// The turn is what it was before it waited.
    fn restore_stage(&mut self) -> Option<Waiting> {
        let (now, held) = (self.now, self.is_held());
        let fresh = self.fresh_start();
        let waiting = self.waiting()?.clone();
        let turn = self.phase.turn_mut()?;
        let end = waiting.end_left.map(|left| now + left);
        match waiting.from {
            WaitingFrom::Granted { attempt } => {
                turn.stage = TurnProgress::Granted { attempt, due: fresh };
                turn.end = end.filter(|_| !held); // rule 50
            }
            WaitingFrom::Continuing => {
                turn.stage = TurnProgress::Continuing { due: fresh };
                turn.end = end.filter(|_| !held);
            }
            WaitingFrom::Running { .. } if waiting.replied => turn.stage = TurnProgress::Delivering,
            WaitingFrom::Running { left } => {
                turn.stage = TurnProgress::Running { due: left.map(|left| now + left) };
                turn.slow = waiting.slow_left.map(|left| now + left);
                turn.end = end;
            }
        }
        Some(waiting)
    }

    /// The turn goes on, or ends as its run did meanwhile.
    fn go_on_after_rest(&mut self) {
        let Some(waiting) = self.restore_stage() else {
            return;
        };
        if let Some(outcome) = &waiting.kept {
            self.hold(waiting.over);
            self.let_end_take_effect(outcome);
            return;
        }
        let Some(agent) = self.speaker() else {
            return;
        };
        if self.is_held() || waiting.replied {
            self.hold(waiting.over);
            return;
        }
        match waiting.from {
            WaitingFrom::Granted { attempt } => self.emit_trigger(agent, attempt, waiting.over),
            WaitingFrom::Continuing => self.emit_trigger(agent, 0, waiting.over),
            WaitingFrom::Running { .. } => self.emit_deliver(agent, waiting.over),
        }
    }

    /// The turn ends otherwise while it rests: what was asked is held.
    pub(super) fn end_rest(&mut self) {
        let Some(waiting) = self.waiting().cloned() else {
            return;
        };
        self.forget_pending(waiting.ticket);
        let asked = Range::both(Some(waiting.asked), waiting.next);
        self.hold(Range::both(asked, waiting.over));
        if let Phase::Turn(turn) = &mut self.phase {
            turn.stage = TurnProgress::Granted { attempt: 0, due: None }; // it is about to end
        }
    }

    /// The host was restarted: all consultations are over as if they had failed.
    pub(super) fn lose_consultation(&mut self) {
        let Some(waiting) = self.waiting_mut() else {
            return;
        };
        let asked = Range::both(Some(waiting.asked), waiting.next.take());
        waiting.over = Range::both(asked, waiting.over);
        let runs = waiting.waits_running() && waiting.kept.is_none();
        let (ticket, over) = (waiting.ticket, waiting.over);
        self.causes.push(Cause::OrchestratorFailed);
        self.forget_pending(ticket);
        if runs {
            self.hold(over);
            self.restore_stage();
        } else {
            self.go_on_after_rest();
        }
    }
}
