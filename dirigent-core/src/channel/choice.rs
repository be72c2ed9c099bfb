//! Who is next: an operator's choice, a round of the addressed, who may be granted at all (rules 29,
//! 32, 58, 59, 61 and 62)

use super::Channel;
use super::phase::{Phase, Purpose, Start};
use super::step::Step;
use crate::{AgentKey, Cause, Refusal, SeatTurn, Slot};

impl Channel {
    /// Why this agent cannot be granted when its turn comes, if it cannot.
    pub(super) fn hindrance(&self, slot: &Slot) -> Option<Cause> {
        let agent = slot.agent;
        let Some(steering) = &self.steering else {
            return self.plain_hindrance(slot);
        };
        let chosen = steering.chosen == Some(agent);
        if slot.left {
            Some(Cause::AgentLeft)
        } else if self.is_muted(agent) {
            Some(Cause::AgentMuted)
        } else if steering.is_away(agent).is_some() {
            Some(Cause::AgentOffline)
        } else if chosen {
            None
        } else if self.is_passed_over(slot) {
            Some(Cause::AgentPassed)
        } else if !steering.round.is_empty() && steering.round.binary_search(&agent).is_err() {
            Some(Cause::NotMentioned)
        } else {
            self.is_capped(agent).then_some(Cause::AgentCapped)
        }
    }

    /// The same where nothing is asked for beyond the plain rotation.
    fn plain_hindrance(&self, slot: &Slot) -> Option<Cause> {
        if slot.left {
            Some(Cause::AgentLeft)
        } else if self.is_muted(slot.agent) {
            Some(Cause::AgentMuted)
        } else {
            self.is_passed_over(slot).then_some(Cause::AgentPassed)
        }
    }

    fn is_passed_over(&self, slot: &Slot) -> bool {
        slot.passed && self.config.skip_passed
    }

    /// Whether anybody but this agent is available and not capped.
    pub(super) fn is_anybody_free_but(&self, but: Option<AgentKey>) -> bool {
        let mut agents = self.list.slots().iter().map(|slot| slot.agent);
        agents.any(|agent| Some(agent) != but && self.is_available(agent) && !self.is_capped(agent))
    }

    /// The place in the list at which a cycle starts.
    pub(super) fn place(&self, start: Start) -> usize {
        match start {
            Start::At(agent) if self.is_available(agent) => self.list.position(agent).unwrap_or(0),
            Start::First | Start::At(_) => 0,
            Start::After(sender) => self.place_after(sender).unwrap_or(0),
        }
    }

    /// The next place, around the list, whose agent can be granted.
    fn place_after(&self, sender: AgentKey) -> Option<usize> {
        let slots = self.list.slots().iter().enumerate();
        let after = self.list.position(sender)? + 1;
        let mut around = slots.clone().skip(after).chain(slots.take(after));
        around.find(|(_, slot)| self.hindrance(slot).is_none()).map(|(at, _)| at)
    }

    /// Who was chosen and can be granted.
    pub(super) fn choice(&self) -> Option<AgentKey> {
        let chosen = self.steering.as_ref()?.chosen?;
        Some(chosen).filter(|agent| self.is_available(*agent))
    }

    pub(super) fn forget_choice(&mut self) {
        if let Some(steering) = &mut self.steering {
            steering.chosen = None;
        }
    }

    /// Forgets who was chosen, and the round that has not begun.
    pub(super) fn forget_plans(&mut self) {
        if let Some(steering) = &mut self.steering {
            steering.forget_plans();
        }
    }

    /// Whether this cycle is for the addressed only.
    pub(super) fn is_round(&self) -> bool {
        self.steering.as_ref().is_some_and(|steering| !steering.round.is_empty())
    }

    /// Whether a cycle to come is for the addressed only.
    pub(super) fn is_round_planned(&self) -> bool {
        self.steering.as_ref().is_some_and(|steering| !steering.next_round.is_empty())
    }

    /// Whether a round of the addressed follows the turn that ended.
    pub(super) fn is_round_due(&self) -> bool {
        self.is_round_planned() && !self.is_round()
    }

    pub(super) fn begin_round(&mut self) {
        if let Some(steering) = &mut self.steering {
            steering.round = core::mem::take(&mut steering.next_round);
        }
    }

    pub(super) fn end_round(&mut self) {
        if let Some(steering) = &mut self.steering {
            steering.round.clear();
        }
    }
}

impl Step<'_> {
    pub(super) fn on_speak_next(&mut self, agent: AgentKey) -> Result<(), Refusal> {
        self.require_going_on()?;
        if self.channel.list.slot(agent).is_none_or(|slot| slot.left) {
            return Err(Refusal::NotListed);
        }
        if self.channel.is_muted(agent) {
            return Err(Refusal::Muted);
        }
        if self.channel.away(agent).is_some() {
            return Err(Refusal::AgentOffline);
        }
        if self.channel.speaker() == Some(agent) {
            return Err(Refusal::HasTheFloor);
        }
        if self.channel.budget_spent() {
            return Err(Refusal::BudgetSpent);
        }
        if self.channel.phase == Phase::Dormant && self.channel.is_chat_away() {
            return Err(Refusal::ChatAway);
        }
        self.hear_human();
        self.channel.steering_mut().chosen = Some(agent);
        self.changed();
        self.must_be_heard();
        match &mut self.channel.phase {
            Phase::Dormant => self.wake_as_planned(Start::At(agent), Cause::OperatorChoice),
            Phase::Refreshing(Purpose::Wake(start)) => *start = Start::At(agent),
            Phase::Refreshing(Purpose::Boundary) => self.veto(),
            Phase::Disabled
            | Phase::Dead
            | Phase::Archived
            | Phase::Unknown { .. }
            | Phase::Granted(_)
            | Phase::Running { .. }
            | Phase::Delivering { .. }
            | Phase::Confirming { .. }
            | Phase::Continuing { .. }
            | Phase::Waiting(_) => {}
        }
        Ok(())
    }

    /// Grants the agent that an operator chose, directly after the one whose turn ended.
    pub(super) fn grant_chosen(&mut self, chosen: AgentKey, after: AgentKey) {
        let list = &mut self.channel.list;
        let place = list.position(after).unwrap_or(0);
        let behind = list.position(chosen).is_some_and(|at| at > place);
        let had = list.move_to(chosen, place + usize::from(behind));
        if self.channel.last_completer == Some(chosen) {
            self.channel.last_completer = None;
        }
        if had == Some(SeatTurn::Spoke) {
            self.veto();
        }
        self.grant(chosen, Cause::OperatorChoice);
    }

    /// The channel wakes with a round of the addressed, unless an agent was chosen to be first.
    pub(super) fn plan_round_on_waking(&mut self, addressed: Option<&[AgentKey]>) {
        self.plan_round(addressed);
        let chosen = self.channel.steering.as_ref().is_some_and(|it| it.chosen.is_some());
        if let Phase::Refreshing(Purpose::Wake(start)) = &mut self.channel.phase {
            if addressed.is_some() && !chosen {
                *start = Start::First;
            }
        }
    }

    /// The addressed speak in a cycle of their own, as soon as that may begin.
    pub(super) fn plan_round(&mut self, addressed: Option<&[AgentKey]>) {
        if let Some(agents) = addressed {
            let round = &mut self.channel.steering_mut().next_round;
            round.clear();
            round.extend_from_slice(agents);
            round.sort_unstable();
            round.dedup();
            self.changed();
        }
    }
}
