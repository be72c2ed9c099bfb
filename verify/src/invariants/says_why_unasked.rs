//! W3: what an agent is told of itself is what the gate would tell it.

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "W3",
    promise: 5,
    requirements: "F10, rule 7",
    sentence: "in every state explain says of every agent, listed or not, what the gate would say to a new run",
    observer: || Box::new(SaysWhyUnasked),
};

#[derive(Debug)]
struct SaysWhyUnasked;

impl Observer for SaysWhyUnasked {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        match seen.asked.iter().find(|asked| asked.explained != asked.verdict) {
            Some(asked) => Err(format!("explain and the gate differ: {asked:?}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Reason, Timestamp};

    use super::super::Asked;
    use super::super::forged::{A, Forged, fresh};
    use super::*;

    #[test]
    fn an_explanation_that_is_not_what_the_gate_says_is_caught() {
        let told = |explained, verdict| {
            let at = Timestamp::from_millis(1_000_000);
            let asked = vec![Asked { agent: A, at, explained, verdict }];
            Forged { asked, ..Forged::default() }
        };
        let observer = &mut *fresh(&INVARIANT);
        told(Reason::Waiting, Reason::Waiting).accepted(observer);
        told(Reason::YourTurn, Reason::Waiting).rejected(observer, "differ");
        told(Reason::Dormant, Reason::CeilingReached).rejected(observer, "differ");
    }
}
