//! What must hold of every channel after every step: one invariant a file, and one table of all.
//!
//! An invariant watches from outside. It is shown every step of a channel as an [`Observation`] and
//! keeps its own books, so that a mistake of the machine cannot excuse itself. Where the machine's
//! own `audit` looks at one state, these look at histories.
//!
//! Every file ends with tests that show the invariant a forged observation which it must reject:
//! a net that cannot catch anything would be found out.

mod absent_are_not_granted;
mod archived_absorbs;
mod audited;
mod bounded;
mod budgets_hold;
mod ceilings_hold;
mod dormant_after_silence;
#[cfg(test)]
mod forged;
mod glance;
mod humans_are_heard;
mod last_is_not_first;
mod last_word_stands;
mod no_loop;
mod no_lost_wake_up;
mod numbers_rise;
mod observation;
mod one_speaker;
mod one_wake_per_word;
mod only_people_lift;
mod outages_skip_nobody;
mod repeatable;
mod replies_hold_the_floor;
mod rest_is_rest;
mod restorable;
mod says_when;
mod says_why;
mod says_why_unasked;
mod stale_changes_nothing;
mod transitions_tell_all;
mod triggers_are_counted;
mod turns_end;
mod unknown_denies;
mod watched;
mod whole_cycles;
mod whole_turns_end;

use std::fmt;

pub use glance::Glance;
pub(crate) use observation::is_grant;
pub use observation::{Asked, Observation, Restored, TwinStep};
pub use watched::{TwinSchedule, Watched};

/// One thing that must hold, and who watches it.
///
/// ```
/// use dirigent_verify::invariants::ALL;
/// assert!(ALL.iter().all(|invariant| !invariant.sentence.is_empty()));
/// ```
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Invariant {
    /// Its short name, as failures print it.
    pub id: &'static str,
    /// Which of the five promises it guards: 1 one speaker, 2 no loop, 3 no stall, 4 the human
    /// wins, 5 it says why; 0 for those that guard the machine itself.
    pub promise: u8,
    /// The requirements (R, F), ambiguities (D) and rules it comes from.
    pub requirements: &'static str,
    /// What must hold.
    pub sentence: &'static str,
    /// A fresh observer for one channel.
    pub observer: fn() -> Box<dyn Observer>,
}

impl fmt::Debug for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.id, self.sentence)
    }
}

/// Watches one invariant over the life of one channel.
pub trait Observer: fmt::Debug {
    /// Looks at one step.
    ///
    /// # Errors
    ///
    /// What was seen that must not be.
    fn observe(&mut self, seen: &Observation<'_>) -> Result<(), String>;

    /// The channel was brought back from what was stored; it looks like `now`.
    fn restarted(&mut self, now: &Glance) {
        let _ = now;
    }
}

/// Every invariant of the core.
///
/// ```
/// use dirigent_verify::invariants::ALL;
/// assert_eq!(ALL.first().map(|invariant| invariant.id), Some("I1"));
/// ```
pub const ALL: &[Invariant] = &[
    one_speaker::INVARIANT,
    numbers_rise::INVARIANT,
    no_lost_wake_up::INVARIANT,
    dormant_after_silence::INVARIANT,
    no_loop::INVARIANT,
    one_wake_per_word::INVARIANT,
    archived_absorbs::INVARIANT,
    turns_end::INVARIANT,
    whole_turns_end::INVARIANT,
    whole_cycles::INVARIANT,
    last_is_not_first::INVARIANT,
    last_word_stands::INVARIANT,
    stale_changes_nothing::INVARIANT,
    restorable::INVARIANT,
    repeatable::INVARIANT,
    bounded::INVARIANT,
    triggers_are_counted::INVARIANT,
    ceilings_hold::INVARIANT,
    only_people_lift::INVARIANT,
    budgets_hold::INVARIANT,
    absent_are_not_granted::INVARIANT,
    says_why::INVARIANT,
    says_why_unasked::INVARIANT,
    says_when::INVARIANT,
    transitions_tell_all::INVARIANT,
    humans_are_heard::INVARIANT,
    rest_is_rest::INVARIANT,
    replies_hold_the_floor::INVARIANT,
    outages_skip_nobody::INVARIANT,
    unknown_denies::INVARIANT,
    audited::INVARIANT,
];

/// An invariant that did not hold.
///
/// ```
/// use dirigent_verify::invariants::{ALL, Violation};
/// let violation = Violation::new(&ALL[0], "two agents run".to_owned());
/// assert!(violation.to_string().starts_with("I1"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Violation {
    /// Which one: its id.
    pub id: &'static str,
    /// What should have held.
    pub sentence: &'static str,
    /// What was seen instead.
    pub detail: String,
}

impl Violation {
    /// This invariant, and what was seen instead.
    pub const fn new(invariant: &Invariant, detail: String) -> Self {
        Self { id: invariant.id, sentence: invariant.sentence, detail }
    }

    /// A violation of something that is no invariant of a single channel.
    pub(crate) const fn of(id: &'static str, sentence: &'static str, detail: String) -> Self {
        Self { id, sentence, detail }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.id, self.sentence, self.detail)
    }
}

impl std::error::Error for Violation {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_invariant_has_its_own_id() {
        for (at, invariant) in ALL.iter().enumerate() {
            assert!(ALL[..at].iter().all(|other| other.id != invariant.id));
            assert!(invariant.promise <= 5);
        }
    }
}
