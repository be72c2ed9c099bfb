//! What is kept of a channel's messages.

use std::collections::VecDeque;

use dirigent::{ChatMessage, MessageId};

use super::details::Details;

/// The newest messages of a channel, oldest first.
///
/// Adding is cheap at any length; a deleted message leaves a hole, and holes are filled up when
/// they are the greater part.
#[derive(Debug, Default)]
pub struct History {
    /// By id; the id of a hole stays, so that the order can be searched.
    slots: VecDeque<Slot>,
    /// How many slots are holes.
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
    /// Adds the newest message and forgets the oldest ones beyond the limit.
    pub fn keep(&mut self, message: ChatMessage, details: Details, kept_max: usize) {
        if self.slots.len() == self.slots.capacity() {
            // By half, and not from four: of ten thousand channels most have few messages.
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

    /// A message with what it has besides, to change them.
    pub(crate) fn whole_mut(&mut self, id: MessageId) -> Option<(&mut ChatMessage, &mut Details)> {
        let place = self.slots.binary_search_by_key(&id, Slot::id).ok()?;
        match self.slots.get_mut(place)? {
            Slot::Message(message, details) => Some((message, details)),
            Slot::Hole(_) => None,
        }
    }

    /// What a message has besides, if it is still there.
    pub fn details(&self, id: MessageId) -> Option<&Details> {
        let place = self.slots.binary_search_by_key(&id, Slot::id).ok()?;
        match self.slots.get(place)? {
            Slot::Message(_, details) => Some(details),
            Slot::Hole(_) => None,
        }
    }

    /// The same, to change it.
    pub fn details_mut(&mut self, id: MessageId) -> Option<&mut Details> {
        self.whole_mut(id).map(|(_, details)| details)
    }

    /// Deletes a message, and its files with it; says whether there was one.
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

    /// All messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ChatMessage> {
        self.slots.iter().filter_map(Slot::message)
    }

    /// A page of messages, newest first: the newest ones, or those right after one.
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

    /// A page of messages, newest first: those right before one.
    pub fn page_before(&self, before: MessageId, limit: usize) -> Vec<&ChatMessage> {
        let end = self.slots.partition_point(|slot| slot.id() < before);
        let earlier = self.slots.range(..end).rev().filter_map(Slot::message);
        earlier.take(limit).collect()
    }

    /// A page of messages, newest first: one with as many before as after it.
    pub fn page_around(&self, around: MessageId, limit: usize) -> Vec<&ChatMessage> {
        let mut page = self.page(Some(around), limit / 2);
        let rest = limit.saturating_sub(limit / 2);
        page.extend(self.page_before(MessageId::new(around.get().saturating_add(1)), rest));
        page
    }

    /// The newest message.
    pub fn newest(&self) -> Option<MessageId> {
        self.iter().next_back().map(|message| message.id)
    }
}
