//! The events of a router.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use crate::model::ModelErrorKind;
use crate::result::{AgentKind, DelegationStatus};

/// An event of a message. `Debug` and `Display` show no text.
///
/// ```
/// use dirigent_delegate::{RouterEvent, RouterEventKind};
///
/// fn show(event: &RouterEvent) {
///     if let RouterEventKind::Progress { agent, so_far } = &event.kind {
///         println!("{agent}: {so_far}");
///     }
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RouterEvent {
    /// The message's number. The router counts from 0.
    pub message: u64,
    /// The session of the message.
    pub session_id: Arc<str>,
    /// What happened.
    pub kind: RouterEventKind,
}

impl RouterEvent {
    pub(crate) const fn new(message: u64, session_id: Arc<str>, kind: RouterEventKind) -> Self {
        Self { message, session_id, kind }
    }
}

impl fmt::Display for RouterEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "message {}: {}", self.message, self.kind)
    }
}

/// The kind of an event.
///
/// ```
/// use dirigent_delegate::{AgentKind, RouterEventKind};
/// let event = RouterEventKind::Started { agent: AgentKind::Research };
/// assert_eq!(event.to_string(), "research started");
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RouterEventKind {
    /// A routing model is being asked.
    Asked {
        /// The model's name.
        model: Box<str>,
    },
    /// A routing model failed. The next one is asked, if there is one.
    ModelFailed {
        /// The model's name.
        model: Box<str>,
        /// Why the model failed.
        error: ModelErrorKind,
    },
    /// A delegation waits for a place.
    Waiting {
        /// The agent's kind.
        agent: AgentKind,
    },
    /// An agent started.
    Started {
        /// The agent's kind.
        agent: AgentKind,
    },
    /// An agent reported its progress.
    Progress {
        /// The agent's kind.
        agent: AgentKind,
        /// The work so far.
        so_far: Arc<str>,
    },
    /// A delegation ended, or its call could not be performed.
    Finished {
        /// The agent's kind.
        agent: AgentKind,
        /// The status at its end.
        status: DelegationStatus,
        /// The time that it took.
        took: Duration,
    },
    /// The message has its answer.
    Answered {
        /// The time that it took.
        took: Duration,
    },
    /// The listener was too slow and missed this many events.
    Missed(u64),
}

impl fmt::Display for RouterEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked { model } => write!(f, "{model} is asked"),
            Self::ModelFailed { model, error } => write!(f, "{model} failed: {error}"),
            Self::Waiting { agent } => write!(f, "{agent} waits for a place"),
            Self::Started { agent } => write!(f, "{agent} started"),
            Self::Progress { agent, so_far } => {
                write!(f, "{agent} has {} bytes so far", so_far.len())
            }
            Self::Finished { agent, status, took } => {
                let status = format!("{status:?}").to_lowercase();
                write!(f, "{agent} ended after {} ms: {status}", took.as_millis())
            }
            Self::Answered { took } => write!(f, "answered after {} ms", took.as_millis()),
            Self::Missed(count) => write!(f, "{count} events were missed"),
        }
    }
}

impl fmt::Debug for RouterEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RouterEventKind({self})")
    }
}

/// The events of all messages of a router, from the moment you ask for them.
///
/// ```
/// async fn listen(router: dirigent_delegate::Router) {
///     let mut events = router.events();
///     while let Some(event) = events.next().await {
///         println!("{event}");
///     }
/// }
/// ```
pub struct RouterEvents {
    receiver: broadcast::Receiver<RouterEvent>,
}

impl RouterEvents {
    pub(crate) const fn new(receiver: broadcast::Receiver<RouterEvent>) -> Self {
        Self { receiver }
    }

    /// Waits for the next event. Returns `None` when the router is gone.
    ///
    /// # Cancellation
    ///
    /// You can drop the future without losing an event.
    pub async fn next(&mut self) -> Option<RouterEvent> {
        match self.receiver.recv().await {
            Ok(event) => Some(event),
            Err(RecvError::Lagged(count)) => Some(missed(count)),
            Err(RecvError::Closed) => None,
        }
    }

    /// Returns the next event, if there is one already.
    pub fn try_next(&mut self) -> Option<RouterEvent> {
        match self.receiver.try_recv() {
            Ok(event) => Some(event),
            Err(TryRecvError::Lagged(count)) => Some(missed(count)),
            Err(TryRecvError::Empty | TryRecvError::Closed) => None,
        }
    }
}

fn missed(count: u64) -> RouterEvent {
    RouterEvent::new(0, Arc::from(""), RouterEventKind::Missed(count))
}

impl fmt::Debug for RouterEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RouterEvents").finish_non_exhaustive()
    }
}
