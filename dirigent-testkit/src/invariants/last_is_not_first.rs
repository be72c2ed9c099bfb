//! I9: nobody speaks twice in a row across a shuffle.

use dirigent_core::{AgentKey, Cause, PhaseKind};

use super::observation::{is_completion, is_first_grant};
use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I9",
    promise: 2,
    requirements: "R083, D31, D32, rule 32",
    sentence: "after a reshuffle the agent that completed a turn last is not the first",
    observer: || Box::new(LastIsNotFirst::default()),
};

#[derive(Debug, Default)]
struct LastIsNotFirst {
    completer: Option<AgentKey>,
}

impl Observer for LastIsNotFirst {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        for told in seen.transitions() {
            if is_completion(told.cause) {
                self.completer = told.agent;
            }
            if told.cause == Cause::Reshuffled {
                let first = seen.after.seats.first().map(|seat| seat.agent);
                if seen.after.seats.len() >= 2 && first.is_some() && first == self.completer {
                    return Err(format!("{first:?} was last and is first again"));
                }
            }
            let over = matches!(
                told.to,
                PhaseKind::Dormant | PhaseKind::Disabled | PhaseKind::Dead | PhaseKind::Archived
            );
            let empty_cycle = told.cause == Cause::CycleBoundary
                && matches!(told.from, PhaseKind::Dormant | PhaseKind::Refreshing);
            if is_first_grant(told) || empty_cycle || over {
                self.completer = None;
            }
        }
        Ok(())
    }

    fn restarted(&mut self, _: &Glance) {}
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, B, Forged, fresh, seat};
    use super::*;
    use dirigent_core::SeatTurn;

    #[test]
    fn the_last_put_first_is_caught_across_steps_and_restarts() {
        let mut observer = fresh(&INVARIANT);
        let told = [(PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::TailMatched)];
        Forged::default().telling(&told).accepted(observer.as_mut());
        observer.restarted(&Glance::default());
        let told = [
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
            (PhaseKind::Refreshing, PhaseKind::Granted, B, Cause::NextCycle),
        ];
        let mut step = Forged::default().telling(&told);
        step.after.seats = vec![seat(B, SeatTurn::Ahead), seat(A, SeatTurn::Ahead)];
        step.rejected(observer.as_mut(), "is first again");
    }

    #[test]
    fn another_first_is_accepted() {
        let mut observer = fresh(&INVARIANT);
        let told = [
            (PhaseKind::Confirming, PhaseKind::Refreshing, B, Cause::TailMatched),
            (PhaseKind::Refreshing, PhaseKind::Refreshing, A, Cause::Reshuffled),
        ];
        Forged::default().telling(&told).accepted(observer.as_mut());
    }
}
