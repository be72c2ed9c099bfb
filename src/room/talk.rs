//! Detects agents that repeat themselves since the last message of a person.

use dirigent_core::AgentKey;

use crate::text::repetition::{Recent, Said};

/// The texts of agents since a person last wrote, as far as repetitions can be recognised.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// Empty while the agents are silent.
    said: Option<Box<Recent>>,
    /// Agents whose newest reply said nothing new, and who learn it with their next turn.
    repeated: Vec<AgentKey>,
}

impl Talk {
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

    /// An agent posts something without the floor. Returns whether it repeats what is said; the agent is not told.
    pub(super) fn echoes(&mut self, agent: AgentKey, said: Said<'_>, names: &[u64]) -> bool {
        self.said.get_or_insert_default().is_repeated(agent, said, names)
    }

    /// Whether the agent's newest reply said nothing new.
    pub(super) fn is_repeated(&self, agent: AgentKey) -> bool {
        self.repeated.contains(&agent)
    }

    /// A person has written this: what is said from now on answers that.
    pub(super) fn begin(&mut self, text: &str, names: &[u64]) {
        self.said.get_or_insert_default().begin(text, names);
    }

    /// The talk is over.
    pub(super) fn end(&mut self) {
        self.said = None;
    }

    /// Whether the agent's newest reply said nothing new, and it was not told yet.
    pub(super) fn take_repeated(&mut self, agent: AgentKey) -> bool {
        let at = self.repeated.iter().position(|known| *known == agent);
        at.is_some_and(|at| self.repeated.swap_remove(at) == agent)
    }
}
