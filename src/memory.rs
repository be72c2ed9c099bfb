//! Stores in memory, for tests and for bots that may forget. `resting` packs a channel that has not talked for
//! long.

mod channels;
mod identities;
mod resting;

pub use channels::MemoryChannels;
pub use identities::MemoryIdentities;
