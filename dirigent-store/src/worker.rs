//! Threads for work on files: a caller on any runtime sends a job and awaits its answer. `queue` is the way to a
//! thread, `life` reaches from a store's first call to its last, and `inbox` lets reads overtake the commits of
//! other channels.

mod inbox;
mod life;
mod queue;
mod thread;

pub(crate) use inbox::{About, Inbox, Queued};
pub(crate) use life::{Answer, Jobs, Life, Start};
pub(crate) use queue::{Queue, Receiver, Sender, now, queue, start};
pub(crate) use thread::Worker;
