//! What people said that no agent has heard yet (rule 54).

use super::Model;
use super::resting::Range;
use super::state::{First, Phase, Purpose, Request, Turn};

impl Model {
    /// Holds messages for the next that is granted.
    pub(super) fn hold(&mut self, range: Option<Range>) {
        self.held = Range::both(self.held, range);
    }

    /// Rule 54: whether the agent of this turn does not run, or its trigger is still pending.
    pub(super) fn is_agent_to_be_reached(&self) -> bool {
        let runs = |turn: &Turn| turn.listens() || turn.confirming().is_some();
        let runs = self.phase.turn().is_some_and(runs);
        let trigger = Request::Trigger { turn: self.turn };
        !runs || self.pending.iter().any(|effect| effect.what == trigger)
    }

    /// Rules 54 and 76: something new waits until an agent can be granted.
    pub(super) fn keep_in_mind(&mut self) {
        self.kept_in_mind = true;
        self.be_news(None);
    }

    /// What no agent has heard when turns end for now is kept in mind.
    pub(super) fn keep_unheard(&mut self) {
        if std::mem::take(&mut self.unheard) || self.held.is_some() {
            self.kept_in_mind = true;
        }
        self.forget_waking(); // rules 79 and 80
    }

    /// An agent can be granted again. Rule 54: what no agent took in the cycle that just ended is for it.
    pub(super) fn agent_comes_back(&mut self) {
        let is_over = matches!(self.phase, Phase::Refreshing(Purpose::Boundary));
        if is_over && (self.unheard || self.held.is_some()) {
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
        self.unheard = false;
        self.forget_waking();
        self.held = None;
        self.cut = None;
        self.choice = None;
        self.round_to_come = None;
        self.handed_to = None; // rule 78
        self.awaits_human = false;
    }
}
