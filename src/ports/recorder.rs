//! The recorder: it receives every input, so that a channel can be replayed.

use std::sync::Arc;

use dirigent_core::{Config, Input, Snapshot, Timestamp};

use crate::ChannelId;

/// Receives every input of every channel, in order. It is called under the channel's lock: it must be
/// quick and must not call the library. Inputs hold no text but ends of at most 64 scalars, which `Debug` does not show.
pub trait Recorder: Send + Sync + 'static {
    /// A channel was taken into memory in this state.
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: Snapshot);

    /// An input was given to it.
    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &Input);
}
