//! The phase of a channel: who has the floor, and how far that turn has come.

use crate::state::seen::Seen;
use crate::{AgentKey, MessageId, PhaseKind, Refusal, RunId, Timestamp};

/// The phase of a channel, with its details.
///
/// ```
/// use dirigent_core::snapshot::Phase;
/// assert_ne!(Phase::Dormant, Phase::Disabled);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The channel keeps no turns, so every agent may speak.
    Disabled,
    /// No agent may speak, and none is woken.
    Dead,
    /// The channel is closed for good.
    Archived,
    /// No agent has the floor.
    Dormant,
    /// The list is being read before an agent is granted.
    Refreshing(Purpose),
    /// An agent has the floor and has not started.
    Granted(Grant),
    /// An agent runs.
    Running {
        /// The run of the turn.
        run: TurnRun,
        /// The moment when it must have ended.
        until: Option<Timestamp>,
        /// True if the host has already confirmed the whole reply.
        receipt: bool,
    },
    /// The library has the agent's whole reply and delivers it.
    Delivering {
        /// The run of the turn.
        run: TurnRun,
        /// True if the host has already confirmed the whole reply.
        receipt: bool,
    },
    /// The list was never read, and is requested again and again.
    Unknown {
        /// The number of failed attempts.
        failures: u8,
        /// The moment of the next attempt, or `None` during an attempt.
        ask_at: Option<Timestamp>,
    },
    /// The run has ended and its reply is on its way.
    Confirming {
        /// The run of the turn.
        run: TurnRun,
        /// The moment when it ended.
        since: Timestamp,
    },
    /// An agent has spoken without finishing, and has not started again.
    Continuing {
        /// The agent that keeps the floor.
        agent: AgentKey,
        /// The moment when it must have started again.
        until: Option<Timestamp>,
    },
    /// The turn of this agent waits until a human was answered. [`Waiting`](crate::snapshot::Waiting) has its progress.
    Waiting(AgentKey),
}

/// The reason for reading the list.
///
/// ```
/// use dirigent_core::snapshot::{Purpose, Start};
/// assert_ne!(Purpose::Boundary, Purpose::Wake(Start::First));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A cycle ended.
    Boundary,
    /// The channel wakes.
    Wake(Start),
}

/// The place in the list where a cycle starts: at the first agent, at a given one, or behind it.
///
/// ```
/// use dirigent_core::snapshot::Start;
/// assert_eq!(Start::default(), Start::First);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Start {
    /// The first of the list.
    #[default]
    First,
    /// This agent, if it is listed and available.
    At(AgentKey),
    /// The next agent after this one that can be granted, if this one is listed.
    After(AgentKey),
}

/// A turn that was granted.
///
/// ```
/// use dirigent_core::snapshot::Grant;
/// let grant = Grant { agent: dirigent_core::AgentKey::new(1), until: None, attempt: 0 };
/// assert_eq!(grant.attempt, 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The agent that has the floor.
    pub agent: AgentKey,
    /// The moment when it must have started.
    pub until: Option<Timestamp>,
    /// The number of re-triggers so far.
    pub attempt: u8,
}

/// The run of a turn.
///
/// ```
/// use dirigent_core::snapshot::TurnRun;
/// let run = TurnRun { agent: dirigent_core::AgentKey::new(1), id: None, anchor: None };
/// assert!(run.id.is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnRun {
    /// The agent that runs.
    pub agent: AgentKey,
    /// The host's name for the run, if it gave one.
    pub id: Option<RunId>,
    /// The anchor; only later messages belong to the reply.
    pub anchor: Option<MessageId>,
}

impl TurnRun {
    /// Returns true if a message stands after the anchor.
    pub(crate) fn covers(&self, id: MessageId) -> bool {
        // Messages from before the grant, also the agent's own, are no part of its reply.
        Some(id) > self.anchor
    }

    /// Returns true if this ends the run. If the run has no id, an id that is remembered as denied or ended cannot be
    /// its own.
    pub(crate) fn is_ended_by(&self, agent: AgentKey, id: Option<RunId>, seen: &Seen) -> bool {
        self.matches(agent, id) && (self.id.is_some() || seen.is_open(id))
    }

    /// Returns true if an end or a receipt with this run id is about this run.
    pub(crate) fn matches(&self, agent: AgentKey, id: Option<RunId>) -> bool {
        self.agent == agent && (self.id.is_none() || self.id == id)
    }
}

impl Phase {
    pub(crate) const fn kind(&self) -> PhaseKind {
        match self {
            Self::Disabled => PhaseKind::Disabled,
            Self::Dead => PhaseKind::Dead,
            Self::Archived => PhaseKind::Archived,
            Self::Dormant => PhaseKind::Dormant,
            Self::Refreshing(_) => PhaseKind::Refreshing,
            Self::Granted(_) => PhaseKind::Granted,
            Self::Running { .. } => PhaseKind::Running,
            Self::Delivering { .. } => PhaseKind::Delivering,
            Self::Unknown { .. } => PhaseKind::Unknown,
            Self::Confirming { .. } => PhaseKind::Confirming,
            Self::Continuing { .. } => PhaseKind::Continuing,
            Self::Waiting(_) => PhaseKind::Waiting,
        }
    }

    pub(crate) const fn speaker(&self) -> Option<AgentKey> {
        match self {
            Self::Granted(Grant { agent, .. })
            | Self::Running { run: TurnRun { agent, .. }, .. }
            | Self::Delivering { run: TurnRun { agent, .. }, .. }
            | Self::Confirming { run: TurnRun { agent, .. }, .. }
            | Self::Continuing { agent, .. }
            | Self::Waiting(agent) => Some(*agent),
            Self::Disabled
            | Self::Dead
            | Self::Archived
            | Self::Dormant
            | Self::Unknown { .. }
            | Self::Refreshing(_) => None,
        }
    }

    pub(crate) const fn run(&self) -> Option<&TurnRun> {
        if let Self::Running { run, .. }
        | Self::Delivering { run, .. }
        | Self::Confirming { run, .. } = self
        {
            Some(run)
        } else {
            None
        }
    }

    /// Returns the run that has not ended, and true if the host has confirmed its reply.
    pub(crate) const fn open_run(&self) -> Option<(TurnRun, bool)> {
        if let Self::Running { run, receipt, .. } | Self::Delivering { run, receipt } = self {
            Some((*run, *receipt))
        } else {
            None
        }
    }

    pub(crate) const fn awaits_start(&self) -> bool {
        matches!(self, Self::Granted(_) | Self::Continuing { .. })
    }

    /// Refuses an input about turns if the channel keeps none.
    pub(crate) const fn require_turns(&self) -> Result<(), Refusal> {
        if matches!(self, Self::Archived) {
            Err(Refusal::Archived)
        } else if matches!(self, Self::Disabled | Self::Dead) {
            Err(Refusal::NotManaged)
        } else {
            Ok(())
        }
    }

    /// Returns true if the channel has no turn and reads no list, so that it may give its memory back.
    pub(crate) const fn is_idle(&self) -> bool {
        matches!(
            self,
            Self::Disabled | Self::Dead | Self::Archived | Self::Dormant | Self::Unknown { .. }
        )
    }

    pub(crate) fn for_each_moment(&mut self, visit: &mut impl FnMut(&mut Timestamp)) {
        if let Self::Granted(Grant { until: Some(moment), .. })
        | Self::Running { until: Some(moment), .. }
        | Self::Continuing { until: Some(moment), .. }
        | Self::Unknown { ask_at: Some(moment), .. }
        | Self::Confirming { since: moment, .. } = self
        {
            visit(moment);
        }
    }
}
