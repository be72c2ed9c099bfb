//! What a simulation came to.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

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
