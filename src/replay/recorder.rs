//! Writing down what happened, so that it can be replayed: why did B not answer?

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent_core::snapshot::RestoreError;
use dirigent_core::{
    Answer, Config, Effect, Input, Refusal, Snapshot, Timestamp, Transition, TurnMachine,
};

use crate::ChannelId;
pub use crate::ports::recorder::Recorder;

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

/// One channel's recording: where it began, and everything that followed.
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

/// One input of a replay, with what the machine made of it.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplayedStep {
    /// When the input was recorded.
    pub at: Timestamp,
    /// What happened.
    pub input: Input,
    /// What was answered.
    pub answer: Result<Answer, Refusal>,
    /// What was asked for, and what changed.
    pub effects: Vec<Effect>,
}

impl fmt::Debug for ReplayedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?} => {:?} {:?}", self.at, self.input, self.answer, self.effects)
    }
}

impl RecordedChannel {
    /// A recording that begins here.
    pub const fn new(config: Arc<Config>, start: Snapshot) -> Self {
        Self { config, start, inputs: Vec::new() }
    }

    /// Gives the inputs to the core again, and returns the transitions: the same as happened.
    ///
    /// # Errors
    ///
    /// When the beginning cannot be restored.
    pub fn replay(&self) -> Result<Vec<Transition>, RestoreError> {
        let effects = self.steps()?.into_iter().flat_map(|step| step.effects);
        Ok(effects.filter_map(|effect| effect.transition()).collect())
    }

    /// The same, input by input.
    ///
    /// # Errors
    ///
    /// When the beginning cannot be restored.
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
    /// What was recorded of a channel so far.
    pub fn channel(&self, channel: ChannelId) -> Option<RecordedChannel> {
        self.lock().get(&channel).cloned()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ChannelId, RecordedChannel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorder for Recording {
    fn began(&self, channel: ChannelId, config: &Arc<Config>, snapshot: Snapshot) {
        let fresh = RecordedChannel::new(Arc::clone(config), snapshot);
        self.lock().entry(channel).or_insert(fresh);
    }

    fn recorded(&self, channel: ChannelId, at: Timestamp, input: &Input) {
        if let Some(recorded) = self.lock().get_mut(&channel) {
            recorded.inputs.push((at, input.clone()));
        }
    }
}
