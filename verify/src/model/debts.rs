//! Tickets, debts and the litter of triggers (rule 42).

use dirigent_core::{
    AgentKey, Cause, Effect, MessageId, Notice, Refusal, ReminderPlace, Settlement, Ticket,
    TriggerCleanup, TurnId,
};

use super::Model;
use super::resting::Range;
use super::state::{Debt, Litter, Owed, Phase, Poll, Stage};

/// Debts remembered at most.
const DEBTS_MAX: usize = 32;
/// Trigger messages remembered for their removal at most (rule 46).
const LITTER_MAX: usize = 16;

impl Model {
    /// Takes the next ticket and owes it.
    fn owe(&mut self, what: Owed) -> Ticket {
        let ticket = self.ticket;
        self.ticket += 1;
        let since = self.now;
        self.debts.push(Debt { ticket, what, since });
        if self.debts.len() > DEBTS_MAX {
            self.debts.remove(0);
        }
        Ticket::new(ticket)
    }

    /// Whether the ticket is owed, and what for.
    pub(super) fn owed(&self, ticket: Ticket) -> Option<Owed> {
        let found = self.debts.iter().find(|debt| debt.ticket == ticket.get());
        found.map(|debt| debt.what)
    }

    /// Strikes out a debt.
    pub(super) fn strike(&mut self, ticket: Ticket) {
        self.debts.retain(|debt| debt.ticket != ticket.get());
    }

    /// Asks for the members.
    pub(super) fn emit_fetch(&mut self) -> Ticket {
        let ticket = self.owe(Owed::Fetch);
        self.emitted.push(Effect::FetchMembers { ticket });
        ticket
    }

    /// Asks for a trigger; what waited for the next one is removed first, and what is to be handed
    /// over goes before it (rule 54).
    pub(super) fn emit_trigger(&mut self, agent: AgentKey, attempt: u8, over: Option<Range>) {
        let litter = std::mem::take(&mut self.litter);
        let (waiting, rest) = litter.into_iter().partition(|one| one.due.is_none());
        self.litter = rest;
        let waiting: Vec<Litter> = waiting;
        for litter in waiting {
            self.emit_delete(litter.message);
        }
        self.emit_deliver(agent, over);
        let ticket = self.owe(Owed::Trigger { turn: self.turn });
        self.emitted.push(Effect::Trigger { ticket, agent, turn: TurnId::new(self.turn), attempt });
    }

    /// Rule 54: hands messages to the agent that has the floor.
    pub(super) fn emit_deliver(&mut self, agent: AgentKey, over: Option<Range>) {
        if let Some(Range { first, last }) = over {
            let turn = TurnId::new(self.turn);
            self.emitted.push(Effect::Deliver { agent, turn, first, last });
        }
    }

    /// Rule 55: asks the orchestrator.
    pub(super) fn emit_consult(&mut self, agent: AgentKey, range: Range) -> Ticket {
        let ticket = self.owe(Owed::Consult);
        let (turn, Range { first, last }) = (TurnId::new(self.turn), range);
        self.emitted.push(Effect::Consult { ticket, agent, turn, first, last });
        ticket
    }

    /// Asks for a trigger's removal.
    pub(super) fn emit_delete(&mut self, message: MessageId) {
        let ticket = self.owe(Owed::Delete);
        self.emitted.push(Effect::Delete { ticket, message });
    }

    /// Asks for the speaker's messages.
    pub(super) fn emit_poll(&mut self, after: Option<MessageId>) -> Ticket {
        let ticket = self.owe(Owed::Poll);
        self.emitted.push(Effect::Poll { ticket, after });
        ticket
    }

    /// Asks for a notice.
    pub(super) fn emit_notice(&mut self, notice: Notice) {
        let ticket = self.owe(Owed::Notice);
        self.emitted.push(Effect::Notice { ticket, notice });
    }

    /// Asks for a reminder.
    pub(super) fn emit_reminder(&mut self, initiator: AgentKey, place: ReminderPlace) {
        let ticket = self.owe(Owed::Reminder);
        self.emitted.push(Effect::Reminder { ticket, initiator, place });
    }

    /// Rule 42: what became of an effect.
    pub(super) fn on_settled(
        &mut self,
        ticket: Ticket,
        settlement: Settlement,
    ) -> Result<(), Refusal> {
        let what = self.owed(ticket).ok_or(Refusal::UnknownTicket)?;
        self.strike(ticket);
        match what {
            Owed::Fetch => {
                if self.refresh.is_some_and(|refresh| refresh.ticket == ticket) {
                    self.on_no_answer(Cause::MembersFailed); // rule 28: any settlement
                }
            }
            Owed::Trigger { turn } => {
                let is_current = self.phase.turn().is_some() && turn == self.turn;
                let is_done = matches!(settlement, Settlement::Done { .. });
                if is_current && (is_done || !self.is_agent_to_be_reached()) {
                    self.unheard = false; // rule 54
                }
                if let Settlement::Done { message: Some(message) } = settlement {
                    self.on_trigger_posted(message);
                }
            }
            Owed::Poll => self.on_poll_settled(ticket, settlement),
            Owed::Consult => self.on_consult_settled(ticket, settlement),
            Owed::Reminder => {
                let is_done = matches!(settlement, Settlement::Done { .. });
                if !is_done && self.permit.as_ref().is_some_and(|permit| permit.running.is_none()) {
                    self.set_reminder_anew(); // rule 36
                }
            }
            Owed::Delete | Owed::Notice => {}
        }
        Ok(())
    }

    /// Rule 42: what happens to a posted trigger.
    fn on_trigger_posted(&mut self, message: MessageId) {
        let due = match self.config.trigger_cleanup {
            TriggerCleanup::Immediate => return self.emit_delete(message),
            TriggerCleanup::OnNext => None,
            TriggerCleanup::After(time) => Some(self.now + time),
            TriggerCleanup::Never | _ => return,
        };
        self.litter.push(Litter { message, due });
        if self.litter.len() > LITTER_MAX {
            self.litter.remove(0);
        }
    }

    /// Rule 19: the next poll follows the answer to the last one.
    fn on_poll_settled(&mut self, ticket: Ticket, settlement: Settlement) {
        let (now, longest) = (self.now, self.config.poll_interval_max);
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let Stage::Confirming(confirming) = &mut turn.stage else {
            return;
        };
        if confirming.poll != Poll::InFlight(ticket) {
            return;
        }
        let mut next = now + confirming.interval;
        if let Settlement::Failed { retry_at: Some(retry_at) } = settlement {
            next = next.max(retry_at);
        }
        confirming.poll = Poll::Next(next);
        confirming.interval =
            confirming.interval.saturating_add(confirming.interval / 2).min(longest);
    }
}
