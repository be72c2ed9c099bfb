//! What is stored of a channel: values come from the room, and stores write and read them.

pub(crate) mod channel;
pub(crate) mod discussion;
pub(crate) mod handed;
pub(crate) mod outbox;
