//! I10: what is stale, foreign or refused changes nothing.

use std::collections::VecDeque;

use dirigent_core::{
    AgentKey, Answer, DeadlineReason, Effect, Input, Reason, Refusal, RunId, Verdict,
};

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I10",
    promise: 1,
    requirements: "D40, D78, rules 12, 13, 21, 28",
    sentence: "a refused input changes nothing, only the allowed run can end, and no run speaks again after its end",
    observer: || Box::new(StaleChangesNothing::default()),
};

#[derive(Debug, Default)]
struct StaleChangesNothing {
    /// The newest run that was allowed to speak.
    allowed: Option<(AgentKey, Option<RunId>)>,
    /// Whether its end was already taken in.
    ended: bool,
    /// Runs of late that the machine remembers, and whether their time is over.
    remembered: VecDeque<(RunId, bool)>,
}

/// How many runs are followed; the machine remembers 32 (rule 10).
const REMEMBERED: usize = 24;

impl Observer for StaleChangesNothing {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        if let Err(refusal) = seen.answer {
            expect_nothing(refusal, seen)?;
        }
        self.bury(seen)?;
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
            (Input::RunEnded { agent, run, .. } | Input::Undelivered { agent, run, .. }, Ok(_)) => {
                if self.ended {
                    return Err(format!("the run of {agent} ended twice"));
                }
                self.ended = true;
                self.expect_allowed(*agent, *run)
            }
            (Input::RunsLost { .. }, Ok(_)) if seen.after.reply.is_none() => {
                let lost = self.allowed.filter(|_| !self.ended).and_then(|(_, run)| run);
                self.remembered.extend(lost.map(|run| (run, true)));
                self.ended = true;
                Ok(())
            }
            (Input::Receipt { agent, run, .. } | Input::Replied { agent, run, .. }, Ok(_)) => {
                self.expect_allowed(*agent, *run)
            }
            _ => Ok(()),
        }
    }

    fn restarted(&mut self, _: &Glance) {
        self.remembered.clear();
    }
}

impl StaleChangesNothing {
    /// Remembers whose time is over, and that no such run is allowed again.
    fn bury(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let busy = seen.before.is_active() && seen.after.is_active();
        let impatient = matches!(seen.input, Input::Reconfigure(_));
        if !busy && (impatient || !seen.undisturbed) {
            // An idle channel may have forgotten them (rule 41).
            self.remembered.clear();
        }
        for effect in seen.effects {
            if let Effect::CancelRun { run, .. } = effect {
                self.remembered.extend(run.map(|run| (run, true)));
            }
        }
        if let (Input::RunEnded { run, .. } | Input::Undelivered { run, .. }, Ok(_)) =
            (seen.input, seen.answer)
        {
            self.remembered.extend(run.map(|run| (run, true)));
        }
        if let (Input::Gate { run: Some(run), .. }, Ok(Answer::Verdict(verdict))) =
            (seen.input, seen.answer)
        {
            let turn = matches!(verdict.reason(), Reason::YourTurn | Reason::InitiatorPermit);
            if turn && self.remembered.contains(&(*run, true)) {
                return Err(format!("{run} was allowed again after its end"));
            }
            // The run that it replaced takes a place, as a denied one does.
            self.remembered.push_back((*run, false));
        }
        while self.remembered.len() > REMEMBERED {
            self.remembered.pop_front();
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

fn expect_nothing(refusal: Refusal, seen: &Observation<'_>) -> Result<(), String> {
    // With time alone changes who is capped, and that nobody's cap is waited for once a discussion's time is up.
    let mut before = seen.before.clone();
    before.capped.clone_from(&seen.after.capped);
    let is_time_up = before.time_up.is_some_and(|at| at <= seen.now);
    if is_time_up && before.due == Some(DeadlineReason::Cap) {
        (before.deadline, before.due) = (seen.after.deadline, seen.after.due);
    }
    if seen.undisturbed && (before != *seen.after || !seen.effects.is_empty()) {
        return Err(format!(
            "refused with {refusal:?} and yet {:?} became {:?} with {} effects",
            seen.before,
            seen.after,
            seen.effects.len()
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Outcome, TurnId};

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
    fn a_run_that_comes_back_is_caught() {
        let mut observer = fresh(&INVARIANT);
        allowed(observer.as_mut());
        end(A, 1).accepted(observer.as_mut());
        let again = Forged {
            input: Input::Gate { agent: Some(A), run: Some(RunId::new(1)), latest: None },
            answer: Ok(Answer::Verdict(Verdict::Allow {
                reason: Reason::YourTurn,
                turn: Some(TurnId::new(2)),
                anchor: None,
            })),
            ..Forged::default()
        };
        again.rejected(observer.as_mut(), "after its end");
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
