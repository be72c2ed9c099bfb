//! What can be seen of the channel.

use dirigent_core::view::{Seat, SeatTurn};
use dirigent_core::{AgentKey, Config, Effect, MessageId, PhaseKind, Reason, Snapshot, TurnState};

use super::Room;

impl Room {
    /// Everything the channel knows.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.channel.snapshot().clone()
    }

    /// The rules.
    pub(crate) fn config(&self) -> &Config {
        self.channel.config()
    }

    /// Where the channel stands.
    pub(crate) fn phase(&self) -> PhaseKind {
        self.channel.view().phase()
    }

    /// How turns are kept.
    pub(crate) fn state(&self) -> TurnState {
        self.channel.view().turn_state()
    }

    /// Who has the floor.
    pub(crate) fn speaker(&self) -> Option<AgentKey> {
        self.channel.view().speaker()
    }

    /// The list in speaking order.
    pub(crate) fn order(&self) -> Vec<AgentKey> {
        self.channel.view().list().map(|seat| seat.agent).collect()
    }

    /// An agent's place in the list.
    #[track_caller]
    pub(crate) fn seat(&self, agent: AgentKey) -> Seat {
        let mut seats = self.channel.view().list();
        seats.find(|seat| seat.agent == agent).expect("listed")
    }

    /// What became of each turn of this cycle, in speaking order.
    pub(crate) fn turns(&self) -> Vec<SeatTurn> {
        self.channel.view().list().map(|seat| seat.turn).collect()
    }

    /// Why an agent may or may not speak.
    pub(crate) fn explain(&self, agent: AgentKey) -> Reason {
        self.channel.explain(agent)
    }

    /// Triggers asked for since the room was opened.
    pub(crate) fn triggers(&self) -> usize {
        let trigger = |effect: &&Effect| matches!(effect, Effect::Trigger { .. });
        self.log.iter().filter(trigger).count()
    }

    /// Grants since the room was opened.
    pub(crate) fn grants(&self) -> u64 {
        self.channel.view().turn().get()
    }

    /// The newest message.
    pub(crate) fn newest(&self) -> MessageId {
        MessageId::new(self.message)
    }
}
