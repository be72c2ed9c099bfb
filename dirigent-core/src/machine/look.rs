//! Questions that concern more than one topic. Asking changes nothing.

use crate::state::speaker_list::Slot;
use crate::state::{Pending, Phase, State};
use crate::{AgentKey, Config, Effect, Timestamp};

/// A look at everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look<'a> {
    pub(crate) state: &'a State,
    pub(crate) pending: &'a Pending,
    pub(crate) config: &'a Config,
    pub(crate) now: Timestamp,
}

impl Look<'_> {
    /// Whether agents have talked as long as they may until a human speaks.
    pub(crate) fn ceiling_reached(&self) -> bool {
        let State { quota, standing, .. } = self.state;
        quota.ceiling_reached(self.config, standing.mode, self.now)
    }

    /// Whether no further cycle is paid for, or no further turn.
    pub(crate) fn budget_spent(&self) -> bool {
        self.state.quota.budget_spent(self.config)
    }

    /// Whether the agent has had its turns for this hour.
    pub(crate) fn is_capped(&self, agent: AgentKey) -> bool {
        self.state.quota.is_capped(agent, self.config, self.now)
    }

    /// Whether another agent has the floor, and this one spoke last: it is not asked while nothing is said.
    pub(crate) fn has_nothing_new(&self, slot: &Slot) -> bool {
        let is_others = self.state.floor.speaker().is_some_and(|speaker| speaker != slot.agent);
        is_others && slot.nothing_new && self.config.order.skip_last_speaker
    }

    /// When the turn under way is taken away, if nothing happens before.
    pub(crate) fn turn_ends_at(&self) -> Option<Timestamp> {
        self.state.floor.turn_ends_at(&self.state.standing, self.config)
    }

    /// Whether a pending wake may wake the channel.
    pub(crate) fn wakes_for_pending(&self) -> bool {
        self.may_wake() && self.state.cycle.settling().is_none()
    }

    /// The same, whether or not people are still waited for to be quiet.
    pub(crate) fn may_wake(&self) -> bool {
        let State { floor, words, standing, .. } = self.state;
        floor.phase == Phase::Dormant
            && words.wake_pending
            && !standing.is_stopped()
            && !words.awaits_human
            && !self.budget_spent()
            && !self.ceiling_reached()
            && !standing.is_chat_away()
    }

    /// Whether this effect is still wanted: a trigger is not when its turn is over, its agent runs
    /// already, or a newer one is pending; a poll is not when nothing is confirmed; a notice is while it
    /// is pending.
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
            // What was decided stands, whatever follows.
            Effect::Delete { .. } | Effect::CancelRun { .. } | Effect::Transition(_) => true,
        }
    }
}
