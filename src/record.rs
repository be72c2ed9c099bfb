//! The stored form of a channel. The room makes these values, and stores write and read them.
//!
//! `channel` is the record, `handed` has the mark of each agent, and `discussion` and `outbox` belong to discussions.

pub(crate) mod channel;
pub(crate) mod discussion;
pub(crate) mod handed;
pub(crate) mod outbox;
