//! What a channel looks like, and why.

use dirigent_core::{Mode, PhaseKind, Reason, Rest, Seat, Transition, TurnId, TurnState};

use crate::events::{ChannelEvent, Transitions};
use crate::room::Room;
use crate::{AgentId, CallError, ChannelId, Dirigent, Explanation};

/// A channel's state at one moment (F11).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// What the channel is for.
    pub mode: Mode,
    /// How turns are kept.
    pub turn_state: TurnState,
    /// The phase.
    pub phase: PhaseKind,
    /// Stopped or on hold.
    pub rest: Option<Rest>,
    /// Who has the floor.
    pub speaker: Option<AgentId>,
    /// The newest turn.
    pub turn: TurnId,
    /// The speaker list in order: who, and what became of the turn in this cycle.
    pub list: Vec<(AgentId, Seat)>,
    /// Turns since a human last spoke.
    pub turns_since_human: u32,
    /// Cycles since a human last spoke.
    pub cycles_since_human: u32,
    /// When the discussion's time is up, where it has a limit (F28).
    pub time_up: Option<dirigent_core::Timestamp>,
    /// When something is due next, and why.
    pub deadline: Option<dirigent_core::Deadline>,
}

impl Dirigent {
    /// Why this agent may, or may not, speak now, and what would change that (F10): in words, and for
    /// programs.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
    pub async fn explain(
        &self,
        channel: ChannelId,
        agent: &AgentId,
    ) -> Result<Explanation, CallError> {
        self.live().await?;
        let why = |reason| Explanation::new(agent.clone(), reason);
        let Some(room) = self.shared.room(channel).await? else {
            return Ok(why(Reason::Unmanaged));
        };
        let Some(key) = self.shared.registry.key(agent) else {
            return Ok(why(Reason::NotRegistered));
        };
        let now = self.shared.clock.now();
        let state = room.lock();
        let (reason, view) = (state.channel.explain(key), state.channel.view());
        let goes_on = |deadline: dirigent_core::Deadline| {
            // What a dormant channel waits for does not concern those who want to speak.
            (view.phase() != PhaseKind::Dormant).then(|| deadline.at.since(now))
        };
        Ok(Explanation {
            speaker: view.speaker().and_then(|key| self.shared.registry.name(key)),
            within: view.deadline().and_then(goes_on),
            ..why(reason)
        })
    }

    /// What the channel looks like now; `None` when it was never given a mode.
    ///
    /// # Errors
    ///
    /// A channel that cannot be read.
    pub async fn status(&self, channel: ChannelId) -> Result<Option<Status>, CallError> {
        self.live().await?;
        let room = self.shared.room(channel).await?;
        Ok(room.map(|room| self.status_of(&room)))
    }

    fn status_of(&self, room: &Room) -> Status {
        let state = room.lock();
        let view = state.channel.view();
        let name = |key| self.shared.registry.name(key).unwrap_or_else(|| "unknown".into());
        Status {
            mode: view.mode(),
            turn_state: view.turn_state(),
            phase: view.phase(),
            rest: view.rest(),
            speaker: view.speaker().map(name),
            turn: view.turn(),
            list: view.list().map(|seat| (name(seat.agent), seat)).collect(),
            turns_since_human: view.turns_since_human(),
            cycles_since_human: view.cycles_since_human(),
            time_up: view.time_up(),
            deadline: view.deadline(),
        }
    }

    /// The channel's newest changes, oldest first: as many as the store keeps.
    ///
    /// # Errors
    ///
    /// As the store fails.
    pub async fn history(&self, channel: ChannelId) -> Result<Vec<ChannelEvent>, CallError> {
        self.live().await?;
        let limit = self.shared.settings.call_deadline;
        let kept = self.shared.within(limit, self.shared.store.history(channel)).await??;
        let name = |agent| self.shared.registry.name(agent);
        let event = |transition: Transition| ChannelEvent {
            channel,
            agent: transition.agent.and_then(name),
            transition,
        };
        Ok(kept.into_iter().map(event).collect())
    }

    /// All channels that have a record, in ascending order of id.
    pub fn channels(&self) -> Vec<ChannelId> {
        self.shared.known()
    }

    /// Every change of every channel from now on.
    pub fn transitions(&self) -> Transitions {
        Transitions::new(self.shared.events.subscribe())
    }
}
