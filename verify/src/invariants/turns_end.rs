//! I7: no part of a turn lasts longer than its time-out.

use std::time::Duration;

use dirigent_core::view::Pause;
use dirigent_core::{Config, Effect, PhaseKind};

use super::{Glance, Invariant, Observation, Observer};
use crate::portrait::has_speaker;

pub(super) const INVARIANT: Invariant = Invariant {
    id: "I7",
    promise: 3,
    requirements: "R117, D35, D64, rules 14, 18, 40",
    sentence: "no start, run, confirmation or reading of the list outlasts its time-out, whatever is lost",
    observer: || Box::new(TurnsEnd::default()),
};

/// A watch of its own, which adds up the time between steps.
#[derive(Debug, Default)]
struct TurnsEnd {
    /// How long the phase has lasted, or since the last trigger.
    lasted: Duration,
    /// The longest that the rules have allowed since it began.
    limit: Option<Duration>,
    /// How long the list that was asked for last may take, by the rules of then.
    patience: Duration,
    /// How long the run under way may last, by the rules of when it began.
    run: Option<Duration>,
}

impl Observer for TurnsEnd {
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String> {
        let after = seen.after;
        if seen.effects.iter().any(|effect| matches!(effect, Effect::FetchMembers { .. })) {
            self.patience =
                seen.rules.members.refresh_deadline.max(seen.rules_before.members.refresh_deadline);
        }
        // What expires when the rules change still follows the old ones, and so does what it begins.
        let mut limit = limit_of(after, seen.rules, self.patience);
        if seen.rules_changed() {
            limit = longer(limit, limit_of(after, seen.rules_before, self.patience));
        }
        let entered = seen
            .transitions()
            .any(|told| told.to == after.phase && (told.from != told.to || has_speaker(told.to)));
        let asked = |effect: &Effect| {
            matches!(
                effect,
                Effect::Trigger { .. } | Effect::FetchMembers { .. } | Effect::Consult { .. }
            )
        };
        let triggered = seen.effects.iter().any(asked);
        let anew = (entered && seen.before.phase != after.phase)
            || seen.before.turn != after.turn
            || triggered;
        if anew || !after.is_active() {
            let back = seen.before.phase == PhaseKind::Waiting;
            let runs = after.phase == PhaseKind::Running;
            self.lasted = Duration::ZERO;
            self.limit = if runs && back { longer(self.run, limit) } else { limit };
            if runs {
                self.run = self.limit;
            }
            return Ok(());
        }
        if seen.rules_changed() {
            self.limit = longer(self.limit, limit);
            if after.phase == PhaseKind::Running {
                self.run = self.limit;
            }
        }
        let asked = matches!(after.phase, PhaseKind::Granted | PhaseKind::Continuing);
        if asked && after.rest == Some(Pause::Held) {
            self.lasted = Duration::ZERO;
            return Ok(());
        }
        if seen.before.chat_away.is_some() || after.chat_away.is_some() {
            self.lasted = Duration::ZERO;
            return Ok(());
        }
        self.lasted += seen.elapsed;
        match self.limit {
            Some(limit) if self.lasted >= limit => {
                Err(format!("{:?} has lasted {:?}", after.phase, self.lasted))
            }
            _ => Ok(()),
        }
    }

    fn restarted(&mut self, _: &Glance) {
        // What the clock did between the last storing and the crash is not known any more.
        self.lasted = Duration::ZERO;
    }
}

/// How long the phase may last; `None`: for ever.
fn limit_of(glance: &Glance, rules: &Config, patience: Duration) -> Option<Duration> {
    match glance.phase {
        PhaseKind::Granted | PhaseKind::Continuing => rules.deadlines.start,
        PhaseKind::Running => rules.deadlines.run,
        PhaseKind::Waiting => Some(rules.people.consult_deadline),
        PhaseKind::Confirming => Some(rules.confirmation.delivery_timeout),
        PhaseKind::Refreshing => Some(patience),
        PhaseKind::Delivering
        | PhaseKind::Dormant
        | PhaseKind::Unknown
        | PhaseKind::Disabled
        | PhaseKind::Dead
        | PhaseKind::Archived
        | _ => None,
    }
}

/// The longer of two limits, where none is the longest.
fn longer(one: Option<Duration>, other: Option<Duration>) -> Option<Duration> {
    Some(one?.max(other?))
}

#[cfg(test)]
mod tests {
    use dirigent_core::Cause;

    use super::super::forged::{A, Forged, fresh};
    use super::*;

    fn begun(phase: PhaseKind) -> Box<dyn Observer> {
        let mut observer = fresh(&INVARIANT);
        let told = [(PhaseKind::Dormant, phase, A, Cause::HumanMessage)];
        let mut step = Forged::default().telling(&told);
        let ticket = dirigent_core::Ticket::new(1);
        step.effects.push(Effect::FetchMembers { ticket });
        step.accepted(observer.as_mut());
        observer
    }

    fn later(phase: PhaseKind, seconds: u64) -> Forged {
        let mut step = Forged { elapsed: Duration::from_secs(seconds), ..Forged::default() };
        step.before.phase = phase;
        step.after.phase = phase;
        step
    }

    #[test]
    fn a_phase_that_goes_on_and_on_is_caught() {
        let limits = [
            (PhaseKind::Granted, 45),
            (PhaseKind::Running, 600),
            (PhaseKind::Confirming, 15),
            (PhaseKind::Refreshing, 10),
            (PhaseKind::Continuing, 45),
            (PhaseKind::Waiting, 30),
        ];
        for (phase, limit) in limits {
            let mut observer = begun(phase);
            later(phase, limit - 1).accepted(observer.as_mut());
            later(phase, 1).rejected(observer.as_mut(), "has lasted");
        }
    }
}
