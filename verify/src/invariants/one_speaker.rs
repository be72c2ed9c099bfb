//! I1: at most one agent is allowed to speak.

use dirigent_core::{Answer, Effect, Input, PhaseKind, Reason, RunId, Verdict};

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I1",
    promise: 1,
    requirements: "R040, R060, D37-D40, rules 7-9",
    sentence: "at most one agent is allowed, and no other until its run ended or was cancelled",
    observer: || Box::new(OneSpeaker::default()),
};

/// The book of permissions that were given and not taken back.
#[derive(Debug, Default)]
struct OneSpeaker {
    open: Option<(dirigent_core::AgentKey, Option<RunId>)>,
}

impl Observer for OneSpeaker {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        for effect in seen.effects {
            if let Effect::CancelRun { agent, run, .. } = effect {
                if self.open.is_none_or(|(holder, _)| holder != *agent) {
                    return Err(format!("{agent} {run:?} was cancelled and held no permission"));
                }
                self.open = None;
            }
        }
        if let (Input::RunEnded { agent, .. } | Input::Undelivered { agent, .. }, Ok(_)) =
            (seen.input, seen.answer)
        {
            if self.open.is_none_or(|(holder, _)| holder != *agent) {
                return Err(format!("the run of {agent} ended and held no permission"));
            }
            self.open = None;
        }
        // A reply that is made is not lost with its run.
        if matches!(seen.input, Input::RunsLost { .. }) && seen.after.reply.is_none() {
            self.open = None;
        }
        self.note_verdict(seen)?;
        self.compare(seen.after)
    }
}

impl OneSpeaker {
    fn note_verdict(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let (Input::Gate { agent, run, .. }, Ok(Answer::Verdict(Verdict::Allow { reason, .. }))) =
            (seen.input, seen.answer)
        else {
            return Ok(());
        };
        if !matches!(reason, Reason::YourTurn | Reason::InitiatorPermit) {
            return Ok(());
        }
        let Some(agent) = *agent else {
            return Err("an unknown agent was given a turn".to_owned());
        };
        match self.open {
            Some((holder, _)) if holder != agent => {
                Err(format!("{agent} was allowed while {holder} still is"))
            }
            Some((_, known)) => {
                self.open = Some((agent, run.or(known)));
                Ok(())
            }
            None => {
                self.open = Some((agent, *run));
                Ok(())
            }
        }
    }

    /// The permission and the phase must tell the same story.
    fn compare(&self, after: &Glance) -> Result<(), String> {
        if after.allowed > 1 {
            return Err(format!("{} agents would be allowed now", after.allowed));
        }
        let holder = self.open.map(|(agent, _)| agent);
        if after.phase == PhaseKind::Running && holder != after.speaker {
            return Err(format!("{:?} runs but {holder:?} was allowed", after.speaker));
        }
        let runs =
            matches!(after.phase, PhaseKind::Running | PhaseKind::Delivering | PhaseKind::Waiting);
        if after.phase == PhaseKind::Waiting && holder.is_some_and(|one| Some(one) != after.speaker)
        {
            return Err(format!("{holder:?} is allowed while {:?} waits", after.speaker));
        }
        let may_hold = runs || after.permit.is_some();
        if !may_hold && holder.is_some() {
            return Err(format!("{holder:?} keeps a permission in {:?}", after.phase));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn allowed(agent: dirigent_core::AgentKey) -> Forged {
        let mut step = Forged {
            input: Input::Gate { agent: Some(agent), run: None, latest: None },
            answer: Ok(Answer::Verdict(Verdict::Allow {
                reason: Reason::YourTurn,
                turn: None,
                anchor: None,
            })),
            ..Forged::default()
        };
        step.after.phase = PhaseKind::Running;
        step.after.speaker = Some(agent);
        step
    }

    #[test]
    fn a_second_agent_allowed_is_caught() {
        let mut observer = fresh(&INVARIANT);
        allowed(A).accepted(observer.as_mut());
        allowed(B).rejected(observer.as_mut(), "was allowed while");
    }

    #[test]
    fn a_permission_that_outlives_its_turn_is_caught() {
        let mut observer = fresh(&INVARIANT);
        allowed(A).accepted(observer.as_mut());
        Forged::default().rejected(observer.as_mut(), "keeps a permission");
    }

    #[test]
    fn a_permission_of_another_while_a_turn_rests_is_caught() {
        let mut observer = fresh(&INVARIANT);
        allowed(A).accepted(observer.as_mut());
        let mut rests = Forged::default();
        (rests.after.phase, rests.after.speaker) = (PhaseKind::Waiting, Some(A));
        rests.accepted(observer.as_mut());
        rests.after.speaker = Some(B);
        rests.rejected(observer.as_mut(), "while");
    }

    #[test]
    fn two_agents_that_would_be_allowed_are_caught() {
        let mut step = Forged::default();
        step.after.allowed = 2;
        step.rejected(fresh(&INVARIANT).as_mut(), "would be allowed");
    }

    #[test]
    fn an_end_without_a_permission_is_caught() {
        let step = Forged {
            input: Input::RunEnded { agent: A, run: None, outcome: dirigent_core::Outcome::Pass },
            ..Forged::default()
        };
        step.rejected(fresh(&INVARIANT).as_mut(), "held no permission");
    }
}
