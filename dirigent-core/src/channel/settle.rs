//! What became of an owed effect (rules 19, 28 and 42)

use super::step::Step;
use crate::{
    Cause, Effect, MessageId, Refusal, Settlement, Ticket, Timestamp, TriggerCleanup, TurnId,
};

/// How many trigger messages wait to be removed; beyond that the oldest stays.
pub(crate) const LITTER_MAX: usize = 16;

/// A trigger message that is still to be removed.
///
/// ```
/// use dirigent_core::{Litter, MessageId};
/// let litter = Litter { message: MessageId::new(1), due: None };
/// assert!(litter.due.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Litter {
    /// Which.
    pub message: MessageId,
    /// When; `None`: with the next trigger.
    pub due: Option<Timestamp>,
}

impl Step<'_> {
    pub(super) fn on_settled(
        &mut self,
        ticket: Ticket,
        settlement: Settlement,
    ) -> Result<(), Refusal> {
        let debt = self.channel.debts.settle(ticket).ok_or(Refusal::UnknownTicket)?;
        self.changed();
        match (debt.effect, settlement) {
            (Effect::FetchMembers { .. }, _) => self.go_on_without_list(Cause::MembersFailed),
            (Effect::Consult { .. }, _) => self.on_consulted(settlement),
            (Effect::Poll { .. }, Settlement::Failed { retry_at }) => {
                self.on_polled(ticket, retry_at);
            }
            (Effect::Poll { .. }, _) => self.on_polled(ticket, None),
            (Effect::Trigger { turn, .. }, _) => self.on_trigger_settled(turn, settlement),
            (Effect::Reminder { .. }, Settlement::Done { .. }) => {}
            (Effect::Reminder { .. }, _) => self.on_reminder_failed(),
            _ => {}
        }
        Ok(())
    }

    /// The agent was told of its turn, or will not be. One that runs without that knows of it anyway.
    fn on_trigger_settled(&mut self, turn: TurnId, settlement: Settlement) {
        let is_done = matches!(settlement, Settlement::Done { .. });
        let is_current = self.channel.speaker().is_some() && turn == self.channel.turn;
        if is_current && (is_done || !self.channel.awaits_agent()) {
            self.channel.unheard = false;
        }
        if let Settlement::Done { message: Some(message) } = settlement {
            self.dispose(message);
        }
    }

    /// A trigger message stands in the channel: the policy says when it goes.
    fn dispose(&mut self, message: MessageId) {
        let due = match self.channel.config.trigger_cleanup {
            TriggerCleanup::Never => return,
            TriggerCleanup::Immediate => {
                self.owe(|ticket| Effect::Delete { ticket, message });
                return;
            }
            TriggerCleanup::OnNext => None,
            TriggerCleanup::After(wait) => Some(self.now() + wait),
        };
        if self.channel.litter.len() >= LITTER_MAX {
            self.channel.litter.remove(0);
        }
        self.channel.litter.push(Litter { message, due });
    }

    /// The next trigger takes the old ones away that waited for it.
    pub(super) fn clean_up_before_trigger(&mut self) {
        self.clean_up(|litter| litter.due.is_none());
    }

    /// Removes the trigger messages whose time has come.
    pub(super) fn clean_up_due(&mut self) {
        let now = self.now();
        self.clean_up(|litter| litter.due.is_some_and(|due| due <= now));
    }

    fn clean_up(&mut self, chosen: impl Fn(&Litter) -> bool) {
        while let Some(at) = self.channel.litter.iter().position(&chosen) {
            let message = self.channel.litter.remove(at).message;
            self.owe(|ticket| Effect::Delete { ticket, message });
        }
    }
}
