//! Rounds of the addressed (rule 62), and the wait for a person (rule 63).

use dirigent_core::config::MentionRule;
use dirigent_core::{AgentKey, Author, Cause};

use super::Model;
use super::state::Slot;

impl Model {
    /// The round that a message asks for, if it does.
    pub(super) fn round_of(
        &self,
        author: Author,
        addressed: Option<&[AgentKey]>,
    ) -> Option<Vec<AgentKey>> {
        let counts = self.config.people.mentions != MentionRule::Ignored && author == Author::Human;
        let agents = addressed.filter(|_| counts)?;
        let mut slots = self.list.iter();
        let meant = slots.any(|slot| agents.contains(&slot.agent) && self.is_available(slot));
        meant.then(|| agents.to_vec())
    }

    /// A round to come replaces another.
    pub(super) fn plan_round(&mut self, round: Option<Vec<AgentKey>>) {
        if round.is_some() {
            self.round_to_come = round;
        }
    }

    /// The agents that are put first when the round to come begins.
    pub(super) fn put_first(&self) -> Option<&[AgentKey]> {
        let first = self.config.people.mentions == MentionRule::First;
        self.round_to_come.as_deref().filter(|_| first)
    }

    /// The round to come begins with this cycle.
    pub(super) fn begin_round(&mut self) {
        if let Some(addressed) = self.put_first() {
            let is_meant = |slot: &Slot| addressed.contains(&slot.agent);
            let (mut front, behind) = self.list.iter().cloned().partition::<Vec<_>, _>(is_meant);
            front.extend(behind);
            self.list = front;
        }
        let round = self.round_to_come.take();
        self.round = round.filter(|_| self.config.people.mentions == MentionRule::Only);
    }

    /// After a turn, the order of those who are not put first goes on behind the slot at this place.
    pub(super) fn turn_list_behind(&mut self, at: Option<usize>) {
        if let Some(at) = at {
            let before: Vec<Slot> = self.list.drain(..=at).collect();
            self.list.extend(before);
        }
    }

    /// Rule 63: whether the turn's end, if it is a real one, is followed by a wait for a person.
    pub(super) fn awaits_a_person(&self) -> bool {
        let asks = self.phase.turn().is_some_and(|turn| turn.awaits_human);
        let goes_on = self.held.is_some() || self.choice.is_some() || self.round_to_come.is_some();
        asks && !goes_on
    }

    /// Rule 63: no agent speaks until a person does.
    pub(super) fn await_a_person(&mut self) {
        self.causes.push(Cause::AwaitingHuman);
        self.fall_asleep(); // no reminder
        self.awaits_human = true;
    }
}
