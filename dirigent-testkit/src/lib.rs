//! What a bot and its adapters are tested with: a Discord in memory, a clock that stands still, agents by script, and
//! suites that every implementation of a trait must pass.
//!
//! `dirigent-loopback` puts the same Discord behind HTTP and WebSocket on 127.0.0.1.

pub mod contract;
mod log;
mod manual_clock;
pub mod memory_discord;
mod random;
pub mod scripted_agent;

pub use log::{Listening, Log, print_warnings};
pub use manual_clock::ManualClock;
pub use memory_discord::{MemoryAccount, MemoryChannel, MemoryDiscord, MemoryGuild};
pub use random::Random;
pub use scripted_agent::ScriptedAgent;
