//! For authors of a store: the data of a channel, and the contract of a store. [`MemoryChannels`] keeps the data in
//! memory, and the crate `dirigent-store` keeps it in files or in SQLite.

pub use crate::memory::MemoryChannels;
pub use crate::ports::store::{ChannelStore, Commit, CommitError, Durability};
pub use crate::record::channel::{
    ChannelRecord, GapFrom, Outgoing, OutgoingPart, ReplyEnd, Revision, StoredChannel, Writer,
};
pub use crate::record::discussion::Discussion;
pub use crate::record::handed::ReadMark;
pub use crate::record::outbox::{OutboxKind, OutboxMessage};
pub use crate::values::load_error::{Barred, LoadError};
