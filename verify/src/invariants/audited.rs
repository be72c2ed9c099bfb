//! A1: the channel's own audit finds nothing.

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "A1",
    promise: 0,
    requirements: "the machine's own list",
    sentence: "the channel's audit finds nothing after any step",
    observer: || Box::new(Audited),
};

#[derive(Debug)]
struct Audited;

impl Observer for Audited {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        seen.audit.map_err(|breach| breach.to_string())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::snapshot::RestoreError;
    use dirigent_core::{Config, Snapshot, TurnMachine};

    use super::super::forged::{Forged, fresh};
    use super::*;

    #[test]
    fn a_breach_is_caught() {
        let mut contradiction = Snapshot::default();
        contradiction.state.standing.initiator = Some(dirigent_core::AgentKey::new(1));
        let error = TurnMachine::restore(Config::default().into(), &contradiction).unwrap_err();
        let RestoreError::Broken(breach) = error else {
            panic!("{error}");
        };
        let step = Forged { audit: Err(breach), ..Forged::default() };
        step.rejected(fresh(&INVARIANT).as_mut(), "initiator");
    }
}
