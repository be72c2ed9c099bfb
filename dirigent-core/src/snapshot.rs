//! A channel as plain data, which you can store and restore.

use alloc::sync::Arc;
use core::fmt;

pub use crate::audit::Breach;
pub use crate::state::{
    Archived, Attendance, CeilingCounts, ChatOutage, Cycle, Delivery, Floor, Grant, Hourly,
    InitiatorPermit, MayNotWrite, Pending, PendingEffect, PermitRun, Phase, Piece, Plans, Polls,
    Purpose, Quota, Rare, Recent, Refresh, Reminders, Rng, Roster, RunFate, Runs, Seen, Settling,
    Situation, Slot, Snapshot, SpeakerList, SpokenTurn, StaleTrigger, Start, State, TurnRun,
    TurnTerms, Waiting, WaitingFrom, Words,
};

use crate::Config;
use crate::state::{
    AGENTS_MAX, MESSAGES_MAX, PENDING_MAX, PIECES_MAX, POSTS_MAX, RUNS_MAX, STALE_MAX,
};
use crate::turn_machine::TurnMachine;

/// The error for a snapshot that was not restored. Keep the stored file as it is until a person has looked at it.
///
/// ```
/// use dirigent_core::snapshot::RestoreError;
/// use dirigent_core::{TurnMachine, Config, Snapshot};
/// let foreign = Snapshot { version: 99, ..Snapshot::default() };
/// let error = TurnMachine::restore(Config::default().into(), &foreign).unwrap_err();
/// assert_eq!(error, RestoreError::Version { found: 99 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RestoreError {
    /// Another version of the library wrote the snapshot.
    Version {
        /// The version that the snapshot names.
        found: u16,
    },
    /// A list is longer than the library ever writes it.
    TooLong {
        /// The field with the list.
        field: &'static str,
    },
    /// The snapshot contradicts itself.
    Broken(Breach),
}

impl fmt::Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { found } => {
                write!(
                    f,
                    "the snapshot has version {found}, this library reads {}",
                    Snapshot::VERSION
                )
            }
            Self::TooLong { field } => write!(f, "the snapshot's list `{field}` is too long"),
            Self::Broken(breach) => write!(f, "the snapshot contradicts itself: {breach}"),
        }
    }
}

impl core::error::Error for RestoreError {}

impl TurnMachine {
    /// Returns the whole state of the channel. It is only lent to you, so clone it if you want to store it.
    pub const fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Restores a channel from a snapshot. It then reacts to every input as the original would have.
    ///
    /// # Errors
    ///
    /// Returns an error if another version wrote the snapshot, if one of its lists is too long, or if it contradicts
    /// itself.
    pub fn restore(config: Arc<Config>, snapshot: &Snapshot) -> Result<Self, RestoreError> {
        check_size(snapshot)?;
        snapshot.audit().map_err(RestoreError::Broken)?;
        Ok(Self::of(config, snapshot.clone()))
    }
}

fn check_size(snapshot: &Snapshot) -> Result<(), RestoreError> {
    let Snapshot { version, state, pending, .. } = snapshot;
    if *version != Snapshot::VERSION {
        return Err(RestoreError::Version { found: *version });
    }
    let State { roster, cycle, quota, .. } = state;
    let (plans, delivery) = (cycle.plans.get(), state.delivery.as_deref());
    let recent = state.seen.recent.as_deref();
    let sizes = [
        ("away", roster.all_away().len(), AGENTS_MAX),
        ("round", plans.map_or(0, |plans| plans.round.len()), AGENTS_MAX),
        ("nextRound", plans.map_or(0, |plans| plans.next_round.len()), AGENTS_MAX),
        (
            "spoken",
            quota.hourly.get().map_or(0, |hourly| hourly.spoken.len()),
            AGENTS_MAX * usize::from(u8::MAX),
        ),
        ("list", roster.list.len(), AGENTS_MAX),
        ("muted", roster.muted().len(), AGENTS_MAX),
        ("mayNotWrite", roster.may_not_write().len(), AGENTS_MAX),
        ("messages", recent.map_or(0, |recent| recent.messages.len()), MESSAGES_MAX),
        ("runs", recent.map_or(0, |recent| recent.runs.as_slice().len()), RUNS_MAX),
        ("pending", pending.effects.len(), PENDING_MAX),
        ("pieces", delivery.map_or(0, |delivery| delivery.pieces.len()), PIECES_MAX),
        ("arrivals", delivery.map_or(0, |delivery| delivery.arrivals.len()), POSTS_MAX),
        ("staleTriggers", pending.stale().len(), STALE_MAX),
    ];
    match sizes.into_iter().find(|(_, len, max)| len > max) {
        Some((field, _, _)) => Err(RestoreError::TooLong { field }),
        None => Ok(()),
    }
}
