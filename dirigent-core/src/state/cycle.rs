//! The cycle under way, whom it is for, and who was chosen (rules 29, 32, 58, 61 and 62).

use alloc::vec::Vec;

use crate::state::rare::Rare;
use crate::state::speaker_list::SpeakerList;
use crate::state::words::Words;
use crate::values::config::MentionRule;
use crate::{AgentKey, MessageId, Timestamp, TurnId};

/// What is known of a cycle beyond what stands in the list.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Cycle::default().last_completer, None);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Cycle {
    /// Who completed a turn last in this cycle.
    pub last_completer: Option<AgentKey>,
    /// Who was chosen, and rounds of the addressed.
    pub plans: Rare<Plans>,
}

/// What people and operators chose beyond the plain rotation.
///
/// ```
/// assert!(dirigent_core::snapshot::Plans::default().round.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plans {
    /// Who an operator wants to speak next.
    pub chosen: Option<AgentKey>,
    /// To whom the agent that has the floor hands over with its reply.
    pub handed_to: Option<AgentKey>,
    /// Whom this cycle is for, ascending; empty: for all agents.
    pub round: Vec<AgentKey>,
    /// Whom a cycle to come is for, ascending; empty: none is planned.
    pub next_round: Vec<AgentKey>,
    /// With whom the next cycle begins, where the last one was cut.
    pub cut: Option<AgentKey>,
    /// Until when the channel waits for people to be quiet before it wakes.
    pub settling: Option<Settling>,
    /// The one message for which the channel wakes.
    pub question: Option<MessageId>,
    /// The newest turn whose agent was told of it.
    pub told: Option<TurnId>,
}

/// How long a dormant channel waits for people to be quiet.
///
/// ```
/// use dirigent_core::{Timestamp, snapshot::Settling};
/// let settling = Settling { until: Timestamp::from_millis(5), latest: Timestamp::from_millis(9) };
/// assert!(settling.until <= settling.latest);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// When it wakes, if nothing more is said.
    pub until: Timestamp,
    /// When it wakes at the latest.
    pub latest: Timestamp,
}

impl Cycle {
    /// Forgets the cycle: no agent has taken a turn, and nothing asks for another cycle.
    pub(crate) fn forget(&mut self, list: &mut SpeakerList, words: &mut Words) {
        list.begin_cycle();
        self.last_completer = None;
        (words.cycle_requested, words.returned) = (false, false);
        if let Some(plans) = self.plans.existing() {
            plans.round.clear();
        }
    }

    /// Who was chosen, available or not.
    pub(crate) fn chosen(&self) -> Option<AgentKey> {
        self.plans.get().and_then(|plans| plans.chosen)
    }

    pub(crate) fn forget_choice(&mut self) {
        if let Some(plans) = self.plans.existing() {
            plans.chosen = None;
        }
    }

    /// The cycle ends before this agent's turn: the next one begins with it, or the last of many agents would
    /// never be asked.
    pub(crate) fn cut_at(&mut self, agent: Option<AgentKey>) {
        if agent.is_some() || self.plans.get().is_some() {
            self.plans.edit().cut = agent;
        }
    }

    /// With whom a cycle goes on that was cut; from now on it is none.
    pub(crate) fn take_cut(&mut self) -> Option<AgentKey> {
        self.plans.existing().and_then(|plans| plans.cut.take())
    }

    pub(crate) fn settling(&self) -> Option<Settling> {
        self.plans.get().and_then(|plans| plans.settling)
    }

    /// The one message for which the channel wakes, or woke.
    pub(crate) fn question(&self) -> Option<MessageId> {
        self.plans.get().and_then(|plans| plans.question)
    }

    /// The channel wakes for more than one message, or for none. Gives whether that changes anything.
    pub(crate) fn forget_question(&mut self) -> bool {
        let plans = self.plans.existing();
        plans.is_some_and(|plans| {
            plans.told = None;
            plans.question.take().is_some()
        })
    }

    /// No turn goes on: a question for which none waits has been answered.
    pub(crate) fn forget_answered(&mut self, words: &Words) {
        if !words.wake_pending {
            self.forget_question();
        }
    }

    /// The agent of this turn was told of it, and so of the question.
    pub(crate) fn tell(&mut self, turn: TurnId) {
        if let Some(plans) = self.plans.existing().filter(|plans| plans.question.is_some()) {
            plans.told = plans.told.max(Some(turn));
        }
    }

    /// Whether the agent of this turn was told of the question.
    pub(crate) fn is_told(&self, turn: TurnId) -> bool {
        self.plans.get().is_some_and(|plans| plans.told == Some(turn))
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        let plans = self.plans.existing();
        if let Some(Settling { until, latest }) = plans.and_then(|it| it.settling.as_mut()) {
            visit(until);
            visit(latest);
        }
    }

    /// To whom the turn that ended hands over; from now on there is none.
    pub(crate) fn take_handed_to(&mut self) -> Option<AgentKey> {
        self.plans.existing().and_then(|plans| plans.handed_to.take())
    }

    /// Forgets who was chosen, the round that has not begun, and what a wake to come waits for.
    pub(crate) fn forget_plans(&mut self) {
        if let Some(plans) = self.plans.existing() {
            (plans.chosen, plans.handed_to) = (None, None);
            plans.settling = None;
            plans.next_round.clear();
        }
    }

    pub(crate) fn forget_planned_round(&mut self) {
        if let Some(plans) = self.plans.existing() {
            plans.next_round.clear();
        }
    }

    /// Whom this cycle was for, if it was a round of the addressed.
    pub(crate) fn take_round(&mut self) -> Vec<AgentKey> {
        self.plans.existing().map(|plans| core::mem::take(&mut plans.round)).unwrap_or_default()
    }

    /// Whether this cycle is for the addressed only.
    pub(crate) fn is_round(&self) -> bool {
        self.plans.get().is_some_and(|plans| !plans.round.is_empty())
    }

    /// Whether this cycle is not for this agent.
    pub(crate) fn leaves_out(&self, agent: AgentKey) -> bool {
        self.plans
            .get()
            .is_some_and(|it| !it.round.is_empty() && it.round.binary_search(&agent).is_err())
    }

    /// Whether a cycle to come is for the addressed only.
    pub(crate) fn is_round_planned(&self) -> bool {
        self.plans.get().is_some_and(|plans| !plans.next_round.is_empty())
    }

    /// Whether a round of the addressed follows the turn that ended.
    pub(crate) fn is_round_due(&self) -> bool {
        self.is_round_planned() && !self.is_round()
    }

    /// The planned round begins with this cycle: the addressed are first, or it is for them only.
    pub(crate) fn begin_round(&mut self, list: &mut SpeakerList, rule: MentionRule) {
        let Some(plans) = self.plans.existing() else {
            return;
        };
        match rule {
            MentionRule::Only => core::mem::swap(&mut plans.round, &mut plans.next_round),
            MentionRule::First => list.put_first(&plans.next_round),
            MentionRule::Ignored => {}
        }
        plans.next_round.clear();
    }

    /// These agents speak in a cycle of their own, as soon as that may begin.
    pub(crate) fn plan_round(&mut self, agents: &[AgentKey]) {
        let round = &mut self.plans.edit().next_round;
        round.clear();
        round.extend_from_slice(agents);
        round.sort_unstable();
        round.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_planned_round_is_for_each_addressed_agent_once_and_ends_with_its_cycle() {
        let mut cycle = Cycle::default();
        let [one, two, three] = [1, 2, 3].map(AgentKey::new);
        cycle.plan_round(&[three, one, three]);
        assert!(cycle.is_round_due() && !cycle.is_round() && !cycle.leaves_out(two));
        cycle.begin_round(&mut SpeakerList::default(), MentionRule::Only);
        assert!(cycle.is_round() && !cycle.is_round_planned());
        assert_eq!([one, two, three].map(|agent| cycle.leaves_out(agent)), [false, true, false]);
        cycle.forget(&mut SpeakerList::default(), &mut Words::default());
        assert!(!cycle.is_round());
        cycle.plans.release();
        assert_eq!(cycle, Cycle::default(), "nothing of it is left");
    }

    #[test]
    fn another_cycle_is_requested_once() {
        let (mut words, mut list) = (Words::default(), SpeakerList::default());
        assert!(words.request_cycle(&mut list) && !words.request_cycle(&mut list));
        Cycle::default().forget(&mut list, &mut words);
        assert!(words.request_cycle(&mut list));
    }

    #[test]
    fn forgetting_the_plans_keeps_the_round_under_way() {
        let mut cycle = Cycle::default();
        cycle.plan_round(&[AgentKey::new(1)]);
        cycle.begin_round(&mut SpeakerList::default(), MentionRule::Only);
        cycle.plan_round(&[AgentKey::new(2)]);
        cycle.plans.edit().chosen = Some(AgentKey::new(2));
        cycle.forget_plans();
        assert!(cycle.is_round() && !cycle.is_round_planned() && cycle.chosen().is_none());
    }
}
