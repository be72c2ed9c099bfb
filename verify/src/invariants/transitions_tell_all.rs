//! W2: nothing changes without being told.

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "W2",
    promise: 5,
    requirements: "F10, F12",
    sentence: "transitions lead without a gap from the phase before to the phase after, at the time of the step",
    observer: || Box::new(TransitionsTellAll),
};

#[derive(Debug)]
struct TransitionsTellAll;

impl Observer for TransitionsTellAll {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let mut phase = seen.before.phase;
        for told in seen.transitions() {
            if told.from != phase {
                return Err(format!("{told:?} does not follow {phase:?}"));
            }
            if told.at != seen.now {
                return Err(format!("{told:?} at {:?}", seen.now));
            }
            phase = told.to;
        }
        if phase != seen.after.phase {
            return Err(format!("{:?} was not told after {phase:?}", seen.after.phase));
        }
        let rest_told = seen.before.rest == seen.after.rest || !seen.effects.is_empty();
        if !rest_told {
            return Err("a stop or hold was not told".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::view::Pause;
    use dirigent_core::{Cause, PhaseKind};

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    #[test]
    fn a_gap_is_caught() {
        let told = [(PhaseKind::Running, PhaseKind::Granted, A, Cause::NextInList)];
        let step = Forged::default().telling(&told);
        step.rejected(fresh(&INVARIANT).as_mut(), "does not follow");
    }

    #[test]
    fn a_silent_change_is_caught() {
        let mut step = Forged::default();
        step.after.phase = PhaseKind::Granted;
        step.rejected(fresh(&INVARIANT).as_mut(), "was not told");
        let mut resting = Forged::default();
        resting.after.rest = Some(Pause::Held);
        resting.rejected(fresh(&INVARIANT).as_mut(), "was not told");
    }

    #[test]
    fn a_wrong_time_is_caught() {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        let mut step = Forged::default().telling(&told);
        step.now += 1;
        step.rejected(fresh(&INVARIANT).as_mut(), "at");
    }
}
