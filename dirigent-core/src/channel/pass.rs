//! Several inputs at one time (rule 74)

use alloc::vec::Vec;

use super::Channel;
use super::step::Step;
use crate::{Answer, Effect, Input, Refusal, Timestamp};

/// Several inputs that happen at the same time: begun by [`Channel::pass`].
///
/// The channel and the effects are exactly as if each input had been given to
/// [`Channel::handle`] with the same time, one after the other. A pass without an input is a
/// [`Input::Tick`]. Dropping it finishes it.
///
/// ```
/// use dirigent_core::{AgentKey, Channel, Config, Input, Mode, Timestamp};
///
/// let mut channel = Channel::new(Config::default().into(), 1);
/// let mut effects = Vec::new();
/// let mut pass = channel.pass(Timestamp::from_millis(1), &mut effects);
/// pass.take(&Input::SetMode(Mode::Chat))?;
/// pass.take(&Input::Mute(AgentKey::new(3)))?;
/// assert!(!pass.effects().is_empty());
/// pass.finish();
/// assert_eq!(channel.view().mode(), Mode::Chat);
/// # Ok::<(), dirigent_core::Refusal>(())
/// ```
#[derive(Debug)]
pub struct Pass<'a> {
    step: Step<'a>,
    /// How many effects were counted in the revision.
    counted: usize,
}

impl Channel {
    /// Begins a pass: sets the time and lets everything that is due expire.
    pub fn pass<'a>(&'a mut self, now: Timestamp, effects: &'a mut Vec<Effect>) -> Pass<'a> {
        self.set_now(now);
        let counted = effects.len();
        let mut step = Step { channel: self, effects };
        step.expire();
        Pass { step, counted }
    }
}

impl Pass<'_> {
    /// Takes in one input, and lets expire what became due by it.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] means that the input changed nothing; the pass goes on.
    pub fn take(&mut self, input: &Input) -> Result<Answer, Refusal> {
        let answer = self.step.consider(input);
        self.step.expire();
        self.count();
        debug_assert_eq!(self.step.channel.audit(), Ok(()), "after {input:?}");
        answer
    }

    /// The channel as the inputs so far have left it.
    pub const fn channel(&self) -> &Channel {
        self.step.channel
    }

    /// The buffer of effects: what it held before, then what this pass appended.
    pub fn effects(&self) -> &[Effect] {
        self.step.effects
    }

    /// Ends the pass, as dropping it does.
    pub fn finish(self) {}

    /// Counts effects as a change that a restart must not lose.
    fn count(&mut self) {
        self.step.channel.drop_unused();
        let total = self.step.effects.len();
        if total > self.counted {
            self.counted = total;
            self.step.channel.revision += 1;
        }
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.count();
    }
}
