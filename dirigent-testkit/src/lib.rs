//! What Dirigent is proven with.

pub mod contract;
mod log;
#[cfg(feature = "loopback")]
pub mod loopback;
mod manual_clock;
#[cfg_attr(
    not(feature = "loopback"),
    expect(dead_code, reason = "one world, though only the server tells all that it knows")
)]
pub mod memory_discord;

pub use log::{Listening, Log, print_warnings};
#[cfg(feature = "loopback")]
pub use loopback::LoopbackDiscord;
pub use manual_clock::ManualClock;
pub use memory_discord::{MemoryAccount, MemoryDiscord};
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
