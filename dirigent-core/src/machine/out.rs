//! The tools of every handler beside the fields of its topic: the time, the rules, and the buffer for effects.

use alloc::vec::Vec;

use crate::state::{Floor, Pending, Phase, StaleTrigger};
use crate::{AgentKey, Cause, Config, Effect, PhaseKind, Ticket, Timestamp, Transition};

/// The output of the machine.
pub(crate) struct Out<'o> {
    pub(crate) now: Timestamp,
    pub(crate) config: &'o Config,
    pub(crate) effects: &'o mut Vec<Effect>,
    pub(crate) pending: &'o mut Pending,
    pub(crate) revision: &'o mut u64,
}

impl Out<'_> {
    /// Counts a change that a restart must not lose and that no effect shows.
    pub(crate) const fn changed(&mut self) {
        *self.revision += 1;
    }

    /// Counts a change, if there is one.
    pub(crate) const fn changed_if(&mut self, is_change: bool) {
        if is_change {
            self.changed();
        }
    }

    /// Requests an effect that need not be settled.
    pub(crate) fn emit(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Requests an effect that must be settled.
    #[inline]
    pub(crate) fn request(&mut self, effect: impl FnOnce(Ticket) -> Effect) -> Ticket {
        let ticket = Ticket::new(self.pending.next_ticket);
        let effect = self.pending.push(effect, self.now);
        self.effects.push(effect);
        ticket
    }

    /// Reports a change that is not one of phase.
    pub(crate) fn tell(&mut self, floor: &Floor, agent: Option<AgentKey>, cause: Cause) {
        self.push_transition(floor, floor.phase.kind(), agent, cause);
    }

    /// Enters another phase, and reports why.
    #[inline]
    pub(crate) fn shift(
        &mut self,
        floor: &mut Floor,
        phase: Phase,
        agent: Option<AgentKey>,
        cause: Cause,
    ) {
        let from = floor.phase.kind();
        floor.phase = phase;
        floor.last_activity_at = self.now;
        self.push_transition(floor, from, agent, cause);
    }

    #[inline]
    fn push_transition(
        &mut self,
        floor: &Floor,
        from: PhaseKind,
        agent: Option<AgentKey>,
        cause: Cause,
    ) {
        let (at, to, turn) = (self.now, floor.phase.kind(), floor.turn);
        self.effects.push(Effect::Transition(Transition { at, from, to, agent, turn, cause }));
    }

    /// Removes the stale triggers that match.
    pub(crate) fn remove_stale(&mut self, is_meant: impl Fn(&StaleTrigger) -> bool) {
        while let Some(message) = self.pending.take_stale(&is_meant) {
            self.request(|ticket| Effect::Delete { ticket, message });
        }
    }
}
