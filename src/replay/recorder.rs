//! Records what happened, so that you can replay it. For example, you find out why an agent did not answer.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use dirigent_core::snapshot::RestoreError;
use dirigent_core::{
    Answer, Config, Effect, Input, Refusal, Snapshot, Timestamp, Transition, TurnMachine,
};

use crate::ChannelId;
pub use crate::ports::recorder::Recorder;
use crate::values::sync::locked;

/// A recording in memory.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::replay::Recording;
/// let recording = Recording::default();
/// assert!(recording.channel(ChannelId::new(1)).is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recording {
    channels: Arc<Mutex<HashMap<ChannelId, RecordedChannel>>>,
}

/// The recording of one channel. It has the state at the beginning, and every input after it.
///
/// ```
/// use dirigent::replay::RecordedChannel;
/// use dirigent::snapshot::Snapshot;
/// let nothing = RecordedChannel::new(Default::default(), Snapshot::default());
/// assert_eq!(nothing.replay().unwrap(), Vec::new());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedChannel {
    /// The rules at the beginning.
    pub config: Arc<Config>,
    /// The state at the beginning.
    pub start: Snapshot,
    /// Every input with its time.
    pub inputs: Vec<(Timestamp, Input)>,
}

/// One input of a replay, with the machine's answer and effects.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayedStep {
    /// The time of the input.
    pub at: Timestamp,
    /// The input.
    pub input: Input,
    /// The machine's answer.
    pub answer: Result<Answer, Refusal>,
    /// The machine's requests and changes.
    pub effects: Vec<Effect>,
}

impl fmt::Debug for ReplayedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} => {:?} {:?}", self.at, self.input, self.answer, self.effects)
    }
}

impl RecordedChannel {
    /// Creates a recording that begins with this state.
    pub const fn new(config: Arc<Config>, start: Snapshot) -> Self {
        Self { config, start, inputs: Vec::new() }
    }

    /// Gives the inputs to the core again, and returns the transitions. They are the same as in the recorded channel.
    ///
    /// # Errors
    ///
    /// Fails if the beginning cannot be restored.
    pub fn replay(&self) -> Result<Vec<Transition>, RestoreError> {
        let effects = self.steps()?.into_iter().flat_map(|step| step.effects);
        Ok(effects.filter_map(|effect| effect.transition()).collect())
    }

    /// Replays the recording, and returns each input with its effects.
    ///
    /// # Errors
    ///
    /// Fails if the beginning cannot be restored.
    pub fn steps(&self) -> Result<Vec<ReplayedStep>, RestoreError> {
        let mut channel = TurnMachine::restore(Arc::clone(&self.config), &self.start)?;
        let replay = self.inputs.iter().map(|(at, input)| {
            let mut effects = Vec::new();
            let answer = channel.handle(*at, input, &mut effects);
            ReplayedStep { at: *at, input: input.clone(), answer, effects }
        });
        Ok(replay.collect())
    }
}

impl Recording {
    /// Returns the recording of a channel so far.
    pub fn channel(&self, channel: ChannelId) -> Option<RecordedChannel> {
        locked(&self.channels).get(&channel).cloned()
    }
}

impl Recorder for Recording {
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: Snapshot) {
        let fresh = RecordedChannel::new(Arc::clone(config), snapshot);
        locked(&self.channels).entry(channel).or_insert(fresh);
    }

    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &Input) {
        if let Some(recorded) = locked(&self.channels).get_mut(&channel) {
            recorded.inputs.push((at, input.clone()));
        }
    }
}
