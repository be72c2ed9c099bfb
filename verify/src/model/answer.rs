//! What the model says about a step, and how it looks from outside.

use dirigent_core::view::{Budget, Pause, PendingReply, Seat};
use dirigent_core::{
    AgentKey, Answer, Cause, Effect, MessageId, Mode, PhaseKind, Reason, Refusal, Ticket,
    Timestamp, TurnId, TurnState,
};

use super::Model;
use super::state::{Away, First, Phase, Purpose};

/// What the rules say about one step.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::{Answer, Config, Input, Timestamp};
/// use dirigent_verify::model::Model;
///
/// let mut model = Model::new(Arc::new(Config::default()));
/// let step = model.step(Timestamp::from_millis(5), &Input::Tick, &[]);
/// assert_eq!(step.answer, Ok(Answer::Accepted));
/// assert!(step.effects.is_empty() && step.violations.is_empty());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelAnswer {
    /// The answer.
    pub answer: Result<Answer, Refusal>,
    /// The effects in order, without transitions.
    pub effects: Vec<Effect>,
    /// The turns that ended, in order.
    pub ended: Vec<EndedTurn>,
    /// Why the channel went to sleep, was enabled or disabled, in order.
    pub causes: Vec<Cause>,
    /// What the machine's order has against the rules.
    pub violations: Vec<String>,
}

/// A turn that is over.
///
/// ```
/// use dirigent_core::{AgentKey, Cause};
/// use dirigent_verify::model::EndedTurn;
/// let ended = EndedTurn { agent: AgentKey::new(1), cause: Cause::Passed };
/// assert_eq!(ended.cause.as_str(), "passed");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data that tests compare")]
pub struct EndedTurn {
    /// Whose.
    pub agent: AgentKey,
    /// Why it ended.
    pub cause: Cause,
}

/// How a channel looks from outside: what model and machine must agree on after every step.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::{Config, PhaseKind};
/// use dirigent_verify::model::Model;
///
/// let portrait = Model::new(Arc::new(Config::default())).portrait();
/// assert_eq!(portrait.phase, PhaseKind::Disabled);
/// assert_eq!(portrait.deadline, None);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Portrait {
    /// What the channel is for.
    pub mode: Mode,
    /// How turns are kept.
    pub turn_state: TurnState,
    /// The phase.
    pub phase: PhaseKind,
    /// Who has the floor.
    pub speaker: Option<AgentKey>,
    /// Who may run once.
    pub permit: Option<AgentKey>,
    /// Stopped or held.
    pub rest: Option<Pause>,
    /// The newest turn.
    pub turn: TurnId,
    /// The running turn's anchor.
    pub anchor: Option<MessageId>,
    /// The newest message.
    pub newest: Option<MessageId>,
    /// The list.
    pub list: Vec<Seat>,
    /// Turns since a human spoke.
    pub turns: u32,
    /// Cycles since a human spoke.
    pub cycles: u32,
    /// When something is due next.
    pub deadline: Option<Timestamp>,
    /// Who opened the discussion.
    pub initiator: Option<AgentKey>,
    /// The messages held: the first and the last.
    pub held: Option<(MessageId, MessageId)>,
    /// What the orchestrator is asked about: the first message and the last.
    pub asked: Option<(MessageId, MessageId)>,
    /// Whether a message is kept in mind.
    pub kept_in_mind: bool,
    /// Who is away, ascending, and whether it is offline.
    pub away: Vec<(AgentKey, bool)>,
    /// The agent that is to speak next.
    pub chosen: Option<AgentKey>,
    /// The agents that this cycle is for, ascending; empty: for all.
    pub round: Vec<AgentKey>,
    /// Whether a person is awaited.
    pub awaits_human: bool,
    /// What was used of the budgets.
    pub budget: Budget,
    /// Since when the chat does not answer.
    pub chat_away: Option<Timestamp>,
    /// The reply that waits or is delivered.
    pub reply: Option<PendingReply>,
    /// Who has had its turns for this hour.
    pub capped: Vec<AgentKey>,
    /// What is pending and since when, oldest first.
    pub pending: Vec<(Ticket, Timestamp)>,
}

impl Portrait {
    /// The portrait of a machine.
    pub fn of(channel: &dirigent_core::TurnMachine) -> Self {
        let view = channel.view();
        let pending = channel.pending().iter();
        let pending = pending.filter_map(|effect| Some((effect.effect.ticket()?, effect.since)));
        Self {
            mode: view.mode(),
            turn_state: view.turn_state(),
            phase: view.phase(),
            speaker: view.speaker(),
            permit: view.permit(),
            rest: view.pause(),
            turn: view.turn(),
            anchor: view.anchor(),
            newest: view.newest(),
            list: view.list().collect(),
            turns: view.turns_since_human(),
            cycles: view.cycles_since_human(),
            deadline: channel.next_deadline().map(|deadline| deadline.at),
            initiator: view.initiator(),
            held: view.queued().map(|span| (span.first, span.last)),
            asked: view.asked().map(|span| (span.first, span.last)),
            kept_in_mind: view.is_wake_pending(),
            away: view.away().iter().map(|away| (away.agent, away.offline)).collect(),
            chosen: view.chosen(),
            round: view.round().to_vec(),
            awaits_human: view.awaits_human(),
            budget: view.budget(),
            chat_away: view.chat_away_since(),
            reply: view.pending_reply(),
            capped: view.list().map(|seat| seat.agent).filter(|one| view.is_capped(*one)).collect(),
            pending: pending.collect(),
        }
    }
}

impl Model {
    /// How the channel looks.
    pub fn portrait(&self) -> Portrait {
        let state = self.mode.turn_state(self.list.len()); // rule 6
        let archived = self.closing.is_some();
        let pending = self.pending.iter().map(|effect| (Ticket::new(effect.ticket), effect.since));
        let seats = self.list.iter().map(|slot| Seat {
            agent: slot.agent,
            turn: slot.turn,
            left: slot.left,
            muted: self.muted.contains(&slot.agent),
            away: self.away.contains_key(&slot.agent),
            nothing_new: self.has_nothing_new(slot.agent)
                && self.speaker().is_some_and(|speaker| speaker != slot.agent),
        });
        let away = self.away.iter().map(|(agent, how)| (*agent, *how == Away::Offline));
        let capped = self.list.iter().filter(|slot| self.is_slot_capped(slot));
        let mut round = self.round.clone().unwrap_or_default();
        round.sort_unstable();
        round.dedup();
        Portrait {
            mode: self.mode,
            turn_state: if archived { TurnState::Archived } else { state },
            phase: self.phase.kind(),
            speaker: self.speaker(),
            permit: self.permit.as_ref().map(|permit| permit.agent),
            rest: self.rest,
            turn: TurnId::new(self.turn),
            anchor: self.anchor(),
            newest: self.memory.newest,
            list: seats.collect(),
            turns: self.turns,
            cycles: self.cycles,
            deadline: self.next_deadline(),
            initiator: self.initiator,
            held: self.held.map(|range| (range.first, range.last)),
            asked: self.waiting().map(|waiting| (waiting.asked.first, waiting.asked.last)),
            kept_in_mind: self.kept_in_mind,
            away: away.collect(),
            chosen: self.chosen(),
            round,
            awaits_human: self.awaits_human,
            budget: self.budget,
            chat_away: self.chat_away.map(|away| away.since),
            reply: self.pending_reply(),
            capped: capped.map(|slot| slot.agent).collect(),
            pending: pending.collect(),
        }
    }

    /// Why this agent may, or may not, speak now (rule 7).
    pub fn explain(&self, agent: AgentKey) -> Reason {
        self.reason_for(Some(agent), None)
    }

    /// The agent that is to speak next, or first on waking (rule 61).
    fn chosen(&self) -> Option<AgentKey> {
        if let Phase::Refreshing(Purpose::Waking { first: First::Chosen(agent) }) = self.phase {
            return Some(agent);
        }
        self.choice
    }

    /// Who has the floor.
    pub(super) fn speaker(&self) -> Option<AgentKey> {
        self.phase.turn().map(|turn| turn.agent)
    }

    /// The anchor of a turn that started.
    fn anchor(&self) -> Option<MessageId> {
        let turn = self.phase.turn()?;
        let has_one = turn.listens() || turn.confirming().is_some(); // rule 49
        turn.anchor.filter(|_| has_one)
    }
}
