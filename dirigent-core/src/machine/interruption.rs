//! People's words during a turn: handed over, queued, or answered by an orchestrator (rules 53 to 55)

use alloc::boxed::Box;

use crate::machine::caller::Caller;
use crate::machine::out::Out;
use crate::state::span::Span;
use crate::state::{Floor, Grant, Phase, Situation, TurnRun, Waiting, WaitingFrom, Words, join};
use crate::values::config::HumanInterrupt;
use crate::{AgentKey, Cause, Effect, MessageId, Outcome, Settlement, Ticket};

/// Handles people's words during a turn that is under way or waits.
pub(crate) struct Interruption<'a, 'o> {
    pub(crate) standing: &'a Situation,
    pub(crate) floor: &'a mut Floor,
    pub(crate) words: &'a mut Words,
    pub(crate) out: &'a mut Out<'o>,
}

/// A run that ended while its turn waited. Its end takes effect when the turn goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedRun {
    pub(crate) run: TurnRun,
    pub(crate) receipt: bool,
    pub(crate) outcome: Outcome,
}

impl<'o> Interruption<'_, 'o> {
    fn caller(&mut self) -> Caller<'_, 'o> {
        let Self { standing, floor, words, out } = self;
        Caller { standing, floor, words, out }
    }

    /// Returns true if people's messages do not go to the speaker now, so that they do not interrupt a confirmation
    /// either. A speaker with a reply in delivery has no use for them.
    pub(crate) fn holds_messages(&self) -> bool {
        self.standing.is_held()
            || self.out.config.people.human_interrupt == HumanInterrupt::Queue
            || matches!(self.floor.phase, Phase::Delivering { .. })
    }

    /// Processes the message of a person.
    pub(crate) fn hear(&mut self, message: MessageId) {
        let span = Span::of(message);
        if let Phase::Waiting(_) = self.floor.phase {
            if let Some(waiting) = &mut self.floor.waiting {
                join(&mut waiting.more, Some(span));
                self.out.changed();
            }
            return;
        }
        match self.out.config.people.human_interrupt {
            _ if self.holds_messages() => self.caller().keep(Some(span)),
            HumanInterrupt::Inject => self.inject(message),
            // The first arm has handled the queue already.
            HumanInterrupt::Queue => {}
            HumanInterrupt::Interrupt => self.rest(span),
        }
    }

    /// Hands a human's message to the speaker without disturbing its turn.
    fn inject(&mut self, message: MessageId) {
        let Some(agent) = self.floor.speaker() else {
            return;
        };
        let is_first = !core::mem::replace(&mut self.words.wake_unserved, true);
        self.out.changed_if(is_first);
        self.out.emit(Effect::Inject { agent, turn: self.floor.turn, message });
    }

    /// Makes the turn wait, and asks the orchestrator.
    fn rest(&mut self, asked: Span) {
        let (agent, from) = if let Phase::Granted(grant) = &self.floor.phase {
            (grant.agent, WaitingFrom::Granted { attempt: grant.attempt })
        } else if let Phase::Running { run, until, receipt } = self.floor.phase {
            let TurnRun { agent, id: run, anchor } = run;
            (agent, WaitingFrom::Running { run, anchor, until, receipt, replied: false })
        } else if let Phase::Continuing { agent, .. } = self.floor.phase {
            (agent, WaitingFrom::Continuing)
        } else {
            // A reply that is being delivered or confirmed was made already, so the turn need not wait.
            return;
        };
        self.out.shift(self.floor, Phase::Waiting(agent), Some(agent), Cause::HumanInterrupted);
        let (consult, since) = (self.consult(agent, asked), self.out.now);
        let until = since + self.out.config.people.consult_deadline;
        let (more, unanswered, end) = (None, None, None);
        let waiting = Waiting { from, since, consult, until, asked, more, unanswered, end };
        self.floor.waiting = Some(Box::new(waiting));
    }

    fn consult(&mut self, agent: AgentKey, Span { first, last }: Span) -> Ticket {
        let turn = self.floor.turn;
        self.out.request(|ticket| Effect::Consult { ticket, agent, turn, first, last })
    }

    /// Handles the orchestrator's answer, or its failure.
    pub(crate) fn on_consulted(&mut self, settlement: Settlement) -> Option<EndedRun> {
        match settlement {
            Settlement::Done { .. } => self.end_consultation(true, Cause::OrchestratorAnswered),
            Settlement::Failed { .. } | Settlement::Doubtful | Settlement::Dropped => {
                self.end_consultation(false, Cause::OrchestratorFailed)
            }
        }
    }

    /// Handles an orchestrator that took too long. An answer that comes later has no effect.
    pub(crate) fn on_consult_late(&mut self) -> Option<EndedRun> {
        self.out.pending.settle(self.floor.waiting.as_ref()?.consult);
        self.end_consultation(false, Cause::OrchestratorLate)
    }

    /// Asks about the messages that people wrote in the meantime. If there are none, the turn goes on.
    fn end_consultation(&mut self, answered: bool, cause: Cause) -> Option<EndedRun> {
        let mut waiting = self.floor.waiting.take()?;
        if !answered {
            waiting.fail_to_answer();
        }
        if let (Some(more), Phase::Waiting(agent)) = (waiting.more.take(), self.floor.phase) {
            self.out.tell(self.floor, Some(agent), cause);
            waiting.asked = more;
            waiting.consult = self.consult(agent, more);
            waiting.until = self.out.now + self.out.config.people.consult_deadline;
            self.floor.waiting = Some(waiting);
            return None;
        }
        self.go_on(&waiting, cause)
    }

    /// Lets the turn go on as it was when it began to wait, with the time that remained.
    fn go_on(&mut self, waiting: &Waiting, cause: Cause) -> Option<EndedRun> {
        let Phase::Waiting(agent) = self.floor.phase else {
            return None;
        };
        self.put_off_ends(waiting);
        match waiting.from {
            WaitingFrom::Granted { attempt } => {
                let phase = Phase::Granted(Grant { agent, until: None, attempt });
                self.out.shift(self.floor, phase, Some(agent), cause);
                self.caller().trigger(waiting.unanswered);
                None
            }
            WaitingFrom::Continuing => {
                let phase = Phase::Continuing { agent, until: None };
                self.out.shift(self.floor, phase, Some(agent), cause);
                self.caller().trigger(waiting.unanswered);
                None
            }
            WaitingFrom::Running { run: id, anchor, until, receipt, replied } => {
                let run = TurnRun { agent, id, anchor };
                let until = until.map(|until| until + self.out.now.since(waiting.since));
                let phase = if replied {
                    Phase::Delivering { run, receipt }
                } else {
                    Phase::Running { run, until, receipt }
                };
                self.out.shift(self.floor, phase, Some(agent), cause);
                match waiting.end {
                    // A run that is over, or has made its reply, takes no more words. The next agent gets them.
                    None if !replied => self.hand_over(agent, waiting.unanswered),
                    None | Some(_) => self.caller().keep(waiting.unanswered),
                }
                waiting.end.map(|outcome| EndedRun { run, receipt, outcome })
            }
        }
    }

    /// Gives the turn as much time as it had when it began to wait. The turn's end also stands still while the chat is
    /// away. That time is added when the chat is back, so it is left out here.
    fn put_off_ends(&mut self, waiting: &Waiting) {
        let rest = self.out.now.since(waiting.since);
        let rest_by_chat = self.standing.chat_now(self.out.now).since(waiting.since);
        if let Some(terms) = self.floor.terms.existing() {
            terms.until = terms.until.map(|at| at + rest_by_chat);
            terms.slow_at = terms.slow_at.map(|at| at + rest);
        }
    }

    /// Gives the speaker the messages that the orchestrator did not deal with.
    fn hand_over(&mut self, agent: AgentKey, span: Option<Span>) {
        let turn = self.floor.turn;
        match span {
            Some(Span { first, last }) if !self.standing.is_paused() => {
                self.words.wake_unserved = true;
                self.out.emit(Effect::Deliver { agent, turn, first, last });
            }
            span => self.caller().keep(span),
        }
    }

    /// Handles the loss of an orchestrator with the process that asked it. The turn goes on. If the run is lost, too,
    /// people's words are queued.
    pub(crate) fn lose_consultation(&mut self) -> Option<EndedRun> {
        let mut waiting = self.floor.waiting.take()?;
        self.out.pending.settle(waiting.consult);
        waiting.fail_to_answer();
        let more = waiting.more.take();
        join(&mut waiting.unanswered, more);
        if matches!(waiting.from, WaitingFrom::Running { .. }) {
            let unanswered = waiting.unanswered.take();
            self.caller().keep(unanswered);
        }
        self.go_on(&waiting, Cause::OrchestratorFailed)
    }
}
