//! The messages of a channel that are in memory.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::Arc;

use dirigent_core::MessageId;
use dirigent_core::view::Span;

use crate::ports::surroundings::TRANSCRIPT_MAX;
use crate::record::handed::{OWED_MAX, next};
use crate::values::message::Attachment;
use crate::values::shown::{Quoted, Shown};
use crate::{ChatMessage, UserId};

/// The number of the newest messages that stay in memory although all agents got them. An agent's text in its turn is
/// looked up among them, and an agent that is new in a conversation gets them.
pub(super) const KEPT: usize = 50;
/// The most stretches that are kept. An agent has at most half as many ranges to get. With fewer, the ranges of one
/// agent pushed one another out, and were read in turn for ever.
const STRETCHES_MAX: usize = 2 * OWED_MAX;
/// The most ids of people's messages without their texts. Older ones may be gone from the chat.
const DROPPED_MAX: usize = 10_000;

/// The messages of a channel that are in memory.
///
/// Every heard message after [`reach`](Self::reach) is here. Earlier ones are read from the chat when an agent needs
/// them, a stretch at a time.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The messages, oldest first. Up to `reach` there are only those that came late.
    recent: VecDeque<Arc<ChatMessage>>,
    /// The newest message with a text that left memory, or never was in it.
    reach: Option<MessageId>,
    /// The newest message that was heard, even if it was deleted since, because the agents' marks are compared with it.
    newest: Option<MessageId>,
    /// People's messages without their texts, in ascending order.
    dropped: VecDeque<MessageId>,
    /// The stretches that were read again. The newest read comes last.
    stretches: Vec<Stretch>,
    /// The messages before `recent`, once an agent has asked for a transcript.
    earlier: Option<Box<Earlier>>,
    /// The number of times that a message left memory, was edited or was deleted. A page that was read before may
    /// differ from the channel since.
    changes: u32,
    bytes: usize,
}

/// Everything that the chat has from one message to another, as it was read again.
#[derive(Debug)]
struct Stretch {
    first: MessageId,
    last: MessageId,
    messages: Vec<Arc<ChatMessage>>,
}

impl Stretch {
    fn bytes(&self) -> usize {
        self.messages.iter().map(weight).sum()
    }
}

impl Texts {
    /// Creates the texts of a channel that was heard up to here, with no message in memory.
    pub(super) fn beginning_after(reach: Option<MessageId>) -> Self {
        Self { reach, newest: reach, ..Self::default() }
    }

    /// Keeps a message. Returns whether it is new.
    pub(super) fn keep(&mut self, message: Arc<ChatMessage>) -> bool {
        let id = message.id;
        let (weight, is_newest) = (weight(&message), self.newest < Some(id));
        if is_newest {
            self.recent.push_back(message);
        } else {
            let at = self.place(id);
            if let Some(known) = self.recent.get_mut(at).filter(|known| known.id == id) {
                // The address of a file of ours is unknown until an event reports it.
                if known.attachments.iter().any(|file| file.url.is_empty()) {
                    *known = message;
                }
                return false;
            }
            self.recent.insert(at, message);
        }
        self.bytes += weight;
        self.newest = self.newest.max(Some(id));
        true
    }

    /// Returns the first place in memory that is not before this message.
    fn place(&self, id: MessageId) -> usize {
        self.recent.partition_point(|known| known.id < id)
    }

    /// Returns whether no heard message lies between these two, as far as memory shows.
    pub(super) fn are_joined(&self, one: MessageId, next: MessageId) -> bool {
        let is_whole = self.reach < Some(one) && self.has(one);
        is_whole && self.recent.get(self.place(one) + 1).is_some_and(|after| after.id == next)
    }

    /// Returns the newest message that was heard. Posts of the moderator do not count.
    pub(super) const fn newest(&self) -> Option<MessageId> {
        self.newest
    }

    pub(super) const fn reach(&self) -> Option<MessageId> {
        self.reach
    }

    /// Returns the message after which a new agent of the conversation gets everything.
    pub(super) fn context_begins(&self) -> Option<MessageId> {
        let oldest = self.recent.get(self.recent.len().saturating_sub(KEPT));
        let before = oldest.map(|message| message.id.get().saturating_sub(1)).map(MessageId::new);
        before.or(self.reach)
    }

    /// Returns the range of people's messages after this one that are in memory.
    pub(super) fn words_after(&self, after: Option<MessageId>) -> Option<Span> {
        let mut words = self.after(after).filter(|message| message.is_by_person());
        let first = words.next()?.id;
        Some(Span { first, last: words.last().map_or(first, |message| message.id) })
    }

    /// Returns whether every heard message of this range is in memory.
    pub(super) fn has_all(&self, span: Span) -> bool {
        self.reach < Some(span.first) || (span.first == span.last && self.has(span.first))
    }

    fn has(&self, id: MessageId) -> bool {
        self.recent.get(self.place(id)).is_some_and(|known| known.id == id)
    }

    /// Returns the messages of a range that are in memory, oldest first.
    pub(super) fn within(&self, span: Span) -> impl Iterator<Item = &Arc<ChatMessage>> {
        let (from, last) = (self.place(span.first), span.last);
        self.recent.range(from..).take_while(move |message| message.id <= last)
    }

    /// Returns the messages in memory after this one, oldest first.
    pub(super) fn after(
        &self,
        after: Option<MessageId>,
    ) -> impl Iterator<Item = &Arc<ChatMessage>> {
        let from = after.map_or(0, |after| self.place(next(after)));
        self.recent.range(from..)
    }

    /// Returns the words of this account after this message, if it posted only words and they are in memory.
    pub(super) fn words_of(&self, author: UserId, after: MessageId) -> Option<String> {
        let mut words = String::new();
        for message in self.after(Some(after)).filter(|message| message.author == author) {
            if message.shows_more() {
                return None;
            }
            words.push_str(&message.content);
            words.push('\n');
        }
        (!words.is_empty()).then_some(words)
    }

    pub(super) fn changed(&mut self, message: ChatMessage) {
        self.changes = self.changes.wrapping_add(1);
        let message = Arc::new(message);
        let read = self.stretches.iter_mut().flat_map(|stretch| stretch.messages.iter_mut());
        let earlier = self.earlier.iter_mut().flat_map(|earlier| earlier.messages.iter_mut());
        // Every copy is replaced, because an agent may get any of them.
        let all = self.recent.iter_mut().chain(read).chain(earlier);
        for known in all.filter(|known| known.id == message.id) {
            *known = Arc::clone(&message);
        }
        self.weigh();
    }

    pub(super) fn get(&self, message: MessageId) -> Option<&Arc<ChatMessage>> {
        let read = self.stretches.iter().flat_map(|stretch| stretch.messages.iter());
        let earlier = self.earlier.iter().flat_map(|earlier| earlier.messages.iter());
        let mut all = self.recent.iter().chain(read).chain(earlier);
        all.find(|known| known.id == message)
    }

    pub(super) fn deleted(&mut self, message: MessageId) {
        self.changes = self.changes.wrapping_add(1);
        self.recent.retain(|known| known.id != message);
        self.dropped.retain(|known| *known != message);
        for stretch in &mut self.stretches {
            stretch.messages.retain(|known| known.id != message);
        }
        if let Some(earlier) = &mut self.earlier {
            earlier.messages.retain(|known| known.id != message);
        }
        self.weigh();
    }

    fn weigh(&mut self) {
        let read = self.stretches.iter().flat_map(|stretch| &stretch.messages);
        self.bytes = self.recent.iter().chain(read).map(weight).sum();
    }
}

impl Texts {
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Drops texts up to here, because no agent needs them. The newest ones stay.
    pub(super) fn release(&mut self, needed_after: impl FnOnce() -> Option<MessageId>) {
        // The usual case needs no look at the agents.
        if self.recent.len() <= KEPT && self.dropped.is_empty() && self.stretches.is_empty() {
            return;
        }
        let needed_after = needed_after();
        while self.recent.len() > KEPT
            && self.recent.front().is_some_and(|oldest| Some(oldest.id) <= needed_after)
        {
            self.drop_oldest();
        }
        while self.dropped.front().is_some_and(|oldest| Some(*oldest) <= needed_after) {
            self.dropped.pop_front();
        }
        self.drop_stretches(|stretch| Some(stretch.last) <= needed_after);
    }

    pub(super) fn give_way(&mut self) {
        while !self.recent.is_empty() {
            self.drop_oldest();
        }
        self.stretches.clear();
        (self.earlier, self.bytes) = (None, 0);
    }

    fn drop_oldest(&mut self) {
        let Some(oldest) = self.recent.pop_front() else {
            return;
        };
        self.bytes = self.bytes.saturating_sub(weight(&oldest));
        self.reach = self.reach.max(Some(oldest.id));
        // The stretch was read before this message came, and does not have it.
        self.drop_stretches(|stretch| (stretch.first..=stretch.last).contains(&oldest.id));
        // The id stays, so that an agent learns how many messages it will never get.
        if oldest.is_by_person() {
            let at = self.dropped.partition_point(|known| *known < oldest.id);
            self.dropped.insert(at, oldest.id);
            if self.dropped.len() > DROPPED_MAX {
                self.dropped.pop_front();
            }
        }
        // A transcript goes on without a gap. Without one, a page that is being read no longer fits.
        match &mut self.earlier {
            Some(earlier) => earlier.add(oldest),
            None => self.changes = self.changes.wrapping_add(1),
        }
    }

    fn drop_stretches(&mut self, is_dropped: impl Fn(&Stretch) -> bool) {
        if self.stretches.is_empty() {
            return;
        }
        let bytes = &mut self.bytes;
        self.stretches.retain(|stretch| {
            let is_dropped = is_dropped(stretch);
            if is_dropped {
                *bytes = bytes.saturating_sub(stretch.bytes());
            }
            !is_dropped
        });
    }

    /// Forgets everything, as if no message had been written. A page that is being read now is not kept.
    pub(super) fn forget(&mut self, reach: Option<MessageId>) {
        let changes = self.changes.wrapping_add(1);
        *self = Self { changes, ..Self::beginning_after(reach) };
    }
}

impl Texts {
    /// Keeps everything that the chat has from the first message of the range to the last.
    pub(super) fn read(&mut self, span: Span, messages: Vec<Arc<ChatMessage>>) {
        let Span { first, last } = span;
        self.bytes += messages.iter().map(weight).sum::<usize>();
        let mut stretches = self.stretches.iter_mut();
        // A range is read page by page, and each page continues the one before.
        if let Some(known) = stretches.find(|known| next(known.last) == first) {
            known.last = last;
            known.messages.extend(messages);
        } else {
            if self.stretches.len() >= STRETCHES_MAX {
                let oldest = self.stretches.remove(0);
                self.bytes = self.bytes.saturating_sub(oldest.bytes());
            }
            self.stretches.push(Stretch { first, last, messages });
        }
    }

    /// Returns the message up to which everything from this one on was read.
    pub(super) fn read_up_to(&self, first: MessageId) -> Option<MessageId> {
        self.stretch(first).map(|known| known.last)
    }

    fn stretch(&self, first: MessageId) -> Option<&Stretch> {
        self.stretches.iter().find(|known| (known.first..=known.last).contains(&first))
    }

    /// Returns the messages of a range that were read, oldest first.
    pub(super) fn read_within(&self, span: Span) -> impl Iterator<Item = &Arc<ChatMessage>> {
        let read = self.stretch(span.first).map_or(&[][..], |stretch| &stretch.messages);
        let from = read.partition_point(|message| message.id < span.first);
        let later = read.get(from..).unwrap_or_default();
        later.iter().take_while(move |message| message.id <= span.last)
    }

    /// Returns how many messages of people in a range that was read no longer exist in the chat.
    pub(super) fn lost_within(&self, span: RangeInclusive<MessageId>) -> usize {
        let read = self.stretch(*span.start()).map_or(&[][..], |stretch| &stretch.messages);
        let is_read = |id: &MessageId| read.binary_search_by_key(id, |message| message.id).is_ok();
        let dropped = self.dropped.iter().filter(|id| span.contains(id));
        dropped.filter(|id| !is_read(id) && !self.has(**id)).count()
    }
}

impl Texts {
    /// Returns the newest `limit` messages, oldest first. `None` if memory has fewer and the channel may have more.
    pub(crate) fn transcript(&self, limit: usize) -> Option<Vec<Arc<ChatMessage>>> {
        let earlier = self.earlier.as_deref();
        let from = if earlier.is_some() { None } else { self.reach };
        let recent = self.after(from).filter(|message| message.is_told());
        let before = earlier.into_iter().flat_map(|earlier| earlier.messages.iter());
        let mut said: Vec<_> = recent.chain(before).cloned().collect();
        said.sort_unstable_by_key(|message| message.id);
        // A message may be in both lists.
        said.dedup_by_key(|message| message.id);
        let first = said.len().saturating_sub(limit);
        let is_enough = said.len() >= limit || earlier.is_some();
        is_enough.then(|| said.split_off(first))
    }

    /// Returns a number for [`Texts::recall`], from before the page is read.
    pub(crate) const fn changes(&self) -> u32 {
        self.changes
    }

    /// Keeps the newest messages that were read for a transcript. The page is as long as the longest transcript. It is
    /// not kept if a message changed since the read began (`changes`), or if another page was kept.
    pub(crate) fn recall(&mut self, page: &[Arc<ChatMessage>], changes: u32) {
        if self.changes == changes && self.earlier.is_none() {
            self.earlier = Some(Box::new(Earlier { messages: page.iter().cloned().collect() }));
        }
    }
}

pub(super) fn weight(message: &Arc<ChatMessage>) -> usize {
    let words = size_of::<ChatMessage>() + message.content.len();
    let is_plain =
        message.attachments.is_empty() && message.shown.is_empty() && message.quoted.is_none();
    if is_plain { words } else { words + weight_beside(message) }
}

#[cold]
fn weight_beside(message: &ChatMessage) -> usize {
    let beside = |files: &[Attachment], things: &[Shown]| -> usize {
        let described = |file: &Attachment| file.description.as_deref().map_or(0, str::len);
        let files = files.iter().map(|it| 160 + it.name.len() + it.url.len() + described(it));
        let things = things.iter().map(|thing| size_of::<Shown>() + thing.weight());
        files.chain(things).sum()
    };
    let quoted = message.quoted.as_deref().map_or(0, |it| {
        size_of::<Quoted>() + it.content.len() + beside(&it.attachments, &it.shown)
    });
    quoted + beside(&message.attachments, &message.shown)
}

/// The messages before those in memory, oldest first. Some may be in both.
#[derive(Debug)]
struct Earlier {
    messages: VecDeque<Arc<ChatMessage>>,
}

impl Earlier {
    fn add(&mut self, message: Arc<ChatMessage>) {
        let at = self.messages.partition_point(|known| known.id < message.id);
        if !message.is_told() || self.messages.get(at).is_some_and(|known| known.id == message.id) {
            return;
        }
        self.messages.insert(at, message);
        if self.messages.len() > TRANSCRIPT_MAX {
            self.messages.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
