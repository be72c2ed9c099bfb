//! The stored messages of a channel.

use std::collections::VecDeque;

use dirigent::{ChatMessage, MessageId};

use super::details::Details;

/// The newest messages of a channel, oldest first.
///
/// Adding is cheap at any length. A deleted message leaves a hole, and holes are removed once they
/// are the majority.
#[derive(Debug, Default)]
pub struct History {
    /// The slots by id. A hole keeps its id, so that the order can be searched.
    slots: VecDeque<Slot>,
    /// The number of holes.
    holes: usize,
}

/// A place among a channel's messages.
#[derive(Debug)]
enum Slot {
    Message(ChatMessage, Details),
    /// The message was deleted.
    Hole(MessageId),
}

impl Slot {
    const fn id(&self) -> MessageId {
        match self {
            Self::Message(ChatMessage { id, .. }, _) | Self::Hole(id) => *id,
        }
    }

    const fn message(&self) -> Option<&ChatMessage> {
        match self {
            Self::Message(message, _) => Some(message),
            Self::Hole(_) => None,
        }
    }
}

impl History {
    /// Adds the newest message, and forgets the oldest ones beyond the limit.
    pub fn keep(&mut self, message: ChatMessage, details: Details, kept_max: usize) {
        if self.slots.len() == self.slots.capacity() {
            // Grow by half, and from one instead of four, because most of ten thousand channels
            // have few messages.
            self.slots.reserve_exact((self.slots.len() / 2).max(1));
        }
        self.slots.push_back(Slot::Message(message, details));
        while self.slots.len() - self.holes > kept_max {
            if let Some(Slot::Hole(_)) = self.slots.pop_front() {
                self.holes -= 1;
            }
        }
    }

    pub fn find(&self, id: MessageId) -> Option<&ChatMessage> {
        let place = self.slots.binary_search_by_key(&id, Slot::id).ok()?;
        self.slots.get(place)?.message()
    }

    /// Returns a message and its details, to change them.
    pub(crate) fn whole_mut(&mut self, id: MessageId) -> Option<(&mut ChatMessage, &mut Details)> {
        let place = self.slots.binary_search_by_key(&id, Slot::id).ok()?;
        match self.slots.get_mut(place)? {
            Slot::Message(message, details) => Some((message, details)),
            Slot::Hole(_) => None,
        }
    }

    /// Returns the details of a message, if it still exists.
    pub fn details(&self, id: MessageId) -> Option<&Details> {
        let place = self.slots.binary_search_by_key(&id, Slot::id).ok()?;
        match self.slots.get(place)? {
            Slot::Message(_, details) => Some(details),
            Slot::Hole(_) => None,
        }
    }

    /// Returns the details of a message, to change them.
    pub fn details_mut(&mut self, id: MessageId) -> Option<&mut Details> {
        self.whole_mut(id).map(|(_, details)| details)
    }

    /// Deletes a message and its files. Returns true if it existed.
    pub fn remove(&mut self, id: MessageId) -> bool {
        let Ok(place) = self.slots.binary_search_by_key(&id, Slot::id) else {
            return false;
        };
        let slot = self.slots.get_mut(place);
        let Some(slot) = slot.filter(|slot| slot.message().is_some()) else { return false };
        *slot = Slot::Hole(id);
        self.holes += 1;
        if self.holes > self.slots.len() / 2 {
            self.slots.retain(|slot| slot.message().is_some());
            self.holes = 0;
        }
        true
    }

    /// Returns all messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ChatMessage> {
        self.slots.iter().filter_map(Slot::message)
    }

    /// Returns a page of messages, newest first: the newest ones, or those right after a message.
    pub fn page(&self, after: Option<MessageId>, limit: usize) -> Vec<&ChatMessage> {
        let Some(after) = after else {
            return self.iter().rev().take(limit).collect();
        };
        let start = self.slots.partition_point(|slot| slot.id() <= after);
        let later = self.slots.range(start..).filter_map(Slot::message);
        let mut page: Vec<_> = later.take(limit).collect();
        page.reverse();
        page
    }

    /// Returns a page of the messages right before a message, newest first.
    pub fn page_before(&self, before: MessageId, limit: usize) -> Vec<&ChatMessage> {
        let end = self.slots.partition_point(|slot| slot.id() < before);
        let earlier = self.slots.range(..end).rev().filter_map(Slot::message);
        earlier.take(limit).collect()
    }

    /// Returns a page around a message, newest first, with as many before it as after it.
    pub fn page_around(&self, around: MessageId, limit: usize) -> Vec<&ChatMessage> {
        let mut page = self.page(Some(around), limit / 2);
        let rest = limit.saturating_sub(limit / 2);
        page.extend(self.page_before(MessageId::new(around.get().saturating_add(1)), rest));
        page
    }

    /// Returns the newest message.
    pub fn newest(&self) -> Option<MessageId> {
        self.iter().next_back().map(|message| message.id)
    }
}
