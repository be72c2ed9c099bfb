//! The simulated world: one thread, no I/O, everything from one number.
//!
//! Around a real [`Channel`](dirigent_core::TurnMachine) stand a fake Discord, a fake host, agents of
//! many characters, and people. Messages are lost, repeated and reordered; answers fail, are late
//! or never come; the clock jumps; the process dies at any step and starts again from what it
//! stored last. After every step every [invariant](crate::invariants) is asked, and at the end,
//! when all faults have stopped, the channel must move again.
//!
//! ```
//! use dirigent_testkit::worlds::Worlds;
//! use dirigent_verify::simulation::{Profile, World};
//!
//! let worlds = Worlds::fixed("", 42, 1, 1_000);
//! let report = worlds.live(|number, _| World::new(number, &Profile::default()), World::report);
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

pub use profile::{Faults, Profile};
pub use report::Report;
pub use world::World;
