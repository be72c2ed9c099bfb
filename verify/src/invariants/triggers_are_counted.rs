//! T1: no agent is woken more often than the rules say.

use dirigent_core::view::Pause;
use dirigent_core::{Cause, Effect, PhaseKind};

use super::observation::{is_grant, is_return};
use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "T1",
    promise: 2,
    requirements: "D64, F05, rules 30, 37, 40, 75",
    sentence: "triggers are at most grants, re-triggers and resumes, and each is for the agent that was granted",
    observer: || Box::new(TriggersAreCounted::default()),
};

#[derive(Debug, Default)]
struct TriggersAreCounted {
    /// The most re-triggers that any rules allowed so far.
    retriggers_max: u8,
    /// The most continuations that any rules allowed so far.
    continuations_max: u8,
    /// How often the agent under way was asked to go on.
    asked: u8,
}

impl Observer for TriggersAreCounted {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        self.retriggers_max = self
            .retriggers_max
            .max(seen.rules.deadlines.retriggers)
            .max(seen.rules_before.deadlines.retriggers);
        self.continuations_max = self
            .continuations_max
            .max(seen.rules.order.continuations)
            .max(seen.rules_before.order.continuations);
        let mut unfinished = false;
        let mut allowance = 0_usize;
        let mut granted = seen.before.speaker;
        let mut triggers = 0_usize;
        for effect in seen.effects {
            if let Effect::Transition(told) = effect {
                let again = is_return(told.cause)
                    || matches!(
                        told.cause,
                        Cause::Retriggered | Cause::Resumed | Cause::Unfinished
                    );
                let waits = matches!(told.to, PhaseKind::Granted | PhaseKind::Continuing);
                if is_grant(told) {
                    self.asked = 0;
                }
                if is_grant(told) || (again && waits) {
                    unfinished = told.cause == Cause::Unfinished;
                    allowance += 1;
                    granted = told.agent.or(granted);
                }
            }
            if let Effect::Trigger { agent, turn, attempt, .. } = effect {
                triggers += 1;
                self.asked += u8::from(unfinished);
                if std::mem::take(&mut unfinished) && self.asked > self.continuations_max {
                    return Err(format!("{agent} was asked to go on {} times", self.asked));
                }
                if triggers > allowance {
                    return Err(format!("{agent} was triggered for {turn} once too often"));
                }
                if granted != Some(*agent) || *turn > seen.after.turn {
                    return Err(format!("{agent} was triggered, {granted:?} was granted"));
                }
                if *attempt > self.retriggers_max {
                    return Err(format!("{agent} was triggered in attempt {attempt}"));
                }
            }
        }
        let resting = seen.before.rest == Some(Pause::Held) && seen.after.rest == Some(Pause::Held);
        if resting && triggers > 0 {
            return Err("a trigger was sent on hold".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{AgentKey, Ticket, TurnId};

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn trigger(agent: AgentKey) -> Effect {
        Effect::Trigger { ticket: Ticket::new(1), agent, turn: TurnId::new(0), attempt: 0 }
    }

    fn granted() -> Forged {
        Forged::default().telling(&[(
            PhaseKind::Dormant,
            PhaseKind::Granted,
            A,
            Cause::HumanMessage,
        )])
    }

    #[test]
    fn a_trigger_without_a_grant_is_caught() {
        let mut step = Forged::default();
        step.effects.push(trigger(A));
        step.rejected(fresh(&INVARIANT).as_mut(), "too often");
    }

    #[test]
    fn a_second_trigger_for_one_grant_is_caught() {
        let mut step = granted();
        step.effects.push(trigger(A));
        step.accepted(fresh(&INVARIANT).as_mut());
        step.effects.push(trigger(A));
        step.rejected(fresh(&INVARIANT).as_mut(), "too often");
    }

    #[test]
    fn a_continuation_too_many_is_caught() {
        let told = [(PhaseKind::Running, PhaseKind::Continuing, A, Cause::Unfinished)];
        let mut step = Forged::default().telling(&told);
        step.before.speaker = Some(A);
        step.effects.push(trigger(A));
        step.rules.order.continuations = 2;
        let mut observer = fresh(&INVARIANT);
        step.accepted(observer.as_mut());
        step.accepted(observer.as_mut());
        step.rejected(observer.as_mut(), "asked to go on 3 times");
    }

    #[test]
    fn a_trigger_for_somebody_else_is_caught() {
        let mut step = granted();
        step.effects.push(trigger(B));
        step.rejected(fresh(&INVARIANT).as_mut(), "was granted");
    }

    #[test]
    fn a_trigger_on_hold_is_caught() {
        let mut step = granted();
        step.effects.push(trigger(A));
        step.before.rest = Some(Pause::Held);
        step.after.rest = Some(Pause::Held);
        step.rejected(fresh(&INVARIANT).as_mut(), "on hold");
    }
}
