//! For those who write a store: what is kept of a channel, and the contract of a store. [`MemoryChannels`] keeps it
//! in memory; the crate `dirigent-store` in files or in SQLite.

pub use crate::memory::MemoryChannels;
pub use crate::ports::store::{ChannelStore, Commit, CommitError, Durability};
pub use crate::record::channel::{
    ChannelRecord, GapFrom, Outgoing, OutgoingPart, ReplyEnd, Revision, StoredChannel, Writer,
};
pub use crate::record::discussion::Discussion;
pub use crate::record::handed::Handed;
pub use crate::record::outbox::{OutboxKind, OutboxMessage};
pub use crate::values::load_error::{Barred, LoadError};
