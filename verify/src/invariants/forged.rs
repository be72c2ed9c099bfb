//! Steps that never happened, to prove that each observer can say no.

use std::time::Duration;

use dirigent_core::snapshot::Breach;
use dirigent_core::view::{Seat, SeatTurn};
use dirigent_core::{
    AgentKey, Answer, Cause, Config, Effect, Input, Mode, PhaseKind, Reason, Refusal, Snapshot,
    Timestamp, Transition, TurnState,
};

use crate::portrait::Portrait;

use super::{Asked, Glance, Invariant, Observation, Restored, TwinStep};

/// A step that can be bent in every respect. Starts as a tick in a dormant chat of two agents.
#[derive(Clone, Debug)]
pub(super) struct Forged {
    pub(super) now: u64,
    pub(super) elapsed: Duration,
    pub(super) undisturbed: bool,
    pub(super) input: Input,
    pub(super) answer: Result<Answer, Refusal>,
    pub(super) effects: Vec<Effect>,
    pub(super) before: Glance,
    pub(super) after: Glance,
    /// Other rules before the step, if its input changed them.
    pub(super) rules_before: Option<Config>,
    pub(super) rules: Config,
    pub(super) explained: Option<Reason>,
    pub(super) asked: Vec<Asked>,
    pub(super) audit: Result<(), Breach>,
    pub(super) twin: Option<Vec<Effect>>,
    pub(super) restored: Option<(Snapshot, Snapshot)>,
}

pub(super) const A: AgentKey = AgentKey::new(1);
pub(super) const B: AgentKey = AgentKey::new(2);

impl Default for Forged {
    fn default() -> Self {
        let portrait = Portrait {
            mode: Mode::Chat,
            turn_state: TurnState::Normal,
            phase: PhaseKind::Dormant,
            seats: vec![seat(A, SeatTurn::Ahead), seat(B, SeatTurn::Ahead)],
            ..Portrait::default()
        };
        let dormant = Glance { portrait, ..Glance::default() };
        Self {
            now: 1_000_000,
            elapsed: Duration::ZERO,
            undisturbed: true,
            input: Input::Tick,
            answer: Ok(Answer::Accepted),
            effects: Vec::new(),
            before: dormant.clone(),
            after: dormant,
            rules_before: None,
            rules: Config::default(),
            explained: None,
            asked: Vec::new(),
            audit: Ok(()),
            twin: None,
            restored: None,
        }
    }
}

impl Forged {
    /// Shows this step to an observer, which must accept it.
    pub(super) fn accepted(&self, observer: &mut dyn super::Observer) {
        assert_eq!(self.show(observer), Ok(()));
    }

    /// Shows this step to an observer, which must reject it with these words in its reason.
    pub(super) fn rejected(&self, observer: &mut dyn super::Observer, why: &str) {
        let reason = self.show(observer).unwrap_err();
        assert!(reason.contains(why), "{reason}");
    }

    /// What the observer says of this step.
    pub(super) fn show(&self, observer: &mut dyn super::Observer) -> Result<(), String> {
        observer.observe(&Observation {
            now: Timestamp::from_millis(self.now),
            elapsed: self.elapsed,
            undisturbed: self.undisturbed,
            input: &self.input,
            answer: self.answer,
            effects: &self.effects,
            before: &self.before,
            after: &self.after,
            rules_before: self.rules_before.as_ref().unwrap_or(&self.rules),
            rules: &self.rules,
            explained: self.explained,
            asked: &self.asked,
            audit: self.audit,
            twin: self.twin.as_ref().map(|effects| TwinStep { answer: self.answer, effects }),
            restored: self.restored.as_ref().map(|(original, copy)| Restored { original, copy }),
        })
    }

    /// The same step, told with these transitions.
    pub(super) fn telling(mut self, told: &[(PhaseKind, PhaseKind, AgentKey, Cause)]) -> Self {
        let told_last = told.last();
        let told = told.iter().map(|(from, to, agent, cause)| {
            Effect::Transition(Transition {
                at: Timestamp::from_millis(self.now),
                from: *from,
                to: *to,
                agent: Some(*agent),
                turn: self.after.turn,
                cause: *cause,
            })
        });
        self.effects.extend(told);
        if let Some((_, to, ..)) = told_last {
            self.after.phase = *to;
        }
        self
    }
}

/// A seat of an available agent.
pub(super) const fn seat(agent: AgentKey, turn: SeatTurn) -> Seat {
    let [left, muted, may_not_write, away, nothing_new] = [false; 5];
    Seat { agent, turn, left, muted, may_not_write, away, nothing_new }
}

/// A fresh observer of an invariant.
pub(super) fn fresh(invariant: &Invariant) -> Box<dyn super::Observer> {
    (invariant.observer)()
}
