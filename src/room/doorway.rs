//! What all rooms share while one of them is asked, and what its lanes say.

use dirigent_core::Timestamp;

use super::action::{Account, ActionId, Started};
use super::commit::buffers::BufferPool;
use crate::admission::{Admission, Wait};

/// What all rooms share while one of them is asked: who decides whether an action may start, memory for commits, and
/// the action that starts.
pub(crate) struct Doorway<'a> {
    pub(crate) admission: &'a mut Admission,
    pub(crate) buffers: &'a mut BufferPool,
    /// What starts is put here. Handed up from lane to room, it was copied at each step.
    pub(crate) started: &'a mut Vec<Started>,
}

impl Doorway<'_> {
    /// What has just been started is not polled beyond this time.
    pub(super) fn not_after(&mut self, at: Timestamp) {
        if let Some(started) = self.started.last_mut() {
            started.not_after = Some(at);
        }
    }
}

/// What a lane says when it is asked.
#[derive(Debug)]
pub(super) enum Offer {
    /// Something starts: it stands at the door.
    Started,
    /// It has nothing that may start now.
    Nothing,
    /// What stood first is over without having started: everything is asked again.
    Anew,
    /// What stands first is over without having started: what follows is settled, and the other lanes are asked.
    Over,
    /// The post of this account was not admitted.
    Waits(Account, Wait),
}

impl From<Option<ActionId>> for Offer {
    fn from(started: Option<ActionId>) -> Self {
        if started.is_some() { Self::Started } else { Self::Nothing }
    }
}
