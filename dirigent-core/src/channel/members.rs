//! Who is in the channel: reading the list, joining, leaving (rules 26, 28, 32 and 37)

use super::AGENTS_MAX;
use super::advance::EndedCycle;
use super::phase::{Phase, Purpose, Start};
use super::step::Step;
use crate::{AgentKey, Cause, Effect, Refusal, SeatTurn, Ticket, Timestamp};

/// A member list that is being read.
///
/// ```
/// use dirigent_core::{Refresh, Ticket};
/// let refresh = Refresh { ticket: Ticket::new(1), until: Default::default() };
/// assert_eq!(refresh.ticket.get(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Refresh {
    /// The debt that the answer settles.
    pub ticket: Ticket,
    /// Until when it is waited for.
    pub until: Timestamp,
}

impl Step<'_> {
    /// Asks who is there, and waits for the answer for a bounded time.
    pub(super) fn fetch_members(&mut self) {
        let ticket = self.owe(|ticket| Effect::FetchMembers { ticket });
        let until = self.channel.chat_now() + self.channel.config.refresh_deadline;
        self.channel.refresh = Some(Refresh { ticket, until });
        self.channel.asked_at = Some(self.channel.now);
    }

    /// Waits no longer for the list that is being read.
    pub(super) fn forget_refresh(&mut self) {
        if let Some(refresh) = self.channel.refresh.take() {
            self.channel.debts.settle(refresh.ticket);
        }
    }

    /// Counts the agents of a channel that has too few again, now and then.
    pub(super) fn recount(&mut self) {
        let now = self.channel.now;
        let interval = self.channel.config.recount_interval;
        let due = self.channel.asked_at.is_none_or(|at| now >= at + interval);
        if self.counts_agents() && due && self.channel.refresh.is_none() {
            self.fetch_members();
        }
    }

    /// Whether turns would be kept if there were enough agents.
    fn counts_agents(&self) -> bool {
        self.channel.phase == Phase::Disabled && self.channel.mode.keeps_turns()
    }

    pub(super) fn on_members(
        &mut self,
        ticket: Ticket,
        agents: &[AgentKey],
    ) -> Result<(), Refusal> {
        if self.channel.refresh.is_none_or(|refresh| refresh.ticket != ticket) {
            return Err(Refusal::UnknownTicket);
        }
        if agents.len() > AGENTS_MAX {
            return Err(Refusal::TooManyAgents);
        }
        self.forget_refresh();
        self.changed();
        let first_list = self.channel.list_at.is_none();
        let ended = self.ended_cycle();
        let anybody_new = self.channel.list.rebuild(agents);
        self.channel.list_at = Some(self.channel.now);
        self.forget_spoken();
        if first_list {
            self.shuffle_first();
        }
        self.go_on_with_list(ended, anybody_new);
        Ok(())
    }

    /// The very first order is random only where the host wants it so.
    pub(super) fn shuffle_first(&mut self) {
        if self.channel.config.shuffle_first && self.channel.list.len() >= 3 {
            self.channel.list.shuffle(&mut self.channel.rng, |_| true);
            self.tell(None, Cause::Reshuffled);
        }
    }

    /// The list will not come: the old one is used.
    pub(super) fn go_on_without_list(&mut self, cause: Cause) {
        self.forget_refresh();
        self.tell(None, cause);
        if self.channel.list_at.is_none() {
            return self.on_members_unknown();
        }
        self.go_on_with_list(self.ended_cycle(), false);
    }

    fn go_on_with_list(&mut self, ended: EndedCycle, anybody_new: bool) {
        let enough = self.channel.list.len() >= 2;
        match self.channel.phase {
            Phase::Disabled | Phase::Unknown { .. } if enough => {
                self.shift(Phase::Dormant, None, Cause::EnoughAgents);
                if self.channel.missed && !self.channel.is_stopped() {
                    self.wake(Start::First, Cause::EnoughAgents);
                }
            }
            Phase::Dormant | Phase::Refreshing(_) | Phase::Unknown { .. } if !enough => {
                self.disable_for_lack_of_agents();
            }
            Phase::Refreshing(Purpose::Boundary) => self.end_boundary(ended, anybody_new),
            Phase::Refreshing(Purpose::Wake(start)) => self.begin_cycle(start, Cause::NextInList),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Dormant
            | Phase::Unknown { .. }
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => {}
        }
    }

    pub(super) fn disable_for_lack_of_agents(&mut self) {
        self.leave_turns(Phase::Disabled, Cause::TooFewAgents);
    }

    /// Keeps no turns for now: nothing of the cycle is kept but what people said.
    pub(super) fn leave_turns(&mut self, phase: Phase, cause: Cause) {
        self.withdraw_permit();
        self.channel.reminder_due = None;
        self.forget_cycle();
        self.channel.forget_plans();
        self.channel.stop_awaiting();
        self.channel.keep_unheard();
        self.shift(phase, None, cause);
    }

    pub(super) fn on_joined(&mut self, agent: AgentKey) {
        if !self.channel.mode.keeps_turns() || self.channel.archived.is_some() {
            return;
        }
        let mut cleared = false;
        if let Some(slot) = self.channel.list.slot_mut(agent) {
            if core::mem::take(&mut slot.left) {
                self.changed();
                cleared = true;
            }
        }
        if self.channel.refresh.is_none() {
            if self.counts_agents() {
                self.fetch_members();
            }
            self.ask_again();
        }
        if cleared {
            self.wake_for_missed();
        }
    }

    pub(super) fn on_left(&mut self, agent: AgentKey) {
        if !self.channel.mode.keeps_turns() || self.channel.archived.is_some() {
            return;
        }
        if let Some(slot) = self.channel.list.slot_mut(agent) {
            if !core::mem::replace(&mut slot.left, true) {
                self.changed();
            }
        }
        self.take_floor_from(agent, Cause::AgentLeft);
    }

    /// Ends the agent's turn or permit, if it has one.
    pub(super) fn take_floor_from(&mut self, agent: AgentKey, cause: Cause) {
        self.take_permit_from(agent);
        if self.channel.speaker() == Some(agent) {
            self.cancel_turn_run();
            self.complete(agent, SeatTurn::Skipped, cause);
        }
    }
}
