//! What changed, for listeners: a bounded stream of transitions.

use dirigent_core::Transition;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::{AgentId, ChannelId};

/// A transition with its channel and its agent's name.
///
/// ```
/// # use dirigent::{ChannelEvent, ChannelId, PhaseKind, Cause, Transition, TurnId, Timestamp};
/// # let transition = Transition { at: Timestamp::from_millis(1), from: PhaseKind::Dormant,
/// #     to: PhaseKind::Granted, agent: None, turn: TurnId::new(1), cause: Cause::HumanMessage };
/// let event = ChannelEvent { channel: ChannelId::new(1), agent: Some("poet".into()), transition };
/// assert_eq!(event.to_string(), "dormant -> granted: human-message (poet)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct ChannelEvent {
    /// Where.
    pub channel: ChannelId,
    /// Whom it is about.
    pub agent: Option<AgentId>,
    /// What changed, and why.
    pub transition: Transition,
}

impl std::fmt::Display for ChannelEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Transition { from, to, cause, .. } = self.transition;
        if from == to {
            write!(f, "{}: {}", to.as_str(), cause.as_str())?;
        } else {
            write!(f, "{} -> {}: {}", from.as_str(), to.as_str(), cause.as_str())?;
        }
        match &self.agent {
            Some(agent) => write!(f, " ({agent})"),
            None => Ok(()),
        }
    }
}

/// The transitions of all channels from the moment of asking on, each once its state is stored. A listener that is
/// too slow loses the oldest and is told how many.
#[derive(Debug)]
pub struct Transitions {
    receiver: broadcast::Receiver<Heard>,
}

/// What a listener hears.
///
/// ```
/// assert_ne!(dirigent::Heard::Missed(3), dirigent::Heard::Missed(4));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an event was heard or missed")]
pub enum Heard {
    /// A transition.
    Event(ChannelEvent),
    /// This number of transitions was lost: the listener was too slow, or the store took a channel's record so
    /// late that more than 256 of its transitions had to wait. Of those the newest are kept.
    Missed(u64),
}

impl Transitions {
    pub(crate) const fn new(receiver: broadcast::Receiver<Heard>) -> Self {
        Self { receiver }
    }

    /// The next one; `None` when the library has gone.
    ///
    /// # Cancellation
    ///
    /// Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Heard> {
        match self.receiver.recv().await {
            Ok(heard) => Some(heard),
            Err(RecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(RecvError::Closed) => None,
        }
    }

    /// The next one if there is one already.
    pub fn try_next(&mut self) -> Option<Heard> {
        use broadcast::error::TryRecvError;
        match self.receiver.try_recv() {
            Ok(heard) => Some(heard),
            Err(TryRecvError::Lagged(missed)) => Some(Heard::Missed(missed)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}
