//! What people said that no agent has taken yet (rule 54).

use dirigent_core::AgentKey;
use dirigent_core::view::SeatTurn;

use super::Model;
use super::resting::Range;
use super::state::{First, Phase, Purpose, Turn, TurnProgress};

impl Model {
    /// Holds messages for the next that is granted.
    pub(super) fn hold(&mut self, range: Option<Range>) {
        self.held = Range::both(self.held, range);
    }

    /// Rules 54 and 76: something new waits until an agent can be granted.
    pub(super) fn keep_in_mind(&mut self) {
        self.kept_in_mind = true;
        if self.settling.is_none() {
            self.round_to_come = None; // rule 62: for more than one in vain
        }
        self.be_news(None);
    }

    /// What no agent has taken when turns end for now is kept in mind.
    pub(super) fn keep_untaken(&mut self) {
        if std::mem::take(&mut self.untaken) || self.held.is_some() {
            self.kept_in_mind = true;
        }
        self.settling = None; // rule 79
    }

    /// An agent can be granted again.
    pub(super) fn agent_comes_back(&mut self, agent: AgentKey) {
        self.note_return(agent);
        self.wake_if_kept_in_mind();
    }

    /// Rule 54: what no agent takes in the cycle that skipped this one is for it, if it can be granted.
    pub(super) fn note_return(&mut self, agent: AgentKey) {
        let is_over = matches!(self.phase, Phase::Refreshing(Purpose::Boundary));
        let place = self.list.iter().position(|slot| slot.agent == agent);
        let Some((at, slot)) = place.and_then(|at| Some((at, self.list.get(at)?))) else {
            return;
        };
        // Rule 56 moved one that is Ahead now.
        let is_missed = slot.turn == SeatTurn::Skipped || is_over && slot.turn == SeatTurn::Ahead;
        let is_chosen = self.choice == Some(agent) && self.is_available(slot); // rule 61
        self.cycle.returned |= is_missed && (is_chosen || self.hindrance(at).is_none());
    }

    /// Rule 54: what the run of this agent was given that is cut off now.
    pub(super) fn leave_untaken(&mut self, agent: AgentKey) {
        let is_silent = |turn: &Turn| {
            let runs = matches!(turn.stage, TurnProgress::Running { .. });
            runs && turn.agent == agent && !turn.spoken && !turn.receipt
        };
        self.untaken |= self.phase.turn().is_some_and(is_silent);
    }

    /// What hindered is gone: what is kept in mind wakes.
    pub(super) fn wake_if_kept_in_mind(&mut self) {
        if self.may_wake_for_mind() && self.settling.is_none() {
            self.wake_for_mind();
        }
    }

    /// Rules 54 and 62: what is kept in mind wakes, with the round that it is kept for.
    pub(super) fn wake_for_mind(&mut self) {
        let round = self.round_to_come.take();
        self.wake_for(First::Front, round);
    }

    /// Whether nothing hinders a wake for what is kept in mind.
    pub(super) fn may_wake_for_mind(&self) -> bool {
        let may = self.phase == Phase::Dormant && !self.is_stopped() && !self.is_any_budget_spent();
        let barred = self.awaits_human || self.is_ceiling_reached() || self.chat_away.is_some();
        may && self.kept_in_mind && !barred
    }

    /// A change of mode and archiving forget what was said (rules 4, 38).
    pub(super) fn forget_words(&mut self) {
        self.kept_in_mind = false;
        self.untaken = false;
        self.settling = None;
        self.question = None;
        self.held = None;
        self.cut = None;
        self.choice = None;
        self.round_to_come = None;
        self.handed_to = None; // rule 78
        self.awaits_human = false;
    }
}
