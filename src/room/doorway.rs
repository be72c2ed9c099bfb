//! The things that all rooms share while one of them is asked for an action, and the answers of its lanes.

use dirigent_core::Timestamp;

use super::action::{Account, ActionId, Started};
use super::commit::buffers::BufferPool;
use crate::admission::{Admission, Wait};

/// What all rooms share while one of them is asked: the admission, memory for commits, and the action that starts.
pub(crate) struct Doorway<'a> {
    pub(crate) admission: &'a mut Admission,
    pub(crate) buffers: &'a mut BufferPool,
    /// The actions that start. Returning them from lane to room would copy about 150 bytes at each step.
    pub(crate) started: &'a mut Vec<Started>,
}

impl Doorway<'_> {
    /// Limits the time until which the action that has just started is polled.
    pub(super) fn not_after(&mut self, at: Timestamp) {
        if let Some(started) = self.started.last_mut() {
            started.not_after = Some(at);
        }
    }
}

#[derive(Debug)]
pub(super) enum Offer {
    /// An action starts, and is in the doorway.
    Started,
    /// The lane has no action that may start now.
    Nothing,
    /// The first entry is over without having started, so all lanes are asked again.
    Anew,
    /// The first entry is over without having started. Its effects are settled, and the other lanes are asked.
    Over,
    /// The post of this account was not admitted.
    Waits(Account, Wait),
}

impl From<Option<ActionId>> for Offer {
    fn from(started: Option<ActionId>) -> Self {
        if started.is_some() { Self::Started } else { Self::Nothing }
    }
}
