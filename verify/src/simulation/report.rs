//! What a simulation came to.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use crate::invariants::Violation;

/// What was lived through, and how much of it.
///
/// ```
/// use dirigent_verify::simulation::Report;
///
/// let mut total = Report::default();
/// total += Report::default();
/// assert_eq!(total.steps, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// Inputs handled.
    pub steps: u64,
    /// Turns granted.
    pub turns: u64,
    /// Runs that were allowed a turn.
    pub runs: u64,
    /// Faults injected.
    pub faults: u64,
    /// Deaths of the process among them.
    pub restarts: u64,
    /// Channels, one after another.
    pub channels: u64,
    /// Time that passed in the world.
    pub simulated: Duration,
    /// A number that every answer and effect went into: equal for equal lives.
    pub digest: u64,
}

impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        self.steps += other.steps;
        self.turns += other.turns;
        self.runs += other.runs;
        self.faults += other.faults;
        self.restarts += other.restarts;
        self.channels += other.channels;
        self.simulated += other.simulated;
        self.digest ^= other.digest.rotate_left(17);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} steps, {} turns, {} runs, {} faults, {} restarts, {} channels, {} days",
            self.steps,
            self.turns,
            self.runs,
            self.faults,
            self.restarts,
            self.channels,
            self.simulated.as_secs() / 86_400
        )
    }
}

/// A simulation in which something did not hold.
///
/// Prints one line that says how to live through it again, and then the last inputs.
///
/// ```
/// use dirigent_verify::simulation::Failure;
/// assert!(Failure::INPUTS_MAX >= 10);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The world's number.
    pub seed: u64,
    /// In which step.
    pub step: u64,
    /// What did not hold.
    pub violation: Violation,
    /// The last inputs with their times, answers and effects.
    pub inputs: Vec<String>,
}

impl Failure {
    /// How many inputs are told at most.
    pub const INPUTS_MAX: u64 = 40;

    pub(super) const fn new(
        seed: u64,
        step: u64,
        violation: Violation,
        inputs: Vec<String>,
    ) -> Self {
        Self { seed, step, violation, inputs }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "harness=simulation seed={} step={} broken={}",
            self.seed, self.step, self.violation
        )?;
        self.inputs.iter().try_for_each(|input| write!(f, "\n  {input}"))
    }
}

impl std::error::Error for Failure {}
