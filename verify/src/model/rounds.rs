//! Rounds of the addressed (rule 62), and the wait for a person (rule 63).

use dirigent_core::{AgentKey, Author, Cause};

use super::Model;

impl Model {
    /// The round that a message asks for, if it does.
    pub(super) fn round_of(
        &self,
        author: Author,
        addressed: Option<&[AgentKey]>,
    ) -> Option<Vec<AgentKey>> {
        let agents = addressed.filter(|_| self.config.mention_rounds && author == Author::Human)?;
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
