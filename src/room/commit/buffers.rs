//! The buffers that a commit gives to the store, and that a later commit uses again.

use std::sync::Arc;

use dirigent_core::Transition;

use crate::record::channel::ChannelRecord;

const SPARE_MAX: usize = 64;

/// A record and the transitions before it, shared with the store.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) record: Arc<ChannelRecord>,
    pub(crate) transitions: Arc<Vec<Transition>>,
}

impl Buffers {
    /// Returns a share for the store.
    pub(crate) fn share(&self) -> Self {
        let (record, transitions) = (Arc::clone(&self.record), Arc::clone(&self.transitions));
        Self { record, transitions }
    }

    /// Returns whether the store has dropped its share.
    pub(crate) fn are_free(&mut self) -> bool {
        let Self { record, transitions } = self;
        Arc::get_mut(record).is_some() && Arc::get_mut(transitions).is_some()
    }

    /// Returns the buffers, or `None` if the store still has its share.
    pub(crate) fn take_back(mut self) -> Option<Self> {
        self.are_free().then_some(self)
    }
}

/// Buffers that no channel uses now. A room that waits keeps none of its own, because there may be many rooms.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    spare: Vec<Buffers>,
}

impl BufferPool {
    pub(crate) fn take(&mut self) -> Buffers {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps the memory, but no text, because one channel's text must not be kept for another.
    pub(crate) fn put(&mut self, mut buffers: Buffers) {
        if let Some(record) =
            Arc::get_mut(&mut buffers.record).filter(|_| self.spare.len() < SPARE_MAX)
        {
            (record.discussion, record.outgoing) = (None, None);
            record.outbox.clear();
            self.spare.push(buffers);
        }
    }
}

/// The buffers that a room gave to the store, and has back.
#[derive(Debug, Default)]
pub(crate) struct Returned {
    /// The buffers of the last commit, if the store kept them.
    kept_by_store: Option<Buffers>,
    /// The buffers of an earlier commit, for the next one.
    spare: Option<Buffers>,
}

impl Returned {
    pub(crate) const fn take(&mut self) -> Option<Buffers> {
        self.spare.take()
    }

    /// Records that the store has accepted this, and may keep it until the next commit.
    pub(super) fn stored(&mut self, mut buffers: Buffers) {
        let replaced = self.kept_by_store.take();
        self.spare = replaced.and_then(Buffers::take_back);
        if buffers.are_free() {
            self.spare = Some(buffers);
        } else {
            self.kept_by_store = Some(buffers);
        }
    }

    pub(super) fn refused(&mut self, buffers: Buffers) {
        self.spare = buffers.take_back();
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{AgentKey, RunId, Timestamp, TurnId};

    use super::*;
    use crate::ChannelId;
    use crate::record::channel::ReplyEnd;
    use crate::record::discussion::Discussion;
    use crate::record::outbox::{OutboxKind, OutboxMessage};
    use crate::room::reply::compose;
    use crate::values::message::Began;

    #[test]
    fn what_the_store_keeps_is_used_again_once_it_was_replaced() {
        let mut returned = Returned::default();
        let (first, second) = (Buffers::default(), Buffers::default());
        let kept = first.share();
        returned.stored(first);
        assert!(returned.take().is_none(), "the store has it");
        drop(kept);
        returned.stored(second);
        assert!(returned.take().is_some() && returned.take().is_none(), "one of the two");
    }

    #[test]
    fn memory_that_goes_to_another_channel_has_no_text_and_is_bounded() {
        let (channel, now) = (ChannelId::new(1), Timestamp::default());
        let terms =
            Discussion { callback: channel, callback_guild: None, guide: "a secret".to_owned() };
        let of = (AgentKey::new(1), TurnId::new(1), RunId::new(1));
        let messages = std::iter::once("a secret".into());
        let reply =
            compose(channel, of, messages, None, ReplyEnd::Finished, (None, now, &Began::new(now)));
        let record = ChannelRecord {
            discussion: Some(Arc::new(terms)),
            outgoing: Some(Arc::new(reply)),
            outbox: vec![OutboxMessage::new(
                OutboxKind::Guide,
                channel,
                channel,
                now,
                ("a secret", 2_000),
            )],
            ..ChannelRecord::default()
        };
        let mut pool = BufferPool::default();
        pool.put(Buffers { record: Arc::new(record), ..Buffers::default() });
        assert_eq!(*pool.take().record, ChannelRecord::default());
        (0..=SPARE_MAX).for_each(|_| pool.put(Buffers::default()));
        assert_eq!(pool.spare.len(), SPARE_MAX);
    }
}
