//! What the model says about a step, and how it looks from outside.

use dirigent_core::view::Seat;
use dirigent_core::{
    AgentKey, Answer, Cause, Effect, MessageId, Mode, Reason, Refusal, Ticket, TurnId, TurnState,
};

use super::Model;
use super::state::{Away, First, Phase, Purpose};
use crate::portrait::Portrait;

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

impl Model {
    /// How the channel looks.
    pub fn portrait(&self) -> Portrait {
        let is_alone = self.mode == Mode::Chat && self.list.len() == 1;
        let state = if is_alone && self.phase != Phase::Disabled {
            TurnState::Normal // rule 82
        } else {
            self.mode.turn_state(self.list.len()) // rule 6
        };
        let archived = self.closing.is_some();
        let pending = self.pending.iter().map(|effect| (Ticket::new(effect.ticket), effect.since));
        let seats = self.list.iter().map(|slot| Seat {
            agent: slot.agent,
            turn: slot.turn,
            left: slot.left,
            muted: self.muted.contains(&slot.agent),
            may_not_write: self.may_not_write.contains_key(&slot.agent),
            away: self.away.contains_key(&slot.agent),
            nothing_new: self.has_nothing_new(slot.agent)
                && self.speaker().is_some_and(|speaker| speaker != slot.agent),
        });
        let away = self.away.iter().map(|(agent, how)| (*agent, *how == Away::Offline));
        let capped = self.list.iter().filter(|slot| self.is_slot_capped(slot));
        let mut round = self.round.clone().unwrap_or_default();
        round.sort_unstable();
        round.dedup();
        let mut portrait = Portrait {
            mode: self.mode,
            turn_state: if archived { TurnState::Archived } else { state },
            phase: self.phase.kind(),
            speaker: self.speaker(),
            permit: self.permit.as_ref().map(|permit| permit.agent),
            rest: self.rest,
            turn: TurnId::new(self.turn),
            anchor: self.anchor(),
            newest: self.memory.newest,
            seats: seats.collect(),
            turns: self.turns,
            cycles: self.cycles,
            deadline: self.next_deadline(),
            initiator: self.initiator,
            held: self.held.map(|range| (range.first, range.last)),
            asked: self.waiting().map(|waiting| (waiting.asked.first, waiting.asked.last)),
            kept_in_mind: self.kept_in_mind,
            away: away.collect(),
            may_not_write: self
                .may_not_write
                .iter()
                .map(|(agent, until)| (*agent, *until))
                .collect(),
            chosen: self.chosen(),
            round,
            awaits_human: self.awaits_human,
            budget: self.budget,
            chat_away: self.chat_away.map(|away| away.since),
            reply: self.pending_reply(),
            capped: capped.map(|slot| slot.agent).collect(),
            pending: pending.collect(),
            time_up: self.time_up(),
            budget_spent: self.is_any_budget_spent(),
            allowed: 0,
        };
        portrait.allowed = portrait.count_allowed(|agent| self.explain(agent).allows());
        portrait
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
