//! Questions that concern more than one topic. Asking them changes no state.

use crate::state::speaker_list::Slot;
use crate::state::{Pending, Phase, State};
use crate::{AgentKey, Config, Effect, Timestamp};

/// Read-only access to the whole channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) state: &'a State,
    pub(crate) pending: &'a Pending,
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
}

impl Look<'_> {
    /// Returns true if agents have talked for as long as they may until a human speaks.
    pub(crate) fn ceiling_reached(&self) -> bool {
        let State { quota, standing, .. } = self.state;
        quota.ceiling_reached(self.config, standing.mode, self.now)
    }

    /// Returns true if there is no budget for another cycle or turn.
    pub(crate) fn budget_spent(&self) -> bool {
        self.state.quota.budget_spent(self.config)
    }

    /// Returns true if the agent has had its turns for this hour.
    pub(crate) fn is_capped(&self, agent: AgentKey) -> bool {
        self.state.quota.is_capped(agent, self.config, self.now)
    }

    /// Returns true if another agent has the floor and this one spoke last. It is not asked while no author says
    /// anything new.
    pub(crate) fn has_nothing_new(&self, slot: &Slot) -> bool {
        let is_others = self.state.floor.speaker().is_some_and(|speaker| speaker != slot.agent);
        is_others && slot.nothing_new && self.config.order.skip_last_speaker
    }

    /// Returns when the turn under way is taken away, unless something happens before.
    pub(crate) fn turn_ends_at(&self) -> Option<Timestamp> {
        self.state.floor.turn_ends_at(&self.state.standing, self.config)
    }

    /// Returns true if a pending wake may wake the channel.
    pub(crate) fn wakes_for_pending(&self) -> bool {
        self.may_wake() && self.state.cycle.settling().is_none()
    }

    /// Returns true if a pending wake may wake the channel, even if people are not quiet yet.
    pub(crate) fn may_wake(&self) -> bool {
        let State { floor, words, standing, .. } = self.state;
        // A pending wake waits at a ceiling. When it did not, each return of an agent reminded the initiator anew.
        floor.phase == Phase::Dormant
            && words.wake_pending
            && !standing.is_stopped()
            && !words.awaits_human
            && !self.budget_spent()
            && !self.ceiling_reached()
            && !standing.is_chat_away()
    }

    /// Returns true if this effect is still wanted. A trigger is not wanted if its turn is over, its agent runs
    /// already, or a newer one is pending. A poll is wanted only during a confirmation. A notice is wanted as long as
    /// it is pending.
    pub(crate) fn wants(&self, effect: &Effect) -> bool {
        let State { floor, standing, roster, delivery, .. } = self.state;
        match *effect {
            Effect::Trigger { ticket, turn, .. } => {
                let waits = floor.phase.awaits_start() && !standing.is_paused();
                waits && turn == floor.turn && self.pending.newest_trigger() == Some(ticket)
            }
            Effect::Poll { ticket, .. } => {
                let confirms = matches!(floor.phase, Phase::Confirming { .. });
                confirms && delivery.as_ref().is_some_and(|it| it.polls.open == Some(ticket))
            }
            Effect::FetchMembers { ticket } => roster.refresh.is_some_and(|r| r.ticket == ticket),
            Effect::Reminder { initiator, .. } => {
                matches!(floor.phase, Phase::Dormant)
                    && standing.initiator == Some(initiator)
                    && !standing.is_paused()
            }
            Effect::Inject { turn, .. } | Effect::Deliver { turn, .. } => turn == floor.turn,
            Effect::Consult { ticket, .. } => {
                floor.waiting.as_ref().is_some_and(|waiting| waiting.consult == ticket)
            }
            Effect::Notice { ticket, .. } => self.pending.contains(ticket),
            // These were decided for good, whatever follows.
            Effect::Delete { .. } | Effect::CancelRun { .. } | Effect::Transition(_) => true,
        }
    }
}
