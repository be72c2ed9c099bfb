//! Threads for work on files: jobs come in from any task, in order, and each is answered once it is done.

mod inbox;
mod life;
mod thread;

#[cfg(feature = "sqlite")]
pub(crate) use inbox::Next;
pub(crate) use inbox::{About, Inbox, Queued, now};
pub(crate) use life::{Answer, Job, Life, Started};
pub(crate) use thread::Worker;
