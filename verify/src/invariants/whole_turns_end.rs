//! I14: a whole turn lasts no longer than the turn deadline.

use std::time::Duration;

use dirigent_core::PhaseKind;
use dirigent_core::view::Pause;

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I14",
    promise: 3,
    requirements: "R258, R267, M1, M12, rules 49, 50, 55",
    sentence: "a turn lasts no longer than the turn deadline, however often it goes on; a rest and the wait for the reply do not count",
    observer: || Box::new(WholeTurnsEnd::default()),
};

/// A watch of its own, which adds up the time between steps.
#[derive(Debug, Default)]
struct WholeTurnsEnd {
    /// How long the turn has lasted.
    lasted: Duration,
    /// How long it may last by the rules of when it was granted; none: for ever.
    limit: Option<Duration>,
}

impl Observer for WholeTurnsEnd {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let (before, after) = (seen.before, seen.after);
        if seen.grants().next().is_some() {
            // Where the step changed the rules, it is not known which of them the grant met.
            let known = seen.rules_before.deadlines.turn == seen.rules.deadlines.turn;
            self.lasted = Duration::ZERO;
            self.limit = seen.rules.deadlines.turn.filter(|_| known);
        } else if counts(before.phase) && before.chat_away.is_none() {
            self.lasted += seen.elapsed;
        }
        if seen.transitions().any(|told| told.from == PhaseKind::Delivering) {
            self.lasted = Duration::ZERO; // a turn that goes on has all its time again
            self.limit = None;
        }
        if after.rest == Some(Pause::Held) || before.rest == Some(Pause::Held) {
            self.limit = None; // a hold may have given the turn all its time again
        }
        match self.limit {
            Some(limit) if counts(after.phase) && self.lasted >= limit => {
                Err(format!("turn {} has lasted {:?}", after.turn, self.lasted))
            }
            _ => Ok(()),
        }
    }

    fn restarted(&mut self, now: &Glance) {
        // What the clock did between the last storing and the crash is not known any more.
        self.lasted = Duration::ZERO;
        if !counts(now.phase) {
            self.limit = None;
        }
    }
}

/// Whether time in this phase is time of the turn.
const fn counts(phase: PhaseKind) -> bool {
    matches!(phase, PhaseKind::Granted | PhaseKind::Running | PhaseKind::Continuing)
}

#[cfg(test)]
mod tests {
    use dirigent_core::Cause;

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn step(seconds: u64, phase: PhaseKind) -> Forged {
        let mut step = Forged { elapsed: Duration::from_secs(seconds), ..Forged::default() };
        step.before.phase = phase;
        step.after.phase = phase;
        step.rules.deadlines.turn = Some(Duration::from_secs(60));
        step
    }

    fn granted() -> Forged {
        let told = [(PhaseKind::Dormant, PhaseKind::Granted, A, Cause::HumanMessage)];
        let mut granted = step(0, PhaseKind::Dormant).telling(&told);
        granted.after.speaker = Some(A);
        granted
    }

    #[test]
    fn a_turn_that_goes_on_for_ever_is_caught() {
        let mut observer = fresh(&INVARIANT);
        granted().accepted(observer.as_mut());
        step(40, PhaseKind::Running).accepted(observer.as_mut());
        step(900, PhaseKind::Waiting).accepted(observer.as_mut());
        step(19, PhaseKind::Continuing).accepted(observer.as_mut());
        step(1, PhaseKind::Running).rejected(observer.as_mut(), "has lasted");
    }

    #[test]
    fn a_turn_without_a_deadline_may_last() {
        let mut observer = fresh(&INVARIANT);
        let mut begun = granted();
        begun.rules.deadlines.turn = None;
        begun.accepted(observer.as_mut());
        step(7_200, PhaseKind::Running).accepted(observer.as_mut());
    }
}
