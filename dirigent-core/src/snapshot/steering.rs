//! What is beyond the plain rotation, as plain data.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::AgentKey;
use crate::state::attendance::Away;
use crate::state::budget::Budget;
use crate::state::floor::TurnTerms;
use crate::state::hourly::SpokenTurn;
use crate::state::interruption::Waiting;
use crate::state::outage::ChatOutage;
use crate::state::queue::Span;
use crate::state::{Attendance, Hourly, Plans, Queue, Rare, State};

/// Everything a channel keeps for the rules that a plain turn does not need: messages queued, agents
/// away, choices, budgets. A channel that uses none of it owns none of it.
///
/// ```
/// use dirigent_core::snapshot::Steering;
/// use dirigent_core::view::Away;
/// use dirigent_core::AgentKey;
///
/// let mut steering = Steering::default();
/// assert!(steering.is_empty());
/// steering.away.push(Away { agent: AgentKey::new(1), offline: true });
/// assert!(!steering.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "plain data of a snapshot")]
pub struct Steering {
    /// What the turn under way has been through.
    pub terms: TurnTerms,
    /// The turn that waits while the orchestrator answers.
    pub waiting: Option<Waiting>,
    /// People's messages that the next grant hands over.
    pub queued: Option<Span>,
    /// Who is away, by ascending key.
    pub away: Vec<Away>,
    /// Who an operator wants to speak next.
    pub chosen: Option<AgentKey>,
    /// Whom this cycle is for, ascending; empty: for all agents.
    pub round: Vec<AgentKey>,
    /// Whom a cycle to come is for, ascending; empty: none is planned.
    pub next_round: Vec<AgentKey>,
    /// With whom the next cycle begins, where a ceiling, a budget, a stop or an outage cut the last one.
    pub cut: Option<AgentKey>,
    /// Only a human wakes the channel.
    pub awaits_human: bool,
    /// Turns with a reply of late, oldest first, while agents are capped.
    pub spoken: Vec<SpokenTurn>,
    /// What was used of the budgets.
    pub budget: Budget,
    /// Since when the chat does not answer.
    pub outage: Option<ChatOutage>,
}

impl Steering {
    /// Whether there is nothing to be kept.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Writes down what of a state is beyond the plain rotation.
    pub(super) fn of(state: &State) -> Option<Box<Self>> {
        let State { standing, floor, roster, cycle, words, quota, .. } = state;
        // Mostly nothing of it is in use: then nothing is put together only to be thrown away.
        let is_plain = floor.terms.get().is_none()
            && (floor.waiting.is_none() && standing.outage.is_none())
            && (words.queue.get().is_none() && !words.awaits_human)
            && (roster.attendance.get().is_none() && cycle.plans.get().is_none())
            && (quota.hourly.get().is_none() && quota.budget.get().is_none());
        if is_plain {
            return None;
        }
        let Plans { chosen, round, next_round, cut } = cycle.plans.value();
        let steering = Self {
            terms: floor.terms.value(),
            waiting: floor.waiting.as_deref().copied(),
            queued: words.queued(),
            away: roster.attendance.value().away,
            chosen,
            round,
            next_round,
            cut,
            awaits_human: words.awaits_human,
            spoken: quota.hourly.value().spoken,
            budget: quota.budget.value(),
            outage: standing.outage.as_deref().copied(),
        };
        (!steering.is_empty()).then(|| Box::new(steering))
    }

    /// Brings it back into a state.
    pub(super) fn put_into(&self, state: &mut State) {
        let Self { chosen, round, next_round, cut, .. } = self.clone();
        state.floor.terms = self.terms.into();
        state.floor.waiting = self.waiting.map(Box::new);
        state.words.queue = Queue(self.queued).into();
        state.words.awaits_human = self.awaits_human;
        state.roster.attendance = Attendance { away: self.away.clone() }.into();
        state.cycle.plans = Plans { chosen, round, next_round, cut }.into();
        state.quota.hourly = Hourly { spoken: self.spoken.clone() }.into();
        state.quota.budget = Rare::from(self.budget);
        state.standing.outage = self.outage.map(Box::new);
    }
}
