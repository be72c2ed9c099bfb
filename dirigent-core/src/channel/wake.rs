//! From dormancy back to a turn (rules 27 and 35)

use super::phase::{Phase, Purpose, Start};
use super::step::Step;
use crate::{AgentKey, Cause, Refusal, Rest, WakeCause};

impl Step<'_> {
    pub(super) fn on_wake(
        &mut self,
        first: Option<AgentKey>,
        cause: WakeCause,
    ) -> Result<(), Refusal> {
        if cause != WakeCause::Operator && self.must_wait_to_wake() {
            // What was posted is there: the channel begins when it can.
            self.keep_in_mind(true);
            if !self.channel.is_stopped() {
                self.recount();
            }
            return Ok(());
        }
        self.require_going_on()?;
        if self.channel.budget_spent() {
            return Err(Refusal::BudgetSpent);
        }
        if cause == WakeCause::Operator {
            self.hear_human();
        }
        if self.channel.ceiling_reached() {
            return Err(Refusal::CeilingReached);
        }
        if self.channel.awaits_human() {
            return Err(Refusal::AwaitingHuman);
        }
        self.must_be_heard();
        let start = first.map_or(Start::First, Start::At);
        match self.channel.phase {
            Phase::Dormant => self.wake(start, cause.into()),
            Phase::Refreshing(Purpose::Wake(_)) => {}
            Phase::Unknown { .. } => self.keep_in_mind(true),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => self.veto(),
        }
        Ok(())
    }

    /// Whether turns are kept here, but none now: the channel is stopped, or has too few agents.
    fn must_wait_to_wake(&self) -> bool {
        let kept = self.channel.mode.keeps_turns() && self.channel.archived.is_none();
        kept && (self.channel.is_stopped() || self.channel.phase == Phase::Disabled)
    }

    /// Refuses what makes the channel go on where it must not, or keeps no turns.
    pub(super) fn require_going_on(&self) -> Result<(), Refusal> {
        match self.channel.rest {
            _ if self.channel.archived.is_some() => Err(Refusal::Archived),
            Some(Rest::Stopped) => Err(Refusal::Stopped),
            Some(Rest::Finished) => Err(Refusal::Finished),
            Some(Rest::Held) | None => self.require_turns(),
        }
    }

    /// A new cycle begins, with a fresh list; what was planned for another is forgotten.
    pub(super) fn wake(&mut self, start: Start, cause: Cause) {
        self.channel.forget_plans();
        self.wake_as_planned(start, cause);
    }

    /// A new cycle begins, with a fresh list.
    pub(super) fn wake_as_planned(&mut self, start: Start, cause: Cause) {
        if self.waits_for_chat() {
            return;
        }
        self.withdraw_permit();
        self.channel.reminder_due = None;
        self.channel.unheard = self.channel.missed || must_be_heard(cause);
        self.channel.missed = false;
        self.channel.limits.reminders = 0;
        self.channel.stop_awaiting();
        self.channel.list.forget_passed();
        self.forget_cycle();
        let fresh = self
            .channel
            .list_at
            .is_some_and(|at| self.channel.now.since(at) <= self.channel.config.list_fresh);
        if fresh {
            self.forget_refresh();
            self.begin_cycle(start, cause);
        } else {
            self.shift(Phase::Refreshing(Purpose::Wake(start)), None, cause);
            if self.channel.refresh.is_none() {
                self.fetch_members();
            }
        }
    }

    /// Something was said after the cycle began: everybody gets another chance.
    pub(super) fn veto(&mut self) {
        let may_start_again = self.channel.list.forget_passed();
        if !core::mem::replace(&mut self.channel.vetoed, true) || may_start_again {
            self.changed();
        }
    }
}

impl From<WakeCause> for Cause {
    fn from(cause: WakeCause) -> Self {
        match cause {
            WakeCause::Operator => Self::OperatorWake,
            WakeCause::Guide => Self::GuidePosted,
            WakeCause::Result => Self::ResultPosted,
        }
    }
}

/// Whether the channel woke for something that an agent must hear of: a person's word, or what a discussion
/// posted.
const fn must_be_heard(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::HumanMessage
            | Cause::OperatorWake
            | Cause::OperatorChoice
            | Cause::GuidePosted
            | Cause::ResultPosted
    )
}
