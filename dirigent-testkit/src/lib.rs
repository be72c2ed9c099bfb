//! What Dirigent is proven with.

pub mod contract;
mod log;
mod manual_clock;
pub mod memory_discord;
mod random;

pub use log::{Listening, Log, print_warnings};
pub use manual_clock::ManualClock;
pub use memory_discord::{MemoryAccount, MemoryDiscord};
pub use random::Random;
pub use scripted_agent::ScriptedAgent;

pub mod check;
pub mod crash_points;
pub mod driver_simulation;
pub mod fuzzing;
pub mod invariants;
pub mod model;
pub mod scripted_agent;
pub mod simulation;
pub mod stage;
