//! Threads for work on files. A caller on any runtime sends a job and awaits its answer. `queue` is the way to the
//! threads, and `life` lasts from a store's first call to its last. `inbox` keeps the order of a channel's jobs, and
//! lets reads overtake the commits of other channels.

mod inbox;
mod life;
mod queue;
mod thread;

pub(crate) use inbox::{About, Inbox, Queued};
pub(crate) use life::{Answer, Jobs, Life, Start};
pub(crate) use queue::{Queue, Receiver, queue, start};
#[cfg(feature = "sqlite")]
pub(crate) use queue::{Sender, now};
pub(crate) use thread::Worker;
