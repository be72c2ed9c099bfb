//! Waiting for people to be quiet, and questions that are deleted (rules 79 and 80).

use std::time::Duration;

use dirigent_core::{Cause, MessageId};

use super::Model;
use super::state::{Phase, Request, Turn, TurnProgress};

/// Rule 79: the longest wait.
const SETTLE_MAX: Duration = Duration::from_secs(5);

impl Model {
    /// Rule 79: whether a human's word in a dormant channel waits.
    pub(super) fn waits_for_quiet(&self) -> bool {
        !self.config.people.settle.is_zero() && self.chat_away.is_none()
    }

    /// Rule 79: a human spoke: the wait begins, or begins anew.
    pub(super) fn settle(&mut self) {
        let latest = self.settling.map_or(self.now + SETTLE_MAX, |(_, latest)| latest);
        self.settling = Some((latest.min(self.now + self.config.people.settle), latest));
    }

    /// Rule 79: people were quiet.
    pub(super) fn on_settled_down(&mut self) {
        self.settling = None;
        if self.may_wake_for_mind() {
            self.wake_for_mind();
        } else {
            self.round_to_come = None;
        }
    }

    /// Rule 80: a human's word in a dormant channel, as a question for which alone it wakes: where nothing waits already.
    pub(super) fn lone_question(&self, id: MessageId) -> Option<MessageId> {
        let is_lone = !self.kept_in_mind && self.held.is_none();
        Some(id).filter(|_| is_lone && self.config.people.withdraw_deleted)
    }

    /// `Deleted` (rule 80).
    pub(super) fn on_deleted(&mut self, id: MessageId) {
        let is_newest = self.memory.newest == Some(id);
        let is_lone = self.question == Some(id) && self.config.people.withdraw_deleted;
        if !is_newest || !is_lone {
            return;
        }
        let trigger = Request::Trigger { turn: self.turn };
        let is_owed = self.pending.iter().any(|effect| effect.what == trigger);
        let is_told = |turn: &Turn| match turn.stage {
            TurnProgress::Granted { .. } => turn.told && !is_owed && !self.is_held(),
            TurnProgress::Running { .. } => !is_owed,
            TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. }
            | TurnProgress::Waiting(_) => true,
        };
        let withdraws = match &self.phase {
            Phase::Dormant => self.kept_in_mind,
            Phase::Refreshing(_) => self.untaken,
            Phase::Turn(turn) => self.untaken && !is_told(turn),
            Phase::Disabled | Phase::Dead | Phase::Archived | Phase::Unknown { .. } => false,
        };
        if !withdraws {
            return;
        }
        self.kept_in_mind = false;
        self.untaken = false;
        self.question = None;
        self.causes.push(Cause::Withdrawn);
        if self.phase == Phase::Dormant {
            self.settling = None;
            self.choice = None;
            self.round_to_come = None;
        } else {
            self.cancel_floor();
            self.forget_refresh();
            self.enter_dormancy();
        }
    }
}
