//! The recorder, which receives every input, so that you can replay a channel.

use std::sync::Arc;

use dirigent_core::{Config, Input, Snapshot, Timestamp};

use crate::ChannelId;

/// Receives every input of every channel, in order. The library calls it while it holds the channel's lock, so it must
/// be quick and must not call the library. Inputs contain no text except for ends of at most 64 scalars, and `Debug`
/// does not show these.
pub trait Recorder: Send + Sync + 'static {
    /// Receives the state of a channel that was loaded into memory.
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: Snapshot);

    /// Receives an input that a channel got.
    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &Input);
}
