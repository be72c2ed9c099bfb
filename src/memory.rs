//! Stores that need nothing else to start.

mod channels;
mod identities;
mod resting;

pub use channels::MemoryChannels;
pub use identities::MemoryIdentities;
