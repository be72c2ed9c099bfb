//! I10: what is stale, foreign or refused changes nothing.

use dirigent_core::{AgentKey, Answer, Input, Refusal, RunId, Verdict};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I10",
    promise: 1,
    requirements: "D40, D78, rules 12, 13, 21, 28",
    sentence: "a refused input changes nothing, and the end of any run but the allowed one is refused",
    observer: || Box::new(StaleChangesNothing::default()),
};

#[derive(Debug, Default)]
struct StaleChangesNothing {
    /// The newest run that was allowed to speak.
    allowed: Option<(AgentKey, Option<RunId>)>,
    /// Whether its end was already taken in.
    ended: bool,
}

impl Observer for StaleChangesNothing {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        if let Err(refusal) = seen.answer {
            self.expect_nothing(refusal, seen)?;
        }
        match (seen.input, seen.answer) {
            (
                Input::Gate { agent: Some(agent), run, .. },
                Ok(Answer::Verdict(Verdict::Allow { turn, .. })),
            ) if turn.is_some() || seen.after.permit == Some(*agent) => {
                let known = self.allowed.filter(|(holder, _)| holder == agent && !self.ended);
                self.allowed = Some((*agent, run.or(known.and_then(|(_, run)| run))));
                self.ended = false;
                Ok(())
            }
            (Input::RunEnded { agent, run, .. }, Ok(_)) => {
                if self.ended {
                    return Err(format!("the run of {agent} ended twice"));
                }
                self.ended = true;
                self.expect_allowed(*agent, *run)
            }
            (Input::Receipt { agent, run, .. }, Ok(_)) => self.expect_allowed(*agent, *run),
            _ => Ok(()),
        }
    }
}

impl StaleChangesNothing {
    fn expect_nothing(&self, refusal: Refusal, seen: &Observation<'_>) -> Result<(), String> {
        if seen.undisturbed && (seen.before != seen.after || !seen.effects.is_empty()) {
            return Err(format!(
                "refused with {refusal:?} and yet {:?} became {:?} with {} effects",
                seen.before,
                seen.after,
                seen.effects.len()
            ));
        }
        Ok(())
    }

    fn expect_allowed(&self, agent: AgentKey, run: Option<RunId>) -> Result<(), String> {
        match self.allowed {
            Some((holder, known)) if holder == agent && (known.is_none() || known == run) => Ok(()),
            _ => Err(format!("{agent} {run:?} counted, allowed was {:?}", self.allowed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Outcome, Reason, TurnId};

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn allowed(observer: &mut dyn Observer) {
        let step = Forged {
            input: Input::Gate { agent: Some(A), run: Some(RunId::new(1)), latest: None },
            answer: Ok(Answer::Verdict(Verdict::Allow {
                reason: Reason::YourTurn,
                turn: Some(TurnId::new(1)),
                anchor: None,
            })),
            ..Forged::default()
        };
        step.accepted(observer);
    }

    fn end(agent: AgentKey, run: u64) -> Forged {
        Forged {
            input: Input::RunEnded { agent, run: Some(RunId::new(run)), outcome: Outcome::Pass },
            ..Forged::default()
        }
    }

    #[test]
    fn a_foreign_or_old_run_that_counts_is_caught() {
        let mut observer = fresh(&INVARIANT);
        allowed(observer.as_mut());
        end(B, 1).rejected(observer.as_mut(), "counted");
        let mut observer = fresh(&INVARIANT);
        allowed(observer.as_mut());
        end(A, 2).rejected(observer.as_mut(), "counted");
    }

    #[test]
    fn a_run_that_ends_twice_is_caught() {
        let mut observer = fresh(&INVARIANT);
        allowed(observer.as_mut());
        end(A, 1).accepted(observer.as_mut());
        end(A, 1).rejected(observer.as_mut(), "ended twice");
    }

    #[test]
    fn a_refusal_that_changes_something_is_caught() {
        let mut step = end(A, 1);
        step.answer = Err(Refusal::StaleRun);
        step.accepted(fresh(&INVARIANT).as_mut());
        step.after.turns += 1;
        step.rejected(fresh(&INVARIANT).as_mut(), "and yet");
    }
}
