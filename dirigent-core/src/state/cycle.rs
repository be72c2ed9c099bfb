//! The cycle under way, the agents that it is for, and the choices of who is next (rules 29, 32, 58, 61 and 62).

use alloc::vec::Vec;

use crate::state::rare::Rare;
use crate::state::speaker_list::SpeakerList;
use crate::state::words::Words;
use crate::values::config::MentionRule;
use crate::{AgentKey, MessageId, Timestamp, TurnId};

/// The state of a cycle that does not stand in the list.
///
/// ```
/// assert_eq!(dirigent_core::snapshot::Cycle::default().last_completer, None);
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Cycle {
    /// The agent that last completed a turn in this cycle.
    pub last_completer: Option<AgentKey>,
    /// The choices and rounds that people and operators asked for.
    pub plans: Rare<Plans>,
}

/// The choices that people, operators and agents made beyond the plain rotation.
///
/// ```
/// assert!(dirigent_core::snapshot::Plans::default().round.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plans {
    /// The agent that an operator wants to speak next.
    pub chosen: Option<AgentKey>,
    /// The agent that the speaker names as the next one with its reply.
    pub handed_to: Option<AgentKey>,
    /// The agents that this cycle is for, ascending. If empty, it is for all agents.
    pub round: Vec<AgentKey>,
    /// The agents that a later cycle is for, ascending. If empty, no such cycle is planned.
    pub next_round: Vec<AgentKey>,
    /// The agent that begins the next cycle, because the last one was cut before its turn.
    pub cut: Option<AgentKey>,
    /// The wait for people to be quiet, before the channel wakes.
    pub settling: Option<Settling>,
    /// The only message that the channel wakes for.
    pub question: Option<MessageId>,
    /// The newest turn with a trigger that has reached its agent.
    pub told: Option<TurnId>,
}

/// The wait of a dormant channel until people are quiet.
///
/// ```
/// use dirigent_core::{Timestamp, snapshot::Settling};
/// let settling = Settling { until: Timestamp::from_millis(5), latest: Timestamp::from_millis(9) };
/// assert!(settling.until <= settling.latest);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settling {
    /// The moment of the wake if no more is said.
    pub until: Timestamp,
    /// The latest moment of the wake.
    pub latest: Timestamp,
}

impl Cycle {
    /// Forgets the cycle: all turns are ahead again, and no other cycle is requested.
    pub(crate) fn forget(&mut self, list: &mut SpeakerList, words: &mut Words) {
        list.begin_cycle();
        self.last_completer = None;
        (words.cycle_requested, words.returned) = (false, false);
        if let Some(plans) = self.plans.existing() {
            plans.round.clear();
        }
    }

    pub(crate) fn chosen(&self) -> Option<AgentKey> {
        self.plans.get().and_then(|plans| plans.chosen)
    }

    pub(crate) fn forget_choice(&mut self) {
        if let Some(plans) = self.plans.existing() {
            plans.chosen = None;
        }
    }

    /// Stores the agent before which the cycle was cut. The next cycle begins with it. Without that, the last of 64
    /// agents would never have its turn, because a ceiling of 60 turns cuts every cycle.
    pub(crate) fn cut_at(&mut self, agent: Option<AgentKey>) {
        // Without a cut there is nothing to store, and most channels never need this memory.
        if agent.is_some() || self.plans.get().is_some() {
            self.plans.edit().cut = agent;
        }
    }

    /// Returns the agent that begins where a cycle was cut, and forgets it.
    pub(crate) fn take_cut(&mut self) -> Option<AgentKey> {
        self.plans.existing().and_then(|plans| plans.cut.take())
    }

    pub(crate) fn settling(&self) -> Option<Settling> {
        self.plans.get().and_then(|plans| plans.settling)
    }

    /// Returns the only message that the channel wakes for, or woke for.
    pub(crate) fn question(&self) -> Option<MessageId> {
        self.plans.get().and_then(|plans| plans.question)
    }

    /// Forgets the question, because the channel wakes for more than one message, or for none. Returns true if there
    /// was a question.
    pub(crate) fn forget_question(&mut self) -> bool {
        let plans = self.plans.existing();
        plans.is_some_and(|plans| {
            plans.told = None;
            plans.question.take().is_some()
        })
    }

    /// Forgets a question that was answered. It was, if no turn goes on and no wake is pending.
    pub(crate) fn forget_answered(&mut self, words: &Words) {
        // A pending wake may still be for this question.
        if !words.wake_pending {
            self.forget_question();
        }
    }

    /// Notes that the agent of this turn received its trigger, and with it the question.
    pub(crate) fn tell(&mut self, turn: TurnId) {
        if let Some(plans) = self.plans.existing().filter(|plans| plans.question.is_some()) {
            // Settlements may come out of order, and the newest turn counts.
            plans.told = plans.told.max(Some(turn));
        }
    }

    /// Returns true if the agent of this turn received the question.
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

    /// Returns the agent that the ended turn named as the next, and forgets it.
    pub(crate) fn take_handed_to(&mut self) -> Option<AgentKey> {
        self.plans.existing().and_then(|plans| plans.handed_to.take())
    }

    /// Forgets the chosen agent, the round that has not begun, and the wait for people to be quiet.
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

    /// Takes the agents that this cycle was for, if it was a round of the addressed.
    pub(crate) fn take_round(&mut self) -> Vec<AgentKey> {
        self.plans.existing().map(|plans| core::mem::take(&mut plans.round)).unwrap_or_default()
    }

    /// Returns true if this cycle is only for the addressed.
    pub(crate) fn is_round(&self) -> bool {
        self.plans.get().is_some_and(|plans| !plans.round.is_empty())
    }

    /// Returns true if this cycle is not for this agent.
    pub(crate) fn leaves_out(&self, agent: AgentKey) -> bool {
        self.plans
            .get()
            .is_some_and(|it| !it.round.is_empty() && it.round.binary_search(&agent).is_err())
    }

    /// Returns true if a round of the addressed is planned.
    pub(crate) fn is_round_planned(&self) -> bool {
        self.plans.get().is_some_and(|plans| !plans.next_round.is_empty())
    }

    /// Returns true if a round of the addressed follows the turn that ended.
    pub(crate) fn is_round_due(&self) -> bool {
        self.is_round_planned() && !self.is_round()
    }

    /// Begins the planned round with this cycle. The addressed come first, or the cycle is only for them.
    pub(crate) fn begin_round(&mut self, list: &mut SpeakerList, rule: MentionRule) {
        let Some(plans) = self.plans.existing() else {
            return;
        };
        // Only the rule "only" leaves other agents out. With "first" they follow in the same cycle.
        match rule {
            MentionRule::Only => core::mem::swap(&mut plans.round, &mut plans.next_round),
            MentionRule::First => list.put_first(&plans.next_round),
            MentionRule::Ignored => {}
        }
        plans.next_round.clear();
    }

    /// Plans a cycle for these agents, which begins as soon as it may.
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
