//! What really stands in the fake Discord: the messages and who is present.

use std::collections::VecDeque;

use dirigent_core::{Author, Message, MessageId, MessageKind};

use super::texts::Text;

/// How many messages can still be read back.
const KEPT: usize = 96;

/// A message as the fake Discord keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) id: MessageId,
    pub(super) author: Author,
    pub(super) kind: MessageKind,
    pub(super) text: Text,
    /// Whom it mentions, by their places in the cast; 0: no agent.
    pub(super) mentions: u64,
}

impl Record {
    /// The message as it is pushed or read.
    pub(super) fn message(&self) -> Message {
        Message {
            id: self.id,
            author: self.author,
            kind: self.kind,
            tail: self.text.tail(),
            backfilled: false,
        }
    }
}

/// The fake Discord's side of one channel. Its truth survives every crash.
#[derive(Debug, Default)]
pub(super) struct Room {
    records: VecDeque<Record>,
    newest: u64,
}

impl Room {
    /// Posts a message; ids rise, not by one.
    pub(super) fn post(&mut self, author: Author, kind: MessageKind, text: Text) -> MessageId {
        self.newest += 1 + self.newest % 3;
        let id = MessageId::new(self.newest);
        if self.records.len() >= KEPT {
            self.records.pop_front();
        }
        self.records.push_back(Record { id, author, kind, text, mentions: 0 });
        id
    }

    /// The newest message mentions agents at these places of the cast.
    pub(super) fn mention(&mut self, places: u64) {
        if let Some(record) = self.records.back_mut() {
            record.mentions = places;
        }
    }

    /// The message, if it can still be read.
    pub(super) fn get(&self, id: MessageId) -> Option<&Record> {
        let at = self.records.binary_search_by_key(&id, |record| record.id).ok()?;
        self.records.get(at)
    }

    /// An author changes a message.
    pub(super) fn edit(&mut self, id: MessageId, text: Text) -> Option<Author> {
        let at = self.records.binary_search_by_key(&id, |record| record.id).ok()?;
        let record = self.records.get_mut(at)?;
        record.text = text;
        Some(record.author)
    }

    /// The newest messages after `after`, oldest first, at most `limit`.
    pub(super) fn after(
        &self,
        after: Option<MessageId>,
        limit: usize,
    ) -> impl Iterator<Item = MessageId> + '_ {
        let from = self.records.partition_point(|record| Some(record.id) <= after);
        let from = from.max(self.records.len().saturating_sub(limit));
        self.records.range(from..).map(|record| record.id)
    }

    /// The newest message.
    pub(super) fn newest(&self) -> Option<MessageId> {
        self.records.back().map(|record| record.id)
    }
}
