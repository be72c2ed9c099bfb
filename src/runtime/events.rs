//! The events for listeners: transitions of channels, failures of agents, and lost replies.

mod sentence;

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use dirigent_core::{RunId, Transition};
use futures_util::FutureExt;
use futures_util::stream::{Stream, StreamExt, unfold};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::values::error::PostFailure;
use crate::{AgentId, ChannelId};

/// A transition with its channel and its agent's name. Its `Display` is a sentence for people. With `{:#}` it shows the
/// phases and the cause by their stable names.
///
/// ```
/// # use dirigent::operate::{Cause, ChannelEvent, Transition};
/// # use dirigent::ChannelId;
/// # use dirigent::ports::Timestamp;
/// # use dirigent::snapshot::PhaseKind;
/// # use dirigent::hooks::TurnId;
/// # let transition = Transition { at: Timestamp::from_millis(1), from: PhaseKind::Dormant,
/// #     to: PhaseKind::Granted, agent: None, turn: TurnId::new(1), cause: Cause::HumanMessage };
/// let event = ChannelEvent { channel: ChannelId::new(1), agent: Some("poet".into()), transition };
/// assert_eq!(event.to_string(), "poet has the floor: a person wrote");
/// assert_eq!(format!("{event:#}"), "dormant -> granted: human-message (poet)");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct ChannelEvent {
    /// The channel that changed.
    pub channel: ChannelId,
    /// The agent that the change is about.
    pub agent: Option<AgentId>,
    /// The change, and its cause.
    pub transition: Transition,
}

impl fmt::Display for ChannelEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return sentence::write(self, f);
        }
        let Transition { from, to, cause, .. } = self.transition;
        if from == to {
            write!(f, "{to}: {cause}")?;
        } else {
            write!(f, "{from} -> {to}: {cause}")?;
        }
        match &self.agent {
            Some(agent) => write!(f, " ({agent})"),
            None => Ok(()),
        }
    }
}

/// A hosted agent that failed in its turn. The turn is over, and the next agent gets its turn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AgentFailure {
    /// The channel of the call.
    pub channel: ChannelId,
    /// The agent that was called.
    pub agent: AgentId,
    /// The run that failed.
    pub run: RunId,
    /// The error of the agent.
    pub fault: AgentFault,
    /// The kind of failure in words that people may read ([`Agent::failure_class`](crate::Agent::failure_class)).
    pub class: Option<Arc<str>>,
}

impl fmt::Display for AgentFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed in channel {}: {}", self.agent, self.channel, self.fault)
    }
}

/// The host's function for failed agents.
pub(crate) type AgentErrorHook = Arc<dyn Fn(&AgentFailure) + Send + Sync>;

/// The error of an agent. It comes from the host's code and may contain anything, so the library's log does not show
/// it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentFault {
    /// The agent returned this error.
    Error(Arc<dyn Error + Send + Sync>),
    /// The agent panicked.
    Panic,
}

impl fmt::Display for AgentFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Panic => f.write_str("it panicked"),
        }
    }
}

#[derive(Clone)]
pub(crate) struct Failed {
    pub(crate) fault: AgentFault,
    /// The part of the error that people may read.
    pub(crate) class: Option<Arc<str>>,
}

/// A hosted agent's reply that could not be posted, or not all of it. The agent gets the rest back with its next turn.
///
/// ```
/// use dirigent::operate::EventOrLag;
/// fn tell(heard: &EventOrLag) {
///     if let EventOrLag::ReplyLost(lost) = heard {
///         eprintln!("{lost}");
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostReply {
    /// The channel of the reply.
    pub channel: ChannelId,
    /// The author of the lost reply.
    pub agent: AgentId,
    /// The run that made the reply.
    pub run: RunId,
    /// The number of its parts that are in the channel.
    pub posted: usize,
    /// The number of its parts.
    pub parts: usize,
    /// The failure of the last attempt. `None` if the reply was given up without an attempt.
    pub failure: Option<PostFailure>,
}

impl fmt::Display for LostReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agent, posted, parts, .. } = self;
        write!(
            f,
            "the reply of {agent} was given up: {posted} of its {parts} messages are in the channel"
        )?;
        match self.failure {
            Some(failure) => write!(f, "; the last attempt failed: {failure}"),
            None => Ok(()),
        }
    }
}

/// The progress of an agent, or of a worker of an agent, as the host reported it
/// ([`Channel::progress`](crate::Channel::progress)). Its `Debug` output contains no text.
///
/// ```
/// use dirigent::operate::EventOrLag;
/// fn show(heard: &EventOrLag) {
///     if let EventOrLag::Progress(progress) = heard {
///         println!("{}: {}", progress.worker, progress.so_far);
///     }
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The channel that the work is for.
    pub channel: ChannelId,
    /// The name of the worker, which is an agent, or a program that an agent uses.
    pub worker: Arc<str>,
    /// The text for people about what it does, or what it has said so far.
    pub so_far: Arc<str>,
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("channel", &self.channel)
            .field("worker", &self.worker)
            .field("so_far", &format_args!("{} bytes", self.so_far.len()))
            .finish()
    }
}

/// An event, or a gap, that a listener gets.
///
/// ```
/// use dirigent::Dirigent;
/// use dirigent::operate::EventOrLag;
///
/// async fn listen(dirigent: Dirigent) {
///     let mut events = dirigent.events();
///     while let Some(heard) = events.next().await {
///         println!("{heard}");
///         if let EventOrLag::AgentFailed(failure) = heard {
///             println!("{} may need a look", failure.agent);
///         }
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EventOrLag {
    /// A channel changed. The event comes after the change is stored.
    Transition(ChannelEvent),
    /// A hosted agent failed. A cancelled agent makes no such event.
    AgentFailed(AgentFailure),
    /// A reply could not be posted.
    ReplyLost(LostReply),
    /// A worker made progress.
    Progress(Progress),
    /// This number of events was lost. Either the listener was too slow, or the store accepted a channel's record so
    /// late that more than 256 of its transitions had to wait. It keeps the newest of those.
    Lagged(u64),
}

/// Writes the event as a sentence, for logs and consoles. It contains no text of an agent.
impl fmt::Display for EventOrLag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transition(event) => event.fmt(f),
            Self::AgentFailed(failure) => failure.fmt(f),
            Self::ReplyLost(lost) => lost.fmt(f),
            Self::Progress(progress) => {
                write!(f, "channel {}: {} has come further", progress.channel, progress.worker)
            }
            Self::Lagged(events) => write!(f, "{events} events were lost"),
        }
    }
}

/// The events of all channels, from the moment of the subscription on. A listener that is too slow loses the oldest
/// events, and learns how many. It is a [`Stream`], too.
pub struct Events {
    stream: Pin<Box<dyn Stream<Item = EventOrLag> + Send + Sync>>,
}

impl Events {
    pub(crate) fn new(receiver: broadcast::Receiver<EventOrLag>) -> Self {
        Self { stream: Box::pin(unfold(receiver, hear).fuse()) }
    }

    /// Returns the next event. `None` if the library has gone.
    ///
    /// # Cancellation
    ///
    /// If you drop the future, no event is lost.
    pub async fn next(&mut self) -> Option<EventOrLag> {
        self.stream.next().await
    }

    /// Returns the next event if there is one already.
    pub fn try_next(&mut self) -> Option<EventOrLag> {
        self.stream.next().now_or_never().flatten()
    }
}

async fn hear(
    mut receiver: broadcast::Receiver<EventOrLag>,
) -> Option<(EventOrLag, broadcast::Receiver<EventOrLag>)> {
    // Waiting events are returned even if the task has used up its tokio budget.
    match tokio::task::unconstrained(receiver.recv()).await {
        Ok(heard) => Some((heard, receiver)),
        Err(RecvError::Lagged(missed)) => Some((EventOrLag::Lagged(missed), receiver)),
        Err(RecvError::Closed) => None,
    }
}

impl Stream for Events {
    type Item = EventOrLag;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<EventOrLag>> {
        self.stream.poll_next_unpin(context)
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events").finish_non_exhaustive()
    }
}
