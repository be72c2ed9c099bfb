//! What a turn that rests is made of (rules 54 and 55).

use std::time::Duration;

use dirigent_core::{MessageId, Outcome, Ticket, Timestamp};

/// Messages from the first to the last, by id (rules 54, 55).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    /// The first.
    pub(super) first: MessageId,
    /// The last.
    pub(super) last: MessageId,
}

impl Range {
    /// One message.
    pub(super) const fn of(id: MessageId) -> Self {
        Self { first: id, last: id }
    }

    /// Both, as one range.
    pub(super) fn both(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(one), Some(other)) => {
                Some(Self { first: one.first.min(other.first), last: one.last.max(other.last) })
            }
            (one, other) => one.or(other),
        }
    }
}

/// A turn that rests (rule 55).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// What it will be again.
    pub(super) from: WaitingFrom,
    /// What remained until its run is slow.
    pub(super) slow_left: Option<Duration>,
    /// What remained until the turn's end.
    pub(super) end_left: Option<Duration>,
    /// The effect.
    pub(super) ticket: Ticket,
    /// The consultation's deadline.
    pub(super) due: Timestamp,
    /// What is asked about.
    pub(super) asked: Range,
    /// What was said since.
    pub(super) next: Option<Range>,
    /// What must be handed over in the end.
    pub(super) over: Option<Range>,
    /// The end of its run, if that came meanwhile.
    pub(super) kept: Option<Outcome>,
    /// Rule 68: whether its run made its reply meanwhile.
    pub(super) replied: bool,
}

impl Waiting {
    /// Whether it rests as Running.
    pub(super) fn waits_running(&self) -> bool {
        matches!(self.from, WaitingFrom::Running { .. })
    }
}

/// The phase in which a turn rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitingFrom {
    /// Granted, after this many re-triggers.
    Granted {
        /// Re-triggers made.
        attempt: u8,
    },
    /// Running.
    Running {
        /// What remained of the run deadline.
        left: Option<Duration>,
    },
    /// Continuing.
    Continuing,
}
