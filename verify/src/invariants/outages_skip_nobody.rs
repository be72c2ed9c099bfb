//! O1: an agent is not skipped because the chat does not answer.

use dirigent_core::{Cause, PhaseKind};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "O1",
    promise: 3,
    requirements: "rules 70, 71",
    sentence: "while the chat is away no agent is late, no reply and no list is given up, and a dormant channel stays dormant",
    observer: || Box::new(OutagesSkipNobody),
};

#[derive(Debug)]
struct OutagesSkipNobody;

impl Observer for OutagesSkipNobody {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        if seen.before.chat_away.is_none() || seen.after.chat_away.is_none() {
            return Ok(());
        }
        let late = |cause| {
            matches!(
                cause,
                Cause::Retriggered
                    | Cause::StartTimedOut
                    | Cause::SignalMissing
                    | Cause::DeliveryTimedOut
                    | Cause::QuietAfterMessage
                    | Cause::MembersLate
            )
        };
        for told in seen.transitions() {
            let wakes = told.from == PhaseKind::Dormant && crate::portrait::is_active(told.to);
            if late(told.cause) || wakes {
                return Err(format!("{:?} while the chat is away", told.cause));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn away(from: PhaseKind, to: PhaseKind, cause: Cause) -> Forged {
        let mut step = Forged::default().telling(&[(from, to, A, cause)]);
        let since = Some(dirigent_core::Timestamp::default());
        (step.before.chat_away, step.after.chat_away) = (since, since);
        step
    }

    #[test]
    fn an_agent_that_is_late_without_the_chat_is_caught() {
        let late = away(PhaseKind::Granted, PhaseKind::Granted, Cause::StartTimedOut);
        late.rejected(fresh(&INVARIANT).as_mut(), "while the chat is away");
        let mut back = away(PhaseKind::Granted, PhaseKind::Granted, Cause::StartTimedOut);
        back.before.chat_away = None;
        back.accepted(fresh(&INVARIANT).as_mut());
    }

    #[test]
    fn a_wake_without_the_chat_is_caught() {
        let wakes = away(PhaseKind::Dormant, PhaseKind::Granted, Cause::HumanMessage);
        wakes.rejected(fresh(&INVARIANT).as_mut(), "while the chat is away");
    }
}
