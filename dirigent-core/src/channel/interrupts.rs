//! What people say during a turn: handed over, held, or answered by an orchestrator (rules 53 to 55)

use super::Channel;
use super::phase::{Grant, Phase, TurnRun};
use super::step::Step;
use crate::seen::RunFate;
use crate::steering::{Rested, Span, Waiting, join};
use crate::{
    AgentKey, Cause, Debt, Effect, HumanInterrupt, MessageId, Outcome, Refusal, RunId, Settlement,
    Ticket,
};

impl Channel {
    /// Whether people's messages are kept from the speaker, so that they do not interrupt a
    /// confirmation either. A speaker whose reply is delivered has no use for them.
    pub(super) fn holds_messages(&self) -> bool {
        self.is_held()
            || self.config.human_interrupt == HumanInterrupt::Queue
            || matches!(self.phase, Phase::Delivering { .. })
    }

    /// Whether anything waits for the next grant.
    pub(super) fn has_held(&self) -> bool {
        self.steering.as_ref().is_some_and(|steering| steering.held.is_some())
    }

    /// Whether the agent of this turn may not know of it yet: it does not run, or it is still to be told.
    pub(super) fn awaits_agent(&self) -> bool {
        let is_its =
            |debt: &Debt| matches!(debt.effect, Effect::Trigger { turn, .. } if turn == self.turn);
        self.turn_run().is_none() || self.debts().iter().any(is_its)
    }

    /// The channel falls silent: a word that no agent has heard is kept in mind.
    pub(super) fn keep_unheard(&mut self) {
        self.missed |= self.unheard || self.has_held();
        self.unheard = false;
    }
}

impl Step<'_> {
    /// A person wrote during a turn that is under way or rests.
    pub(super) fn hear_in_turn(&mut self, message: MessageId) {
        let span = Span::of(message);
        if let Phase::Waiting(_) = self.channel.phase {
            if let Some(waiting) = &mut self.channel.steering_mut().waiting {
                join(&mut waiting.more, Some(span));
                self.changed();
            }
            return;
        }
        match self.channel.config.human_interrupt {
            _ if self.channel.holds_messages() => self.hold_back(Some(span)),
            HumanInterrupt::Inject => self.inject(message),
            HumanInterrupt::Queue => {}
            HumanInterrupt::Interrupt => self.rest_turn(span),
        }
    }

    /// Keeps these messages for the next grant.
    pub(super) fn hold_back(&mut self, span: Option<Span>) {
        if span.is_some() {
            join(&mut self.channel.steering_mut().held, span);
            self.changed();
        }
    }

    /// Hands a human's message to the speaker without disturbing its turn.
    fn inject(&mut self, message: MessageId) {
        if let Some(agent) = self.channel.speaker() {
            let turn = self.channel.turn;
            if self.channel.awaits_agent() && !core::mem::replace(&mut self.channel.unheard, true) {
                self.changed();
            }
            self.effects.push(Effect::Inject { agent, turn, message });
        }
    }

    /// The turn comes to rest, and the orchestrator is asked.
    fn rest_turn(&mut self, asked: Span) {
        let (agent, rested) = match self.channel.phase {
            Phase::Granted(Grant { agent, attempt, .. }) => (agent, Rested::Granted { attempt }),
            Phase::Running { run: TurnRun { agent, id: run, anchor }, until, receipt } => {
                (agent, Rested::Running { run, anchor, until, receipt, replied: false })
            }
            Phase::Continuing { agent, .. } => (agent, Rested::Continuing),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Refreshing(_)
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Waiting(_) => return,
        };
        self.shift(Phase::Waiting(agent), Some(agent), Cause::HumanInterrupted);
        let (consult, since) = (self.consult(agent, asked), self.channel.now);
        let until = since + self.channel.config.consult_deadline;
        let (more, unanswered, end) = (None, None, None);
        let waiting = Waiting { rested, since, consult, until, asked, more, unanswered, end };
        self.channel.steering_mut().waiting = Some(waiting);
    }

    fn consult(&mut self, agent: AgentKey, Span { first, last }: Span) -> Ticket {
        let turn = self.channel.turn;
        self.owe(|ticket| Effect::Consult { ticket, agent, turn, first, last })
    }

    /// The orchestrator answered, or could not.
    pub(super) fn on_consulted(&mut self, settlement: Settlement) {
        match settlement {
            Settlement::Done { .. } => self.end_consultation(true, Cause::OrchestratorAnswered),
            Settlement::Failed { .. } | Settlement::Doubtful | Settlement::Dropped => {
                self.end_consultation(false, Cause::OrchestratorFailed);
            }
        }
    }

    /// The orchestrator took too long; an answer is no longer waited for.
    pub(super) fn on_consult_late(&mut self) {
        if let Some(waiting) = self.channel.waiting().copied() {
            self.channel.debts.settle(waiting.consult);
            self.end_consultation(false, Cause::OrchestratorLate);
        }
    }

    /// What people said meanwhile is asked about next; else the turn goes on.
    fn end_consultation(&mut self, answered: bool, cause: Cause) {
        let Some(mut waiting) = self.channel.waiting().copied() else {
            return;
        };
        if !answered {
            join(&mut waiting.unanswered, Some(waiting.asked));
        }
        if let (Some(more), Phase::Waiting(agent)) = (waiting.more.take(), self.channel.phase) {
            self.tell(Some(agent), cause);
            waiting.asked = more;
            waiting.consult = self.consult(agent, more);
            waiting.until = self.channel.now + self.channel.config.consult_deadline;
            self.channel.steering_mut().waiting = Some(waiting);
        } else {
            self.channel.steering_mut().waiting = None;
            self.go_on(&waiting, cause);
        }
    }

    /// The turn goes on as it came to rest, with the time that remained.
    fn go_on(&mut self, waiting: &Waiting, cause: Cause) {
        let Phase::Waiting(agent) = self.channel.phase else {
            return;
        };
        let rest = self.channel.now.since(waiting.since);
        let rest_by_chat = self.channel.chat_now().since(waiting.since);
        let terms = &mut self.channel.steering_mut().terms;
        let moments = [(&mut terms.until, rest_by_chat), (&mut terms.slow_at, rest)];
        for (moment, by) in moments {
            *moment = moment.map(|at| at + by);
        }
        match waiting.rested {
            Rested::Granted { attempt } => {
                let grant = Grant { agent, until: None, attempt };
                self.shift(Phase::Granted(grant), Some(agent), cause);
                self.trigger(waiting.unanswered);
            }
            Rested::Continuing => {
                self.shift(Phase::Continuing { agent, until: None }, Some(agent), cause);
                self.trigger(waiting.unanswered);
            }
            Rested::Running { run: id, anchor, until, receipt, replied } => {
                let run = TurnRun { agent, id, anchor };
                let until = until.map(|until| until + rest);
                let phase = if replied {
                    Phase::Delivering { run, receipt }
                } else {
                    Phase::Running { run, until, receipt }
                };
                self.shift(phase, Some(agent), cause);
                match &waiting.end {
                    Some(outcome) => {
                        self.hold_back(waiting.unanswered);
                        self.end_turn_run(run, receipt, outcome);
                    }
                    None if replied => self.hold_back(waiting.unanswered),
                    None => self.hand_over(agent, waiting.unanswered),
                }
            }
        }
    }

    /// Gives the speaker what the orchestrator did not deal with.
    fn hand_over(&mut self, agent: AgentKey, span: Option<Span>) {
        let turn = self.channel.turn;
        match span {
            Some(Span { first, last }) if self.channel.rest.is_none() => {
                self.effects.push(Effect::Deliver { agent, turn, first, last });
            }
            span => self.hold_back(span),
        }
    }

    /// The orchestrator is gone with the process that asked it: the turn goes on, and what people
    /// said is held where the run is gone, too.
    pub(super) fn lose_consultation(&mut self) {
        let Some(mut waiting) = self.channel.waiting().copied() else {
            return;
        };
        self.channel.debts.settle(waiting.consult);
        join(&mut waiting.unanswered, Some(waiting.asked));
        join(&mut waiting.unanswered, waiting.more.take());
        if matches!(waiting.rested, Rested::Running { .. }) {
            self.hold_back(waiting.unanswered.take());
        }
        self.channel.steering_mut().waiting = None;
        self.go_on(&waiting, Cause::OrchestratorFailed);
    }

    /// The turn under way, if there is one, ends without an outcome. A turn in which the speaker
    /// has spoken counts for its cap, and messages of the speaker that come late are pieces of it.
    pub(super) fn break_off_turn(&mut self) {
        let Some(agent) = self.channel.speaker() else {
            return;
        };
        self.expect_late_pieces(agent);
        if self.channel.terms().spoken {
            self.note_spoken(agent);
        }
        self.leave_turn();
    }

    /// The turn is over: what it has been through is forgotten, and a question to the orchestrator
    /// needs no answer any more.
    pub(super) fn leave_turn(&mut self) {
        let Some(steering) = &mut self.channel.steering else {
            return;
        };
        steering.terms = crate::steering::TurnTerms::default();
        if let Some(waiting) = steering.waiting.take() {
            self.hold_asked(&waiting);
        }
    }

    fn hold_asked(&mut self, waiting: &Waiting) {
        self.channel.debts.settle(waiting.consult);
        for span in [Some(waiting.asked), waiting.more, waiting.unanswered] {
            self.hold_back(span);
        }
    }

    /// The run of a turn that rests ended: that takes effect when the turn goes on.
    pub(super) fn keep_end(
        &mut self,
        agent: AgentKey,
        id: Option<RunId>,
        outcome: &Outcome,
    ) -> Result<(), Refusal> {
        let run = self.channel.turn_run().filter(|run| self.ends(run, agent, id));
        let run = run.ok_or(Refusal::StaleRun)?;
        match &mut self.channel.steering_mut().waiting {
            Some(waiting) if waiting.end.is_none() => waiting.end = Some(*outcome),
            Some(_) | None => return Err(Refusal::StaleRun),
        }
        self.changed();
        self.remember_run(run.id.or(id), RunFate::Ended);
        Ok(())
    }
}
