//! Effects that were requested and not settled, and trigger messages that must still be removed.

use alloc::vec::Vec;

use crate::state::rare::Rare;
use crate::{Effect, MessageId, Ticket, Timestamp, TurnId};

/// The most pending effects. Beyond that the oldest is forgotten.
pub(crate) const PENDING_MAX: usize = 32;

/// The most trigger messages that wait for their removal. Beyond that the oldest stays in the channel.
pub(crate) const STALE_MAX: usize = 16;

/// A pending effect with the moment of its request. You can derive a nonce from both, which stays the same after a
/// restart.
///
/// ```
/// use dirigent_core::snapshot::PendingEffect;
/// use dirigent_core::{Effect, Ticket, Timestamp};
/// let effect = Effect::FetchMembers { ticket: Ticket::new(1) };
/// let pending = PendingEffect { effect, since: Timestamp::from_millis(9) };
/// assert_eq!(pending.effect.ticket(), Some(Ticket::new(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PendingEffect {
    /// The effect to carry out.
    pub effect: Effect,
    /// The moment of the request.
    pub since: Timestamp,
}

/// A trigger message that must still be removed.
///
/// ```
/// use dirigent_core::snapshot::StaleTrigger;
/// use dirigent_core::MessageId;
/// let stale = StaleTrigger { message: MessageId::new(1), due: None };
/// assert!(stale.due.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleTrigger {
    /// The trigger message to delete.
    pub message: MessageId,
    /// The moment of the removal. With `None` it is removed together with the next trigger.
    pub due: Option<Timestamp>,
}

/// The pending effects, oldest first, and the stale triggers. A channel that has been idle for long frees this memory.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Pending::default().next_ticket, 0);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Pending {
    /// The effects, oldest first; at most 32.
    pub effects: Vec<PendingEffect>,
    /// The number of the next ticket.
    pub next_ticket: u64,
    /// The trigger messages to remove; at most 16.
    pub stale: Rare<Vec<StaleTrigger>>,
}

impl Pending {
    /// Remembers an effect under the next ticket.
    pub(crate) fn push(
        &mut self,
        effect: impl FnOnce(Ticket) -> Effect,
        since: Timestamp,
    ) -> Effect {
        let effect = effect(Ticket::new(self.next_ticket));
        self.next_ticket += 1;
        // A host that settles nothing must not fill memory. The oldest effect is the least useful one.
        if self.effects.len() >= PENDING_MAX {
            self.effects.remove(0);
        }
        // More than two are rarely pending.
        if self.effects.capacity() == 0 {
            self.effects.reserve_exact(2);
        }
        self.effects.push(PendingEffect { effect, since });
        effect
    }

    /// Removes an effect and returns it. The search begins at the newest, because mostly that one is settled.
    pub(crate) fn settle(&mut self, ticket: Ticket) -> Option<PendingEffect> {
        let at = self.effects.iter().rposition(|it| it.effect.ticket() == Some(ticket))?;
        Some(self.effects.remove(at))
    }

    pub(crate) fn contains(&self, ticket: Ticket) -> bool {
        self.effects.iter().any(|it| it.effect.ticket() == Some(ticket))
    }

    pub(crate) fn newest_trigger(&self) -> Option<Ticket> {
        self.effects.iter().rev().find_map(|it| {
            if let Effect::Trigger { ticket, .. } = it.effect { Some(ticket) } else { None }
        })
    }

    /// Returns true if the trigger of this turn is still pending, so that its agent does not know of the turn yet.
    pub(crate) fn has_trigger_of(&self, turn: TurnId) -> bool {
        let is_its =
            |effect: &Effect| matches!(effect, Effect::Trigger { turn: of, .. } if *of == turn);
        self.effects.iter().any(|it| is_its(&it.effect))
    }

    pub(crate) fn stale(&self) -> &[StaleTrigger] {
        self.stale.get().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn add_stale(&mut self, trigger: StaleTrigger) {
        let stale = self.stale.edit();
        if stale.len() >= STALE_MAX {
            stale.remove(0);
        }
        stale.push(trigger);
    }

    pub(crate) fn take_stale(
        &mut self,
        is_it: impl Fn(&StaleTrigger) -> bool,
    ) -> Option<MessageId> {
        let stale = self.stale.existing()?;
        let at = stale.iter().position(is_it)?;
        Some(stale.remove(at).message)
    }

    pub(crate) fn shrink(&mut self) {
        self.effects.shrink_to_fit();
        self.stale.release();
    }

    /// Visits every moment that something waits for. The moment of an effect's request is left out, because it is part
    /// of the effect's name: if it moved, the effect would be posted under another nonce.
    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        let stale = self.stale.existing().into_iter().flatten();
        stale.filter_map(|trigger| trigger.due.as_mut()).for_each(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetch(ticket: Ticket) -> Effect {
        Effect::FetchMembers { ticket }
    }

    #[test]
    fn tickets_rise_and_each_is_settled_once() {
        let mut pending = Pending::default();
        let now = Timestamp::from_millis(1);
        let tickets = [pending.push(fetch, now), pending.push(fetch, now)].map(|it| it.ticket());
        assert_eq!(tickets, [Some(Ticket::new(0)), Some(Ticket::new(1))]);
        assert!(pending.settle(Ticket::new(0)).is_some());
        assert!(pending.settle(Ticket::new(0)).is_none());
        assert!(!pending.contains(Ticket::new(0)) && pending.contains(Ticket::new(1)));
    }

    #[test]
    fn of_too_many_effects_and_stale_triggers_the_oldest_are_forgotten() {
        let mut pending = Pending::default();
        for id in 0..40 {
            pending.push(fetch, Timestamp::default());
            pending.add_stale(StaleTrigger { message: MessageId::new(id), due: None });
        }
        assert_eq!(pending.effects.len(), PENDING_MAX);
        assert!(pending.effects.first().is_some_and(|it| it.effect == fetch(Ticket::new(8))));
        assert_eq!(pending.stale().len(), STALE_MAX);
        assert_eq!(pending.take_stale(|_| true), Some(MessageId::new(24)));
    }

    #[test]
    fn a_trigger_is_found_by_its_turn_and_the_newest_by_age() {
        let mut pending = Pending::default();
        for turn in [7, 8] {
            let (agent, turn) = (crate::AgentKey::new(1), TurnId::new(turn));
            let trigger = |ticket| Effect::Trigger { ticket, agent, turn, attempt: 0 };
            pending.push(trigger, Timestamp::default());
        }
        assert!(pending.has_trigger_of(TurnId::new(7)) && !pending.has_trigger_of(TurnId::new(9)));
        assert_eq!(pending.newest_trigger(), Some(Ticket::new(1)));
    }
}
