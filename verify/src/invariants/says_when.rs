//! W4: when a channel says that it goes on by itself, it does, then and not before.

use dirigent_core::{Cause, Effect, Input};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "W4",
    promise: 5,
    requirements: "F10, rule 40",
    sentence: "at the time that is named a turn or a cycle begins or ends, or an agent is called once more, and in a turn by time alone not before",
    observer: || Box::new(SaysWhen),
};

#[derive(Debug)]
struct SaysWhen;

impl Observer for SaysWhen {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let is_due = seen.before.deadline.is_some_and(|at| at <= seen.now);
        let Some(named) = seen.before.goes_on_at else {
            return Ok(());
        };
        // Where the clock went back, all that waits goes back with it.
        if !seen.undisturbed && !is_due {
            return Ok(());
        }
        let goes_on = goes_on(seen);
        if named <= seen.now && !goes_on {
            return Err(format!("it was to go on at {named:?}, and does not at {:?}", seen.now));
        }
        let by_time = matches!(seen.input, Input::Tick) && seen.before.is_active();
        if by_time && seen.now < named && goes_on {
            return Err(format!("it goes on at {:?}, and said {named:?}", seen.now));
        }
        Ok(())
    }
}

/// Whether something happens that can be seen from outside.
fn goes_on(seen: &Observation<'_>) -> bool {
    let is_called = |effect: &Effect| matches!(effect, Effect::Trigger { .. });
    seen.before.turn != seen.after.turn
        || seen.transitions().any(|told| told.from != told.to || told.cause == Cause::CycleBoundary)
        || seen.effects.iter().any(is_called)
}

#[cfg(test)]
mod tests {
    use dirigent_core::{PhaseKind, Timestamp};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    /// A step of a turn that was to go on so many milliseconds after it.
    fn named(after: i64) -> Forged {
        let mut step = Forged::default();
        let at = Timestamp::from_millis(step.now.saturating_add_signed(after));
        (step.before.phase, step.after.phase) = (PhaseKind::Running, PhaseKind::Running);
        step.before.goes_on_at = Some(at);
        step.before.deadline = Some(at);
        step.undisturbed = after > 0;
        step
    }

    #[test]
    fn a_time_at_which_nothing_happens_is_caught() {
        named(1).accepted(fresh(&INVARIANT).as_mut());
        named(0).rejected(fresh(&INVARIANT).as_mut(), "does not");
        let told = [(PhaseKind::Running, PhaseKind::Dormant, A, Cause::RunTimedOut)];
        named(0).telling(&told).accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_turn_that_goes_on_before_is_caught() {
        let told = [(PhaseKind::Running, PhaseKind::Dormant, A, Cause::RunTimedOut)];
        named(1).telling(&told).rejected(fresh(&INVARIANT).as_mut(), "and said");
    }

    #[test]
    fn a_clock_that_went_back_excuses() {
        let mut back = named(1);
        back.undisturbed = false;
        let told = [(PhaseKind::Running, PhaseKind::Dormant, A, Cause::RunTimedOut)];
        back.telling(&told).accepted(fresh(&INVARIANT).as_mut());
    }
}
