//! Crashes and returns of agents, choices of operators, mentions and costs.

use dirigent_core::{AgentKey, Input};

use super::agenda::Happening;
use super::room::Record;
use super::world::World;
use crate::invariants::Violation;

impl World {
    /// A message as the host tells it: with whom it mentions, if it mentions anybody.
    pub(super) fn told(&self, record: &Record) -> Input {
        let mentioned = self.cast.iter().enumerate();
        let mentioned = mentioned.filter(|(place, _)| record.mentions >> place.min(&63) & 1 == 1);
        let agents: Vec<AgentKey> = mentioned.map(|(_, agent)| agent.key).collect();
        let message = record.message();
        if agents.is_empty() {
            Input::Message(message)
        } else {
            Input::Addressed { message, agents }
        }
    }

    /// An agent that is here crashes; one that crashed is back, or is assigned.
    pub(super) fn come_back(&mut self, place: u8, assigned: bool) -> Result<(), Violation> {
        let Some(agent) = self.cast.get_mut(usize::from(place)) else {
            return Ok(());
        };
        let key = agent.key;
        if assigned {
            return self.feed(&Input::Assign(key)).map(drop);
        }
        agent.offline = !agent.offline;
        if agent.offline {
            agent.run = None;
            let back = self.time + self.dice.between(500, 400_000);
            self.agenda.add(back, Happening::Back { agent: place, assigned: false });
            return self.feed(&Input::Offline(key)).map(drop);
        }
        if self.dice.hits(900_000) {
            let assigned = self.time + self.dice.between(0, 100_000);
            self.agenda.add(assigned, Happening::Back { agent: place, assigned: true });
        }
        self.feed(&Input::Online(key)).map(drop)
    }

    /// What a run cost, where the host reports it.
    pub(super) fn report_cost(&mut self) -> Result<(), Violation> {
        if !self.dice.hits(300_000) {
            return Ok(());
        }
        let cost = self.dice.below(100);
        self.feed(&Input::Spent { cost }).map(drop)
    }

    /// Operators choose, finish, assign and reset; hosts tell of crashes, some of them untrue.
    pub(super) fn steer(&mut self) -> Result<(), Violation> {
        let count = u64::try_from(self.cast.len()).unwrap_or(0);
        let place = u8::try_from(self.dice.below(count)).unwrap_or(0);
        let someone = self.agent(place).map(|agent| agent.key).unwrap_or_default();
        let input = match self.dice.below(100) {
            0..=34 => Input::SpeakNext(someone),
            35..=39 => Input::Finish,
            40..=54 => Input::ResetBudget,
            55..=69 => Input::Assign(someone),
            70..=79 => return self.come_back(place, false),
            80..=89 => Input::Online(someone),
            90..=94 => Input::Offline(someone),
            _ => return self.report_cost(),
        };
        self.feed(&input).map(drop)
    }
}
