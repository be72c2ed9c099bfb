//! Stores that need nothing else to start.

mod channels;
mod identities;

pub use channels::MemoryChannels;
pub use identities::MemoryIdentities;
