//! The recordings of the rooms: the newest inputs of each channel, in memory.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::ports::Timestamp;
use dirigent::replay::{Input, RecordedChannel, Recorder};
use dirigent::snapshot::Snapshot;
use dirigent::{ChannelId, Config};
use dirigent_core::TurnMachine;
use rustc_hash::FxHashMap;

/// Records the newest inputs of each channel in memory. So the page can show why an agent was denied, and can replay
/// the room. Pass it to [`Builder::recorder`](dirigent::host::Builder::recorder) and to
/// [`ControlBuilder::recorder`](crate::ControlBuilder::recorder). Clones share it.
///
/// It keeps between `kept` and twice as many inputs of a channel, for at most 1,000 channels. The only text in an input
/// is the end of a message, with at most 64 characters. When the recording of a channel is full, a turn machine
/// processes the older half, and the rest starts from its state.
///
/// ```
/// use dirigent::ChannelId;
/// let recorder = dirigent_control::MemoryRecorder::default();
/// assert!(recorder.channel(ChannelId::new(1)).is_none());
/// ```
#[derive(Clone)]
pub struct MemoryRecorder {
    kept: usize,
    channels: Arc<Mutex<FxHashMap<ChannelId, RecordedChannel>>>,
}

const CHANNELS_MAX: usize = 1_000;

impl Default for MemoryRecorder {
    /// Keeps 1,000 to 2,000 inputs of a channel, which are some hundred turns.
    fn default() -> Self {
        Self::new(1_000)
    }
}

impl MemoryRecorder {
    /// Creates a recorder that keeps at least this number of inputs of each channel, and at most twice this number.
    pub fn new(kept: usize) -> Self {
        Self { kept: kept.max(1), channels: Arc::default() }
    }

    /// Returns the recording of a channel.
    pub fn channel(&self, channel: ChannelId) -> Option<RecordedChannel> {
        self.lock().get(&channel).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<ChannelId, RecordedChannel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for MemoryRecorder {
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: Snapshot) {
        let mut channels = self.lock();
        let is_known = channels.contains_key(&channel);
        if !is_known && channels.len() >= CHANNELS_MAX {
            let newest = |recorded: &RecordedChannel| recorded.inputs.last().map(|(at, _)| *at);
            let quiet = channels.iter().min_by_key(|(_, recorded)| newest(recorded));
            if let Some(quiet) = quiet.map(|(channel, _)| *channel) {
                channels.remove(&quiet);
            }
        }
        // A channel that was unloaded in the meantime continues its recording.
        channels
            .entry(channel)
            .or_insert_with(|| RecordedChannel::new(Arc::clone(config), snapshot));
    }

    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &Input) {
        if let Some(recorded) = self.lock().get_mut(&channel) {
            recorded.inputs.push((at, input.clone()));
            if recorded.inputs.len() >= self.kept.saturating_mul(2) {
                let older = recorded.inputs.len() - self.kept;
                shorten(recorded, older);
            }
        }
    }
}

/// Moves the start of a recording behind its first inputs.
fn shorten(recorded: &mut RecordedChannel, first: usize) {
    if let Ok(mut machine) = TurnMachine::restore(Arc::clone(&recorded.config), &recorded.start) {
        let mut effects = Vec::new();
        for (at, input) in recorded.inputs.drain(..first) {
            // An input that is refused now was also refused then.
            let _ = machine.handle(at, &input, &mut effects);
            effects.clear();
        }
        recorded.start.clone_from(machine.snapshot());
        recorded.config = Arc::clone(machine.config());
    } else {
        recorded.inputs.drain(..first);
    }
}

impl fmt::Debug for MemoryRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryRecorder").field("kept", &self.kept).finish_non_exhaustive()
    }
}
