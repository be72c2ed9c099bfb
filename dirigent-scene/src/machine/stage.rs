//! The answer that a scene waits for.

use std::sync::Arc;

use crate::machine::plan::CastPlace;
use crate::machine::seat::{Presence, Seats};
use crate::protocol::{Parsed, Speech};

/// The answer that the scene waits for, which belongs to one effect.
#[derive(Clone, Debug)]
pub(super) enum AwaitedAnswer {
    NotStarted,
    Spawning(CastPlace),
    Briefing(CastPlace),
    /// The director decides who enters and leaves.
    Directing,
    /// An actor has the turn.
    Asking(Asking),
    /// The director decides who hears a speech.
    Hearing(CastPlace, Parsed),
    /// The outlet shows a speech.
    Showing(Said),
    /// The judge decides whether the scene has ended.
    Judging,
    /// An actor writes its journal.
    Writing(Asking),
    /// No answer is needed.
    Finished,
}

/// An actor that was asked, and how often it has been corrected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    pub(super) seat: CastPlace,
    pub(super) corrections: u32,
}

/// A speech that was accepted and recorded but not yet routed.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) seat: CastPlace,
    pub(super) speech: Speech,
    /// The listeners, if only some hear it.
    pub(super) audience: Option<Arc<[CastPlace]>>,
}

/// A task to do before the scene goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Enter(CastPlace),
    Leave(CastPlace),
}

impl Task {
    /// Cancels the task if it is an entry. Returns true if it was.
    pub(super) fn is_cancelled(self, seats: &mut Seats) -> bool {
        match self {
            Self::Leave(_) => false,
            Self::Enter(seat) => {
                seats.of(seat).presence = Presence::Waiting;
                true
            }
        }
    }
}

/// The next step once no task is left.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Open,
    Ask,
    Finish,
}
