//! I12: the same events give the same effects.

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I12",
    promise: 0,
    requirements: "F13",
    sentence: "a twin that was restored and lives through the same answers and asks the same",
    observer: || Box::new(Repeatable),
};

#[derive(Debug)]
struct Repeatable;

impl Observer for Repeatable {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let Some(twin) = seen.twin else {
            return Ok(());
        };
        if twin.answer != seen.answer {
            return Err(format!("answered {:?}, the twin {:?}", seen.answer, twin.answer));
        }
        if twin.effects != seen.effects {
            return Err(format!("asked {:?}, the twin {:?}", seen.effects, twin.effects));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Effect, Ticket};

    use super::super::forged::{Forged, fresh};
    use super::*;

    #[test]
    fn a_twin_that_differs_is_caught() {
        let mut step = Forged { twin: Some(Vec::new()), ..Forged::default() };
        step.accepted(fresh(&INVARIANT).as_mut());
        step.twin = Some(vec![Effect::FetchMembers { ticket: Ticket::new(0) }]);
        step.rejected(fresh(&INVARIANT).as_mut(), "the twin");
    }
}
