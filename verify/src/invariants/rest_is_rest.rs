//! H2: stop means stop, and hold means hold.

use dirigent_core::{Answer, Cause, Effect, Reason};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "H2",
    promise: 4,
    requirements: "F04, F05, R278, rules 7, 24, 25, 37, 53, 60",
    sentence: "while a channel is stopped or finished no agent is allowed or granted; on hold none is woken, given a message or late",
    observer: || Box::new(RestIsRest),
};

#[derive(Debug)]
struct RestIsRest;

impl Observer for RestIsRest {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let (before, after) = (seen.before.rest, seen.after.rest);
        if seen.after.is_stopped() && (seen.after.is_active() || seen.after.allowed > 0) {
            return Err(format!("stopped, and yet {:?}", seen.after.phase));
        }
        if before.is_none() || before != after {
            return Ok(());
        }
        let disturbs = |effect: &&Effect| {
            matches!(
                effect,
                Effect::Trigger { .. } | Effect::Inject { .. } | Effect::Deliver { .. }
            )
        };
        if let Some(effect) = seen.effects.iter().find(disturbs) {
            return Err(format!("{effect:?} while {before:?}"));
        }
        let late = |cause| {
            matches!(cause, Cause::Retriggered | Cause::StartTimedOut | Cause::SignalMissing)
        };
        if let Some(told) = seen.transitions().find(|told| late(told.cause)) {
            return Err(format!("{:?} while {before:?}", told.cause));
        }
        let Ok(Answer::Verdict(verdict)) = seen.answer else {
            return Ok(());
        };
        let free = matches!(verdict.reason(), Reason::Unmanaged | Reason::TooFewAgents);
        if verdict.is_allowed() && (seen.before.is_stopped() || !free) {
            return Err(format!("{verdict:?} while {before:?}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::view::Pause;
    use dirigent_core::{MessageId, PhaseKind, TurnId, Verdict};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn resting(rest: Pause) -> Forged {
        let mut step = Forged::default();
        step.before.rest = Some(rest);
        step.after.rest = Some(rest);
        step
    }

    #[test]
    fn a_turn_in_a_stopped_channel_is_caught() {
        let mut step = resting(Pause::Stopped);
        step.accepted(fresh(&INVARIANT).as_mut());
        step.after.phase = PhaseKind::Granted;
        step.rejected(fresh(&INVARIANT).as_mut(), "stopped");
        let mut finished = resting(Pause::Finished);
        finished.accepted(fresh(&INVARIANT).as_mut());
        finished.after.phase = PhaseKind::Continuing;
        finished.rejected(fresh(&INVARIANT).as_mut(), "stopped");
    }

    #[test]
    fn a_message_handed_over_on_hold_is_caught() {
        let mut step = resting(Pause::Held);
        step.effects.push(Effect::Inject {
            agent: A,
            turn: TurnId::new(1),
            message: MessageId::new(1),
        });
        step.rejected(fresh(&INVARIANT).as_mut(), "while");
        let (agent, turn, first) = (A, TurnId::new(1), MessageId::new(1));
        step.effects = vec![Effect::Deliver { agent, turn, first, last: first }];
        step.rejected(fresh(&INVARIANT).as_mut(), "while");
    }

    #[test]
    fn an_agent_that_is_late_on_hold_is_caught() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::StartTimedOut)];
        let step = resting(Pause::Held).telling(&told);
        step.rejected(fresh(&INVARIANT).as_mut(), "while");
    }

    #[test]
    fn an_agent_allowed_while_stopped_is_caught() {
        for (rest, reason) in
            [(Pause::Stopped, Reason::TooFewAgents), (Pause::Held, Reason::YourTurn)]
        {
            let mut step = resting(rest);
            step.answer = Ok(Answer::Verdict(Verdict::Allow { reason, turn: None, anchor: None }));
            step.rejected(fresh(&INVARIANT).as_mut(), "while");
        }
    }
}
