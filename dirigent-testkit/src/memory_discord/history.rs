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

/// A message, or the hole that it left.
#[derive(Debug)]
struct Slot {
    id: MessageId,
    message: Option<ChatMessage>,
    details: Details,
}

impl History {
    /// Adds the newest message and forgets the oldest ones beyond the limit.
    pub fn keep(&mut self, message: ChatMessage, details: Details, kept_max: usize) {
        self.slots.push_back(Slot { id: message.id, message: Some(message), details });
        while self.slots.len() - self.holes > kept_max {
            if self.slots.pop_front().is_some_and(|slot| slot.message.is_none()) {
                self.holes -= 1;
            }
        }
    }

    pub fn find(&self, id: MessageId) -> Option<&ChatMessage> {
        let place = self.slots.binary_search_by_key(&id, |slot| slot.id).ok()?;
        self.slots.get(place)?.message.as_ref()
    }

    /// A message with what it has besides, to change them.
    pub(crate) fn whole_mut(&mut self, id: MessageId) -> Option<(&mut ChatMessage, &mut Details)> {
        let place = self.slots.binary_search_by_key(&id, |slot| slot.id).ok()?;
        let slot = self.slots.get_mut(place)?;
        Some((slot.message.as_mut()?, &mut slot.details))
    }

    /// What a message has besides, if it is still there.
    pub fn details(&self, id: MessageId) -> Option<&Details> {
        let place = self.slots.binary_search_by_key(&id, |slot| slot.id).ok()?;
        self.slots.get(place).filter(|slot| slot.message.is_some()).map(|slot| &slot.details)
    }

    /// The same, to change it.
    pub fn details_mut(&mut self, id: MessageId) -> Option<&mut Details> {
        let place = self.slots.binary_search_by_key(&id, |slot| slot.id).ok()?;
        self.slots.get_mut(place).map(|slot| &mut slot.details)
    }

    /// Deletes a message; says whether there was one.
    pub fn remove(&mut self, id: MessageId) -> bool {
        let Ok(place) = self.slots.binary_search_by_key(&id, |slot| slot.id) else {
            return false;
        };
        let slot = self.slots.get_mut(place);
        let Some(slot) = slot.filter(|slot| slot.message.is_some()) else { return false };
        slot.message = None;
        // Files go with their message.
        slot.details = Details::plain();
        self.holes += 1;
        if self.holes > self.slots.len() / 2 {
            self.slots.retain(|slot| slot.message.is_some());
            self.holes = 0;
        }
        true
    }

    /// All messages, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ChatMessage> {
        self.slots.iter().filter_map(|slot| slot.message.as_ref())
    }

    /// A page of messages, newest first: the newest ones, or those right after one.
    pub fn page(&self, after: Option<MessageId>, limit: usize) -> Vec<&ChatMessage> {
        let Some(after) = after else {
            return self.iter().rev().take(limit).collect();
        };
        let start = self.slots.partition_point(|slot| slot.id <= after);
        let later = self.slots.range(start..).filter_map(|slot| slot.message.as_ref());
        let mut page: Vec<_> = later.take(limit).collect();
        page.reverse();
        page
    }

    /// A page of messages, newest first: those right before one.
    pub fn page_before(&self, before: MessageId, limit: usize) -> Vec<&ChatMessage> {
        let end = self.slots.partition_point(|slot| slot.id < before);
        let earlier = self.slots.range(..end).rev().filter_map(|slot| slot.message.as_ref());
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
