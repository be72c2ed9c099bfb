//! What was seen on the way.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use dirigent_core::{Answer, Effect, PhaseKind, Refusal};

/// What a check that found nothing has seen.
///
/// ```
/// use std::sync::Arc;
/// use dirigent_core::Config;
/// use dirigent_verify::check::{Step, check};
///
/// let report = check(&Arc::new(Config::default()), 1, &[Step::DeadlineTick]).expect("no difference");
/// assert_eq!(report.steps, 1);
/// assert_eq!(report.count("phase", "disabled"), 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Steps made.
    pub steps: u64,
    /// Copies that were restored and compared.
    pub restored: u64,
    /// How often what was seen: a kind (`phase`, `reason`, `refusal`, `cause`, `effect`) and a name.
    pub seen: BTreeMap<(&'static str, &'static str), u64>,
}

impl Report {
    /// How often this was seen.
    pub fn count(&self, kind: &str, name: &str) -> u64 {
        let mut found = self.seen.iter();
        let found = found.find(|((its_kind, its_name), _)| *its_kind == kind && *its_name == name);
        found.map_or(0, |(_, count)| *count)
    }

    /// Takes one step down.
    pub(super) fn note(
        &mut self,
        answer: Result<Answer, Refusal>,
        effects: &[Effect],
        phase: PhaseKind,
    ) {
        self.saw("phase", phase.as_str());
        match answer {
            Ok(Answer::Accepted) => {}
            Ok(Answer::Verdict(verdict)) => self.saw("reason", verdict.reason().as_str()),
            Err(refusal) => self.saw("refusal", refusal.as_str()),
        }
        for effect in effects {
            match effect {
                Effect::FetchMembers { .. } => self.saw("effect", "fetch-members"),
                Effect::Trigger { .. } => self.saw("effect", "trigger"),
                Effect::Delete { .. } => self.saw("effect", "delete"),
                Effect::Poll { .. } => self.saw("effect", "poll"),
                Effect::Notice { .. } => self.saw("effect", "notice"),
                Effect::Reminder { .. } => self.saw("effect", "reminder"),
                Effect::Inject { .. } => self.saw("effect", "inject"),
                Effect::Deliver { .. } => self.saw("effect", "deliver"),
                Effect::Consult { .. } => self.saw("effect", "consult"),
                Effect::CancelRun { .. } => self.saw("effect", "cancel-run"),
                Effect::Transition(change) => self.saw("cause", change.cause.as_str()),
            }
        }
    }

    /// Counts one.
    fn saw(&mut self, kind: &'static str, name: &'static str) {
        *self.seen.entry((kind, name)).or_default() += 1;
    }
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.restored += other.restored;
        for (what, count) in other.seen {
            *self.seen.entry(what).or_default() += count;
        }
    }
}
