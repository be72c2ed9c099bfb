//! I3: whatever waits has a deadline, and it is near.

use std::time::Duration;

use dirigent_core::view::Pause;
use dirigent_core::{Config, Effect, PhaseKind};

use super::{Glance, Invariant, Observation, Observer};

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I3",
    promise: 3,
    requirements: "R130, D35, D64, rule 40",
    sentence: "a live channel that is not dormant has a deadline, ahead and within a turn's time-outs",
    observer: || Box::new(NoLostWakeUp::default()),
};

#[derive(Debug, Default)]
struct NoLostWakeUp {
    /// The longest wait that the rules allowed since the phase began.
    longest: Duration,
    /// The longest wait when the list was asked for last, maybe before the channel woke.
    patience: Duration,
    /// The phase began, or the trigger was held back, when nothing limited it.
    for_ever: bool,
}

impl Observer for NoLostWakeUp {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let after = seen.after;
        if let Some(deadline) = after.deadline {
            if deadline <= seen.now {
                return Err(format!("{deadline:?} is overdue at {:?}", seen.now));
            }
        }
        let triggered = seen.effects.iter().any(|effect| matches!(effect, Effect::Trigger { .. }));
        let (before, turn) = (seen.before, after.turn);
        let waits = before.phase == PhaseKind::Waiting || after.phase == PhaseKind::Waiting;
        let moved = before.phase != after.phase && !(waits && before.is_active());
        if moved || before.turn != turn || triggered || !after.is_active() {
            *self = Self { patience: self.patience, ..Self::default() };
        }
        let mut waits = longest_wait(seen.rules);
        if seen.rules_changed() {
            waits = waits.max(longest_wait(seen.rules_before));
        }
        if seen.effects.iter().any(|effect| matches!(effect, Effect::FetchMembers { .. })) {
            self.patience = waits;
        }
        self.longest = self.longest.max(waits).max(self.patience);
        self.for_ever |= waits_for_ever(after, seen.rules_before, seen.rules);
        if after.chat_away.is_some() || before.chat_away.is_some() {
            let outage =
                seen.rules.deadlines.outage_max.max(seen.rules_before.deadlines.outage_max);
            self.longest = self.longest.max(outage);
        }
        if !after.is_active() || self.for_ever {
            return Ok(());
        }
        match after.deadline {
            None => Err(format!("{:?} waits without a deadline", after.phase)),
            Some(deadline) if deadline.since(seen.now) > self.longest => {
                Err(format!("{deadline:?} is too far from {:?}", seen.now))
            }
            Some(_) => Ok(()),
        }
    }

    fn restarted(&mut self, _: &Glance) {}
}

/// The longest that any one phase may wait.
fn longest_wait(rules: &Config) -> Duration {
    let optional = rules.deadlines.start.max(rules.deadlines.run).max(rules.deadlines.turn);
    let fixed = rules
        .members
        .refresh_deadline
        .max(rules.confirmation.delivery_timeout)
        .max(rules.people.consult_deadline);
    fixed.max(optional.unwrap_or_default())
}

/// Whether the host chose that this phase has no end of its own.
fn waits_for_ever(glance: &Glance, before: &Config, rules: &Config) -> bool {
    let start = before.deadlines.start.is_none() || rules.deadlines.start.is_none();
    let run = before.deadlines.run.is_none() || rules.deadlines.run.is_none();
    let held = glance.rest == Some(Pause::Held);
    let asked = matches!(glance.phase, PhaseKind::Granted | PhaseKind::Continuing);
    let delivers = glance.phase == PhaseKind::Delivering;
    let outage = glance.chat_away.is_some() && held;
    delivers || outage || (asked && (start || held)) || (glance.phase == PhaseKind::Running && run)
}

#[cfg(test)]
mod tests {
    use dirigent_core::Timestamp;

    use super::super::forged::{Forged, fresh};
    use super::*;

    fn granted_until(at: Option<u64>) -> Forged {
        let mut step = Forged::default();
        step.after.phase = PhaseKind::Granted;
        step.after.deadline = at.map(|at| Timestamp::from_millis(step.now + at));
        step
    }

    #[test]
    fn a_wait_without_end_is_caught() {
        granted_until(Some(45_000)).accepted(fresh(&INVARIANT).as_mut());
        granted_until(None).rejected(fresh(&INVARIANT).as_mut(), "without a deadline");
        granted_until(Some(0)).rejected(fresh(&INVARIANT).as_mut(), "overdue");
        granted_until(Some(3_600_000)).rejected(fresh(&INVARIANT).as_mut(), "too far");
    }

    #[test]
    fn a_turn_that_rests_or_goes_on_without_end_is_caught() {
        for phase in [PhaseKind::Waiting, PhaseKind::Continuing] {
            let mut step = granted_until(Some(30_000));
            step.after.phase = phase;
            step.accepted(fresh(&INVARIANT).as_mut());
            step.after.deadline = None;
            step.rejected(fresh(&INVARIANT).as_mut(), "without a deadline");
        }
    }

    #[test]
    fn a_channel_that_rests_by_order_may_wait() {
        let mut held = granted_until(None);
        held.after.rest = Some(Pause::Held);
        held.accepted(fresh(&INVARIANT).as_mut());
        let mut literal = granted_until(None);
        literal.rules = Config::seed_literal();
        literal.accepted(fresh(&INVARIANT).as_mut());
    }
}
