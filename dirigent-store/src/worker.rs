//! Threads for work on files: jobs come in from any task, and each is answered once it is done.

mod inbox;
mod life;
mod queue;
mod thread;

pub(crate) use inbox::{About, Inbox, Queued};
pub(crate) use life::{Answer, Jobs, Life, Start};
pub(crate) use queue::{Queue, Receiver, Sender, now, queue, start};
pub(crate) use thread::Worker;
