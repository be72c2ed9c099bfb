//! C3: only people and operators lift a ceiling.

use std::time::Duration;

use dirigent_core::{Cause, Input};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "C3",
    promise: 2,
    requirements: "F01, F02, rules 4, 22, 35, 37, 47, 61",
    sentence: "only inputs of people and operators make the ceilings' counters smaller or begin a discussion's time anew, and no other wake is told as an operator's",
    observer: || Box::new(OnlyPeopleLift),
};

#[derive(Debug)]
struct OnlyPeopleLift;

impl Observer for OnlyPeopleLift {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let (before, after) = (seen.before, seen.after);
        let told_as_operator = seen
            .transitions()
            .find(|told| told.cause == Cause::OperatorWake && !is_by_operator(seen.input));
        if let Some(told) = told_as_operator {
            return Err(format!("{:?} is told as {:?}", seen.input, told.cause));
        }
        if seen.ceilings_lifted() {
            return Ok(());
        }
        if after.turns < before.turns || after.cycles < before.cycles {
            let (turns, cycles) = (before.turns, before.cycles);
            return Err(format!(
                "{:?} took {turns} turns and {cycles} cycles to {} and {}",
                seen.input, after.turns, after.cycles
            ));
        }
        if seen.transitions().any(|told| told.cause == Cause::CeilingReset) {
            return Err(format!("{:?} reset a ceiling", seen.input));
        }
        check_time(seen)
    }
}

/// A discussion's time begins anew with a resume, too (rule 37), and with other rules.
fn check_time(seen: &Observation<'_>) -> Result<(), String> {
    let resumed = seen.transitions().any(|told| told.cause == Cause::Resumed);
    let created = matches!(seen.input, Input::Create(_));
    let is_clock_back = !seen.undisturbed && seen.elapsed == Duration::ZERO;
    if resumed || created || is_clock_back || seen.rules_changed() {
        return Ok(());
    }
    match (seen.before.time_up, seen.after.time_up) {
        (Some(before), Some(after)) if after > before => {
            Err(format!("{:?} gave a discussion more time", seen.input))
        }
        _ => Ok(()),
    }
}

/// Whether an operator wakes the channel.
const fn is_by_operator(input: &Input) -> bool {
    matches!(input, Input::Wake { cause: dirigent_core::WakeCause::Operator, .. })
}

#[cfg(test)]
mod tests {
    use dirigent_core::{PhaseKind, Refusal, WakeCause};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn lifting(input: Input) -> Forged {
        let mut step = Forged { input, ..Forged::default() };
        (step.before.turns, step.before.cycles) = (5, 2);
        (step.after.turns, step.after.cycles) = (1, 1);
        step
    }

    /// WD12
    #[test]
    fn a_wake_of_the_hosts_own_that_lifts_is_caught() {
        let wake = |cause| Input::Wake { first: None, cause };
        lifting(wake(WakeCause::Operator)).accepted(fresh(&INVARIANT).as_mut());
        for cause in [WakeCause::Guide, WakeCause::Result, WakeCause::Unheard] {
            lifting(wake(cause)).rejected(fresh(&INVARIANT).as_mut(), "took 5 turns");
        }
        lifting(Input::Tick).rejected(fresh(&INVARIANT).as_mut(), "took 5 turns");
        let mut refused = lifting(Input::SpeakNext(A));
        refused.accepted(fresh(&INVARIANT).as_mut());
        refused.answer = Err(Refusal::NotListed);
        refused.rejected(fresh(&INVARIANT).as_mut(), "took 5 turns");
    }

    /// WD12
    #[test]
    fn a_wake_of_the_hosts_own_that_is_told_as_an_operators_is_caught() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::OperatorWake)];
        let own = Input::Wake { first: None, cause: WakeCause::Unheard };
        let step = Forged { input: own, ..Forged::default() }.telling(&told);
        step.rejected(fresh(&INVARIANT).as_mut(), "is told as");
    }

    #[test]
    fn a_discussion_that_gets_more_time_by_itself_is_caught() {
        let mut step = Forged::default();
        step.before.time_up = Some(dirigent_core::Timestamp::from_millis(step.now + 5));
        step.after.time_up = Some(dirigent_core::Timestamp::from_millis(step.now + 6));
        step.rejected(fresh(&INVARIANT).as_mut(), "more time");
        step.input = Input::SpeakNext(A);
        step.accepted(fresh(&INVARIANT).as_mut());
    }
}
