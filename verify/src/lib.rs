//! What proves that the machine keeps the rules, and the driver what it promises.
//!
//! The [`model`] says the rules once more, slow and obvious, and [`check`] compares the machine with it step by step. The
//! [`simulation`] lets the machine live in a hostile world and asks every one of the [`invariants`] after every step.
//! The [`stage`] is a whole process on one thread: on it the driver is killed at [`crash_points`], and lives in a hostile
//! world of its own ([`driver_simulation`]). [`fuzzing`] is what the fuzzers run. A [`database`] is a real PostgreSQL, where one is
//! installed, and [`processes`] are real, too.

pub mod check;
pub mod crash_points;
pub mod database;
pub mod driver_simulation;
pub mod fuzzing;
pub mod invariants;
pub mod model;
pub mod nats;
pub mod portrait;
pub mod processes;
pub mod simulation;
pub mod stage;
