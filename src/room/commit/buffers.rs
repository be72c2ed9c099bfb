//! What a commit hands to the store, and what is used again for a later commit.

use std::sync::Arc;

use dirigent_core::Transition;

use crate::ChannelRecord;

/// How many are kept for all channels together.
const SPARE_MAX: usize = 64;

/// A record and the transitions before it, shared with the store.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) record: Arc<ChannelRecord>,
    pub(crate) transitions: Arc<Vec<Transition>>,
}

impl Buffers {
    /// A share for the store.
    pub(crate) fn share(&self) -> Self {
        let (record, transitions) = (Arc::clone(&self.record), Arc::clone(&self.transitions));
        Self { record, transitions }
    }

    /// Whether the store has dropped its share.
    pub(crate) fn are_free(&mut self) -> bool {
        let Self { record, transitions } = self;
        Arc::get_mut(record).is_some() && Arc::get_mut(transitions).is_some()
    }

    /// Nothing, where the store still has its share.
    pub(crate) fn take_back(mut self) -> Option<Self> {
        self.are_free().then_some(self)
    }
}

/// Buffers that no channel uses now. A room that waits keeps none of its own: there may be many rooms.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    spare: Vec<Buffers>,
}

impl BufferPool {
    pub(crate) fn take(&mut self) -> Buffers {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn put(&mut self, buffers: Buffers) {
        if self.spare.len() < SPARE_MAX {
            self.spare.push(buffers);
        }
    }
}

/// What a room handed to the store, and has back.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    /// What the last commit handed to the store, if the store kept it.
    kept_by_store: Option<Buffers>,
    /// What an earlier commit handed to the store, for the next one.
    spare: Option<Buffers>,
}

impl Returned {
    /// What no commit needs now.
    pub(crate) const fn take(&mut self) -> Option<Buffers> {
        self.spare.take()
    }

    /// The store has taken this, and may keep it until the next commit.
    pub(super) fn stored(&mut self, mut buffers: Buffers) {
        let replaced = self.kept_by_store.take();
        self.spare = replaced.and_then(Buffers::take_back);
        if buffers.are_free() {
            self.spare = Some(buffers);
        } else {
            self.kept_by_store = Some(buffers);
        }
    }

    /// The store has not taken this.
    pub(super) fn refused(&mut self, buffers: Buffers) {
        self.spare = buffers.take_back();
    }
}
