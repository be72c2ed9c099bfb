//! Pending triggers of an earlier process, which may have posted them.

use dirigent_core::{MessageId, Ticket};

use crate::values::message::Nonce;

/// Each trigger that was pending when the room was restored, until it is settled.
#[derive(Debug, Default)]
pub(crate) struct RestoredTriggers {
    triggers: Vec<RestoredTrigger>,
}

#[derive(Debug)]
struct RestoredTrigger {
    ticket: Ticket,
    nonce: Nonce,
    message: Option<MessageId>,
}

impl RestoredTriggers {
    /// Adds a pending trigger that an earlier process may have posted.
    pub(crate) fn add(&mut self, ticket: Ticket, nonce: Nonce) {
        self.triggers.push(RestoredTrigger { ticket, nonce, message: None });
    }

    /// Removes the settled trigger with this ticket. Returns its nonce, and its message if that was seen, if an earlier
    /// process may have posted it.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<(Nonce, Option<MessageId>)> {
        let at = self.triggers.iter().position(|trigger| trigger.ticket == ticket)?;
        let RestoredTrigger { nonce, message, .. } = self.triggers.swap_remove(at);
        Some((nonce, message))
    }

    /// Returns whether an earlier process may have posted this trigger.
    pub(crate) fn knows(&self, ticket: Ticket) -> bool {
        self.triggers.iter().any(|trigger| trigger.ticket == ticket)
    }

    /// Returns whether an earlier process may have posted this trigger, and its message was not seen yet.
    pub(crate) fn is_unseen(&self, ticket: Ticket) -> bool {
        let mut triggers = self.triggers.iter();
        triggers.any(|trigger| trigger.ticket == ticket && trigger.message.is_none())
    }

    pub(crate) fn see(&mut self, nonce: Nonce, message: MessageId) {
        let mut triggers = self.triggers.iter_mut();
        if let Some(trigger) = triggers.find(|trigger| trigger.nonce == nonce) {
            trigger.message = Some(message);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.triggers.clear();
    }
}
