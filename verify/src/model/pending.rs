//! Tickets, pending effects and stale triggers (rule 42).

use dirigent_core::config::TriggerCleanup;
use dirigent_core::{
    AgentKey, Cause, Effect, MessageId, Notice, Refusal, ReminderPlace, Settlement, Ticket, TurnId,
};

use super::Model;
use super::resting::Range;
use super::state::{Pending, Phase, Poll, Request, StaleTrigger, TurnProgress};

/// Pending effects remembered at most.
const PENDING_MAX: usize = 32;
/// Trigger messages remembered for their removal at most (rule 46).
const STALE_MAX: usize = 16;

impl Model {
    /// Takes the next ticket for what is asked for.
    fn request(&mut self, what: Request) -> Ticket {
        let ticket = self.ticket;
        self.ticket += 1;
        let since = self.now;
        self.pending.push(Pending { ticket, what, since });
        if self.pending.len() > PENDING_MAX {
            self.pending.remove(0);
        }
        Ticket::new(ticket)
    }

    /// What a ticket was given for, while the effect is pending.
    pub(super) fn pending(&self, ticket: Ticket) -> Option<Request> {
        let found = self.pending.iter().find(|effect| effect.ticket == ticket.get());
        found.map(|effect| effect.what)
    }

    /// Takes a pending effect away.
    pub(super) fn forget_pending(&mut self, ticket: Ticket) {
        self.pending.retain(|effect| effect.ticket != ticket.get());
    }

    /// Asks for the members.
    pub(super) fn emit_fetch(&mut self) -> Ticket {
        let ticket = self.request(Request::Fetch);
        self.emitted.push(Effect::FetchMembers { ticket });
        ticket
    }

    /// Asks for a trigger; what waited for the next one is removed first, and what is to be handed
    /// over goes before it (rule 54).
    pub(super) fn emit_trigger(&mut self, agent: AgentKey, attempt: u8, over: Option<Range>) {
        let stale = std::mem::take(&mut self.stale_triggers);
        let (waiting, rest) = stale.into_iter().partition(|one| one.due.is_none());
        self.stale_triggers = rest;
        let waiting: Vec<StaleTrigger> = waiting;
        for trigger in waiting {
            self.emit_delete(trigger.message);
        }
        self.emit_deliver(agent, over);
        let ticket = self.request(Request::Trigger { turn: self.turn });
        self.emitted.push(Effect::Trigger { ticket, agent, turn: TurnId::new(self.turn), attempt });
    }

    /// Rule 54: hands messages to the agent that has the floor.
    pub(super) fn emit_deliver(&mut self, agent: AgentKey, over: Option<Range>) {
        if let Some(Range { first, last }) = over {
            self.untaken = true;
            let turn = TurnId::new(self.turn);
            self.emitted.push(Effect::Deliver { agent, turn, first, last });
        }
    }

    /// Rule 55: asks the orchestrator.
    pub(super) fn emit_consult(&mut self, agent: AgentKey, range: Range) -> Ticket {
        let ticket = self.request(Request::Consult);
        let (turn, Range { first, last }) = (TurnId::new(self.turn), range);
        self.emitted.push(Effect::Consult { ticket, agent, turn, first, last });
        ticket
    }

    /// Asks for a trigger's removal.
    pub(super) fn emit_delete(&mut self, message: MessageId) {
        let ticket = self.request(Request::Delete);
        self.emitted.push(Effect::Delete { ticket, message });
    }

    /// Asks for the speaker's messages.
    pub(super) fn emit_poll(&mut self, after: Option<MessageId>) -> Ticket {
        let ticket = self.request(Request::Poll);
        self.emitted.push(Effect::Poll { ticket, after });
        ticket
    }

    /// Asks for a notice.
    pub(super) fn emit_notice(&mut self, notice: Notice) {
        let ticket = self.request(Request::Notice);
        self.emitted.push(Effect::Notice { ticket, notice });
    }

    /// Asks for a reminder.
    pub(super) fn emit_reminder(&mut self, initiator: AgentKey, place: ReminderPlace) {
        let ticket = self.request(Request::Reminder);
        self.emitted.push(Effect::Reminder { ticket, initiator, place });
    }

    /// Rule 42: what became of an effect.
    pub(super) fn on_settled(
        &mut self,
        ticket: Ticket,
        settlement: Settlement,
    ) -> Result<(), Refusal> {
        let what = self.pending(ticket).ok_or(Refusal::UnknownTicket)?;
        self.forget_pending(ticket);
        match what {
            Request::Fetch => {
                if self.refresh.is_some_and(|refresh| refresh.ticket == ticket) {
                    self.on_no_answer(Cause::MembersFailed); // rule 28: any settlement
                }
            }
            Request::Trigger { turn } => {
                let is_done = matches!(settlement, Settlement::Done { .. });
                if let Some(now) = self.phase.turn_mut().filter(|_| turn == self.turn) {
                    now.told |= is_done; // rule 80
                }
                if let Settlement::Done { message: Some(message) } = settlement {
                    self.on_trigger_posted(message);
                }
            }
            Request::Poll => self.on_poll_settled(ticket, settlement),
            Request::Consult => self.on_consult_settled(ticket, settlement),
            Request::Reminder => {
                let is_done = matches!(settlement, Settlement::Done { .. });
                if !is_done && self.permit.as_ref().is_some_and(|permit| permit.running.is_none()) {
                    self.set_reminder_anew(); // rule 36
                }
            }
            Request::Delete | Request::Notice => {}
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
        self.stale_triggers.push(StaleTrigger { message, due });
        if self.stale_triggers.len() > STALE_MAX {
            self.stale_triggers.remove(0);
        }
    }

    /// Rule 19: the next poll follows the answer to the last one.
    fn on_poll_settled(&mut self, ticket: Ticket, settlement: Settlement) {
        let (now, longest) = (self.now, self.config.confirmation.poll_interval_max);
        let Phase::Turn(turn) = &mut self.phase else {
            return;
        };
        let TurnProgress::Confirming(confirming) = &mut turn.stage else {
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
