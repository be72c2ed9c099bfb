//! What an observer notes of a channel: how it looks, and what the model does not say.

use std::ops::{Deref, DerefMut};

use dirigent_core::{DeadlineReason, Timestamp, TurnMachine};

use crate::portrait::Portrait;

/// A channel as an observer sees it at one moment: its portrait, and three facts about the machine itself.
///
/// ```
/// use dirigent_core::{TurnMachine, Config, PhaseKind};
/// use dirigent_verify::invariants::Glance;
///
/// let channel = TurnMachine::new(Config::default().into(), 1);
/// let mut glance = Glance::default();
/// glance.refill(&channel);
/// assert_eq!((glance.phase, glance.due), (PhaseKind::Disabled, None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Glance {
    /// How the channel looks.
    pub portrait: Portrait,
    /// What is due at the deadline.
    pub due: Option<DeadlineReason>,
    /// When the channel says that it goes on by itself.
    pub goes_on_at: Option<Timestamp>,
    /// How many changes it went through.
    pub revision: u64,
}

impl Glance {
    /// Looks again, reusing the buffers.
    pub fn refill(&mut self, channel: &TurnMachine) {
        self.portrait.refill(channel);
        self.due = channel.next_deadline().map(|deadline| deadline.reason);
        self.goes_on_at = channel.view().goes_on_at();
        self.revision = channel.revision();
    }
}

impl Deref for Glance {
    type Target = Portrait;

    fn deref(&self) -> &Portrait {
        &self.portrait
    }
}

impl DerefMut for Glance {
    fn deref_mut(&mut self) -> &mut Portrait {
        &mut self.portrait
    }
}
