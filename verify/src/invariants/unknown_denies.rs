//! U1: who does not know the members lets no agent run, and asks again.

use dirigent_core::{Answer, DeadlineReason, PhaseKind};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "U1",
    promise: 1,
    requirements: "rule 72",
    sentence: "while the members are unknown no agent is allowed or listed, and the list is asked for again",
    observer: || Box::new(UnknownDenies),
};

#[derive(Debug)]
struct UnknownDenies;

impl Observer for UnknownDenies {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let after = seen.after;
        if after.phase != PhaseKind::Unknown {
            return Ok(());
        }
        if after.allowed > 0 || !after.seats.is_empty() {
            return Err(format!("{} agents are allowed, unknown who is here", after.allowed));
        }
        if let Ok(Answer::Verdict(verdict)) = seen.answer {
            if verdict.is_allowed() {
                return Err(format!("{verdict:?}, unknown who is here"));
            }
        }
        let asks = matches!(
            after.due,
            Some(
                DeadlineReason::Members
                    | DeadlineReason::MembersRetry
                    | DeadlineReason::Forget
                    | DeadlineReason::Cleanup
            )
        );
        // The wait for an answer stands still while the chat is away.
        if !asks && after.chat_away.is_none() {
            return Err("the members are never asked for again".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Reason, Verdict};

    use super::super::forged::{Forged, fresh};
    use super::*;

    fn unknown() -> Forged {
        let mut step = Forged::default();
        step.after.phase = PhaseKind::Unknown;
        step.after.seats.clear();
        step.after.due = Some(DeadlineReason::MembersRetry);
        step
    }

    #[test]
    fn an_agent_allowed_while_nobody_is_known_is_caught() {
        unknown().accepted(fresh(&INVARIANT).as_mut());
        let mut step = unknown();
        let reason = Reason::TooFewAgents;
        step.answer = Ok(Answer::Verdict(Verdict::Allow { reason, turn: None, anchor: None }));
        step.rejected(fresh(&INVARIANT).as_mut(), "unknown who is here");
    }

    #[test]
    fn a_list_that_is_never_asked_for_again_is_caught() {
        let mut step = unknown();
        step.after.due = None;
        step.rejected(fresh(&INVARIANT).as_mut(), "never asked");
    }
}
