//! I6: archived is for ever.

use dirigent_core::{Cause, DeadlineReason, Effect, PhaseKind, TurnState};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I6",
    promise: 2,
    requirements: "R150-R156, D27-D29, D91, rules 38, 39, 42",
    sentence: "an archived channel stays archived; it only posts notices and takes triggers away",
    observer: || Box::new(ArchivedAbsorbs),
};

#[derive(Debug)]
struct ArchivedAbsorbs;

impl Observer for ArchivedAbsorbs {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        if seen.before.phase != PhaseKind::Archived {
            return Ok(());
        }
        let after = seen.after;
        if after.phase != PhaseKind::Archived || after.turn_state != TurnState::Archived {
            return Err(format!("archived became {:?}", after.phase));
        }
        if after.mode != seen.before.mode || after.turn != seen.before.turn {
            return Err("an archived channel changed its mode or turn".to_owned());
        }
        if let Some(effect) = seen.effects.iter().find(|effect| !is_afterlife(effect)) {
            return Err(format!("an archived channel asks for {effect:?}"));
        }
        match after.due {
            None | Some(DeadlineReason::Cleanup | DeadlineReason::Forget) => Ok(()),
            Some(reason) => Err(format!("an archived channel waits for {reason:?}")),
        }
    }
}

/// What an archived channel may still ask for. Muting works in every mode and says so (rule 37).
fn is_afterlife(effect: &Effect) -> bool {
    match effect {
        Effect::Notice { .. } | Effect::Delete { .. } => true,
        Effect::Transition(told) => {
            matches!(
                told.cause,
                Cause::AgentMuted
                    | Cause::AgentUnmuted
                    | Cause::AgentMayNotWrite
                    | Cause::AgentMayWrite
                    | Cause::AgentOffline
                    | Cause::AgentOnline
                    | Cause::ChatAway
                    | Cause::ChatBack
                    | Cause::AgentAssigned
            )
        }
        Effect::FetchMembers { .. }
        | Effect::Trigger { .. }
        | Effect::Poll { .. }
        | Effect::Reminder { .. }
        | Effect::Inject { .. }
        | Effect::Deliver { .. }
        | Effect::Consult { .. }
        | Effect::CancelRun { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::Ticket;

    use super::super::forged::{Forged, fresh};
    use super::*;

    fn archived() -> Forged {
        let mut step = Forged::default();
        step.before.phase = PhaseKind::Archived;
        step.before.turn_state = TurnState::Archived;
        step.after = step.before.clone();
        step
    }

    #[test]
    fn a_resurrection_is_caught() {
        archived().accepted(fresh(&INVARIANT).as_mut());
        let mut step = archived();
        step.after.phase = PhaseKind::Dormant;
        step.rejected(fresh(&INVARIANT).as_mut(), "archived became");
    }

    #[test]
    fn an_effect_of_an_archived_channel_is_caught() {
        let mut step = archived();
        step.effects.push(Effect::FetchMembers { ticket: Ticket::new(1) });
        step.rejected(fresh(&INVARIANT).as_mut(), "asks for");
    }

    #[test]
    fn a_deadline_of_an_archived_channel_is_caught() {
        let mut step = archived();
        step.after.due = Some(DeadlineReason::Run);
        step.rejected(fresh(&INVARIANT).as_mut(), "waits for");
    }
}
