//! Stores in memory, for tests and for bots that may forget.

mod channels;
mod identities;

pub use channels::MemoryChannels;
pub use identities::MemoryIdentities;
