//! What a scene waits for.

use std::sync::Arc;

use crate::machine::plan::CastPlace;
use crate::machine::seat::{Presence, Seats};
use crate::protocol::{Parsed, Speech};

/// What is waited for: the answer to one effect.
#[derive(Clone, Debug)]
pub(super) enum AwaitedAnswer {
    NotStarted,
    Spawning(CastPlace),
    Briefing(CastPlace),
    /// The host says who comes and goes.
    Directing,
    /// An actor has the turn.
    Asking(Asking),
    /// The host says who hears a speech.
    Hearing(CastPlace, Parsed),
    /// A speech is shown, where scenes are shown.
    Showing(Said),
    /// The judge says whether this was the end.
    Judging,
    /// An actor writes its journal.
    Writing(Asking),
    /// Nothing, or nothing any more.
    Finished,
}

/// An actor that was asked for something, and how often it was corrected meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking {
    pub(super) seat: CastPlace,
    pub(super) corrections: u32,
}

/// A speech that is accepted and recorded, and not yet routed.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) seat: CastPlace,
    pub(super) speech: Speech,
    /// Who hears it, where not everyone does.
    pub(super) audience: Option<Arc<[CastPlace]>>,
}

/// What is to be done before the scene goes on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Enter(CastPlace),
    Leave(CastPlace),
}

impl Task {
    /// Whether it is an entry, which is then cancelled.
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

/// What follows when no task is left.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    Open,
    Ask,
    Finish,
}
