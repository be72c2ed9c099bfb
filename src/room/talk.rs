//! Detects agents that repeat themselves since the last message of a person.

use dirigent_core::AgentKey;

use crate::text::repetition::{Recent, Said};

/// The texts of agents since a person last wrote, for comparison.
#[derive(Debug, Default)]
pub(super) struct RepetitionMemory {
    /// `None` while the agents are silent.
    said: Option<Box<Recent>>,
    /// The agents with a newest reply that only repeated what was said. They learn it with their next turn.
    repeated: Vec<AgentKey>,
}

impl RepetitionMemory {
    /// Records a reply of an agent. Returns whether it repeats what was said.
    pub(super) fn repeats(&mut self, agent: AgentKey, said: Said<'_>, names: &[u64]) -> bool {
        let is_repeated = self.echoes(agent, said, names);
        match self.repeated.iter().position(|known| *known == agent) {
            None if is_repeated => self.repeated.push(agent),
            Some(at) if !is_repeated => _ = self.repeated.swap_remove(at),
            None | Some(_) => {}
        }
        is_repeated
    }

    /// Compares a post of an agent without the floor. Returns whether it repeats what was said. The agent does not
    /// learn it.
    pub(super) fn echoes(&mut self, agent: AgentKey, said: Said<'_>, names: &[u64]) -> bool {
        self.said.get_or_insert_default().is_repeated(agent, said, names)
    }

    pub(super) fn is_repeated(&self, agent: AgentKey) -> bool {
        self.repeated.contains(&agent)
    }

    /// Records a person's message. Everything that is said from now on answers it.
    pub(super) fn begin(&mut self, text: &str, names: &[u64]) {
        self.said.get_or_insert_default().begin(text, names);
    }

    pub(super) fn end(&mut self) {
        self.said = None;
    }

    /// Like [`RepetitionMemory::is_repeated`], and records that the agent learns it now.
    pub(super) fn take_repeated(&mut self, agent: AgentKey) -> bool {
        let at = self.repeated.iter().position(|known| *known == agent);
        at.is_some_and(|at| self.repeated.swap_remove(at) == agent)
    }
}
