//! D1: a reply that is delivered keeps the floor, and nothing but its end takes it.

use dirigent_core::{Cause, PhaseKind};

use super::{Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "D1",
    promise: 1,
    requirements: "rules 67-69",
    sentence: "while a reply is delivered exactly its agent has the floor, no agent is allowed, and no deadline ends the turn",
    observer: || Box::new(RepliesHoldTheFloor),
};

#[derive(Debug)]
struct RepliesHoldTheFloor;

impl Observer for RepliesHoldTheFloor {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let late =
            |cause| matches!(cause, Cause::RunTimedOut | Cause::StartTimedOut | Cause::RunSlow);
        let mut told = seen.transitions();
        if let Some(told) = told.find(|told| told.from == PhaseKind::Delivering && late(told.cause))
        {
            return Err(format!("{:?} of a reply that is delivered", told.cause));
        }
        let after = seen.after;
        if after.phase != PhaseKind::Delivering {
            return Ok(());
        }
        let owner = after.reply.map(|reply| reply.agent);
        if after.speaker.is_none() || owner != after.speaker {
            return Err(format!("{owner:?} has replied and {:?} has the floor", after.speaker));
        }
        if after.allowed > 0 {
            return Err("an agent is allowed while a reply is delivered".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::view::PendingReply;

    use super::super::forged::{A, B, Forged, fresh};
    use super::*;

    fn delivering() -> Forged {
        let mut step = Forged::default();
        step.after.phase = PhaseKind::Delivering;
        step.after.speaker = Some(A);
        step.after.reply = Some(PendingReply { agent: A, run: None, turn: None, waits: false });
        step
    }

    #[test]
    fn another_speaker_beside_a_reply_is_caught() {
        delivering().accepted(fresh(&INVARIANT).as_mut());
        let mut step = delivering();
        step.after.speaker = Some(B);
        step.rejected(fresh(&INVARIANT).as_mut(), "has the floor");
        let mut allowed = delivering();
        allowed.after.allowed = 1;
        allowed.rejected(fresh(&INVARIANT).as_mut(), "is allowed");
    }

    #[test]
    fn a_reply_that_times_out_is_caught() {
        let told = [(PhaseKind::Delivering, PhaseKind::Granted, A, Cause::RunTimedOut)];
        let mut step = Forged::default().telling(&told);
        step.before.phase = PhaseKind::Delivering;
        step.rejected(fresh(&INVARIANT).as_mut(), "is delivered");
    }
}
