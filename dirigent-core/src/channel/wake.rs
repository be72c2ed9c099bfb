//! From dormancy back to a turn (rules 27 and 35)

use super::phase::{Phase, Purpose};
use super::step::Step;
use crate::{AgentKey, Cause, Refusal, WakeCause};

impl Step<'_> {
    pub(super) fn on_wake(
        &mut self,
        first: Option<AgentKey>,
        cause: WakeCause,
    ) -> Result<(), Refusal> {
        if self.channel.phase == Phase::Archived {
            return Err(Refusal::Archived);
        }
        if self.channel.is_stopped() {
            return Err(Refusal::Stopped);
        }
        self.require_turns()?;
        if cause == WakeCause::Operator {
            self.hear_human();
        }
        if self.channel.ceiling_reached() {
            return Err(Refusal::CeilingReached);
        }
        match self.channel.phase {
            Phase::Dormant => self.wake(first, cause.into()),
            Phase::Refreshing(Purpose::Wake(_)) => {}
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Refreshing(_)
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Confirming { .. } => self.veto(),
        }
        Ok(())
    }

    /// A new cycle begins, with a fresh list.
    pub(super) fn wake(&mut self, first: Option<AgentKey>, cause: Cause) {
        self.withdraw_permit();
        self.channel.reminder_due = None;
        self.channel.missed = false;
        self.forget_cycle();
        let fresh = self
            .channel
            .list_at
            .is_some_and(|at| self.channel.now.since(at) <= self.channel.config.list_fresh);
        if fresh {
            self.forget_refresh();
            self.begin_cycle(first, cause);
        } else {
            self.shift(Phase::Refreshing(Purpose::Wake(first)), None, cause);
            if self.channel.refresh.is_none() {
                self.fetch_members();
            }
        }
    }

    /// Something was said after the cycle began: everybody gets another chance.
    pub(super) fn veto(&mut self) {
        if !self.channel.vetoed {
            self.channel.vetoed = true;
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
