//! I11, the core's part: a channel brought back is the channel that was stored.

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I11",
    promise: 0,
    requirements: "R140, F12",
    sentence: "a channel restored from its snapshot gives the same snapshot",
    observer: || Box::new(Restorable),
};

#[derive(Debug)]
struct Restorable;

impl Observer for Restorable {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        match seen.restored {
            Some(pair) if pair.original != pair.copy => {
                Err(format!("stored {:?}, restored {:?}", pair.original, pair.copy))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::Snapshot;

    use super::super::forged::{Forged, fresh};
    use super::*;

    #[test]
    fn a_snapshot_that_loses_something_is_caught() {
        let mut step = Forged {
            restored: Some((Snapshot::default(), Snapshot::default())),
            ..Forged::default()
        };
        step.accepted(fresh(&INVARIANT).as_mut());
        let mut lossy = Snapshot::default();
        lossy.state.words.cycle_requested = true;
        step.restored = Some((lossy, Snapshot::default()));
        step.rejected(fresh(&INVARIANT).as_mut(), "restored");
    }
}
