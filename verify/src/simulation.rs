//! The simulated world: one thread, no I/O, everything from one number.
//!
//! Around a real [`Channel`](dirigent_core::TurnMachine) stand a fake Discord, a fake host, agents of
//! many characters, and people. Messages are lost, repeated and reordered; answers fail, are late
//! or never come; the clock jumps; the process dies at any step and starts again from what it
//! stored last. After every step every [invariant](crate::invariants) is asked, and at the end,
//! when all faults have stopped, the channel must move again.
//!
//! ```
//! use dirigent_verify::simulation::{Profile, simulate};
//!
//! let report = simulate(42, 1_000, &Profile::default()).expect("no invariant breaks");
//! assert!(report.steps >= 1_000);
//! ```

mod agenda;
mod background_events;
mod cast;
mod crash;
mod host;
mod profile;
mod recovery;
mod report;
mod room;
mod rules;
mod stage;
mod steering;
mod texts;
mod world;

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use profile::{Faults, Profile};
pub use report::{Failure, Report};
pub use world::World;

use crate::invariants::Violation;

/// Runs this many steps of the world that this seed describes, and through the recovery
/// after them.
///
/// # Errors
///
/// The first invariant that did not hold, with the last inputs before it. The same seed, steps and
/// profile fail again in the same step.
pub fn simulate(seed: u64, steps: u64, profile: &Profile) -> Result<Report, Box<Failure>> {
    let mut world = World::new(seed, profile);
    match run(&mut world, steps) {
        Ok(()) => Ok(world.report()),
        Err(_) => Err(Box::new(tell(seed, steps, profile, world.report().steps))),
    }
}

fn run(world: &mut World, steps: u64) -> Result<(), Violation> {
    let lived = catch_unwind(AssertUnwindSafe(|| world.run(steps)));
    lived.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(Violation::of("panic", "nothing panics", text.unwrap_or_default()))
    })
}

/// Lives through it all once more, and writes down what happened before the failure.
fn tell(seed: u64, steps: u64, profile: &Profile, failed_at: u64) -> Failure {
    let mut world = World::new(seed, profile);
    world.record_from(failed_at.saturating_sub(Failure::INPUTS_MAX));
    let violation = match run(&mut world, steps) {
        Err(violation) => violation,
        Ok(()) => Violation::of("repeatable", "a seed is a whole story", "it passed".to_owned()),
    };
    Failure::new(seed, world.report().steps, violation, world.recorded())
}
