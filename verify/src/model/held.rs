//! What people said that no agent has taken yet (rule 54).

use dirigent_core::AgentKey;
use dirigent_core::view::SeatTurn;

use super::Model;
use super::resting::Range;
use super::state::{First, Phase, Purpose, Slot};

impl Model {
    /// Holds messages for the next that is granted.
    pub(super) fn hold(&mut self, range: Option<Range>) {
        self.held = Range::both(self.held, range);
    }

    /// Rules 54 and 76: something new waits until an agent can be granted.
    pub(super) fn keep_in_mind(&mut self) {
        self.kept_in_mind = true;
        self.be_news(None);
    }

    /// What no agent has taken when turns end for now is kept in mind.
    pub(super) fn keep_untaken(&mut self) {
        if std::mem::take(&mut self.untaken) || self.held.is_some() {
            self.kept_in_mind = true;
        }
        self.forget_waking(); // rules 79 and 80
    }

    /// An agent can be granted again. Rule 54: what no agent took in the cycle that left it out is for it.
    pub(super) fn agent_comes_back(&mut self, agent: AgentKey) {
        let is_over = matches!(self.phase, Phase::Refreshing(Purpose::Boundary));
        let is_skipped = |slot: &Slot| slot.agent == agent && slot.turn == SeatTurn::Skipped;
        let is_behind = self.phase.turn().is_some() && self.list.iter().any(is_skipped);
        if (is_over || is_behind) && (self.untaken || self.held.is_some()) {
            self.veto();
        }
        self.wake_if_kept_in_mind();
    }

    /// What hindered is gone: what is kept in mind wakes.
    pub(super) fn wake_if_kept_in_mind(&mut self) {
        if self.may_wake_for_mind() && self.settling.is_none() {
            self.wake(First::Front);
        }
    }

    /// Whether nothing hinders a wake for what is kept in mind.
    pub(super) fn may_wake_for_mind(&self) -> bool {
        let may = self.phase == Phase::Dormant && !self.is_stopped() && !self.is_any_budget_spent();
        may && self.kept_in_mind && !self.awaits_human && self.chat_away.is_none()
    }

    /// A change of mode and archiving forget what was said (rules 4, 38).
    pub(super) fn forget_words(&mut self) {
        self.kept_in_mind = false;
        self.untaken = false;
        self.forget_waking();
        self.held = None;
        self.cut = None;
        self.choice = None;
        self.round_to_come = None;
        self.handed_to = None; // rule 78
        self.awaits_human = false;
    }
}
