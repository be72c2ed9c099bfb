//! Waiting for people to be quiet, and questions that are deleted (rules 79 and 80).

use std::time::Duration;

use dirigent_core::{Cause, MessageId};

use super::Model;
use super::state::{First, Phase, Purpose, Request, TurnProgress};

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
        let question = self.question.take();
        let round = self.round_to_come.take();
        if self.may_wake_for_mind() {
            self.wake_for(First::Front, round);
            self.question = question;
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
        let is_told = self.pending.iter().all(|effect| effect.what != trigger);
        let held = self.is_held();
        let waits = |stage: &TurnProgress| match stage {
            TurnProgress::Granted { .. } => !is_told || held,
            TurnProgress::Running { .. } => !is_told,
            TurnProgress::Delivering
            | TurnProgress::Confirming(_)
            | TurnProgress::Continuing { .. }
            | TurnProgress::Waiting(_) => false,
        };
        let has_turn = self.phase.turn().is_some_and(|turn| waits(&turn.stage));
        let waking = matches!(self.phase, Phase::Refreshing(Purpose::Waking { .. }));
        if self.phase == Phase::Dormant {
            self.kept_in_mind = false;
            self.forget_waking();
            self.choice = None;
            self.round_to_come = None;
            self.causes.push(Cause::Withdrawn);
        } else if self.untaken && (has_turn || waking) {
            self.untaken = false;
            self.kept_in_mind = false;
            self.cancel_floor();
            self.forget_refresh();
            self.causes.push(Cause::Withdrawn);
            self.enter_dormancy();
        }
    }

    /// A wake is waited for no longer, or is for more than one message.
    pub(super) fn forget_waking(&mut self) {
        self.settling = None;
        self.question = None;
    }
}
