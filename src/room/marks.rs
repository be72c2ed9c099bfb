//! Tracks up to where the channel was heard, and what may have been missed.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::reads::PAGE;
use crate::record::channel::GapFrom;

/// The most ids that are kept to recognise a message that is read after it was pushed or posted.
const IDS_MAX: usize = 16 * 1024;
/// The most ids if the channel is not read for lost events, because each id is stored with every commit.
const IDS_UNREAD: usize = 256;
/// The number of messages after which the channel must be read again. It is the size of a page.
const READ_AGAIN: usize = PAGE as usize;
/// How long a gap delays agents' posts, so that a missed stop acts first.
const HOLD_BACK: Duration = Duration::from_secs(5);
/// The most that the chat's clock and ours may differ.
pub(super) const CLOCKS_APART: Duration = Duration::from_secs(5);
/// The time within which another gap delays no post.
const HOLD_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// The facts that are certain about the channel's messages.
///
/// `heard` is the last message up to which every message was pushed while no gap was open, or was read. Own posts never
/// raise it, because the answer to a post says nothing about earlier messages of others. `verified` is the last message
/// up to which every message was read. Gaps and the periodic backfill are read from there, and this finds an event that
/// was lost unnoticed.
///
/// Both begin where the channel's conversation began.
#[derive(Debug)]
pub(crate) struct Marks {
    heard: Option<MessageId>,
    verified: Option<MessageId>,
    /// The message behind which the conversation began, until a message of it was read.
    begun: Option<MessageId>,
    /// The start of the conversation, if the chat does not tell which ids that moment has. Earlier messages do not
    /// belong to the channel.
    since: Timestamp,
    /// Present only after a disconnect or a restart.
    gap: Option<Box<Gap>>,
    /// Messages that were pushed or posted behind `verified`, in ascending order.
    ids: VecDeque<MessageId>,
    /// `true` if there are so many of them that the channel must be read.
    is_long_unread: bool,
    /// The newest message that was pushed while a gap was open.
    pushed: Option<MessageId>,
    /// The time when a gap last delayed something.
    held_back_at: Option<Timestamp>,
}

/// A gap: messages from here on may not have been heard.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// The last message up to which everything was read. If nothing was read yet, it was heard.
    from: Option<MessageId>,
    /// The time until which agents' posts, triggers and calls wait for the read.
    hold_until: Option<Timestamp>,
    /// The number of the gap. A read that began before the gap opened does not close it.
    epoch: u32,
    /// The gap at which the current read began.
    reading: Option<u32>,
}

impl Marks {
    pub(crate) const fn new(heard: Option<MessageId>, since: Timestamp) -> Self {
        Self {
            heard,
            verified: heard,
            begun: heard,
            since,
            gap: None,
            ids: VecDeque::new(),
            is_long_unread: false,
            pushed: None,
            held_back_at: None,
        }
    }

    /// Restores the marks of a channel that was heard up to here when it was stored, and read up to `verified`. Of the
    /// messages after that, those with these ids were heard.
    pub(crate) fn restored(
        heard: Option<MessageId>,
        verified: Option<MessageId>,
        known: impl Iterator<Item = MessageId>,
        since: Timestamp,
    ) -> Self {
        let mut marks = Self::new(heard, since);
        // The record has `verified` only where it differs from `heard`.
        (marks.verified, marks.begun) = (verified.or(heard), None);
        known.for_each(|id| marks.note(id));
        marks
    }

    pub(crate) const fn heard(&self) -> Option<MessageId> {
        self.heard
    }

    /// Returns the start of the current read, while the channel is being read.
    pub(crate) fn gap_from(&self) -> Option<GapFrom> {
        self.gap.as_ref().map(|gap| gap.from.map_or(GapFrom::Start, GapFrom::After))
    }

    pub(crate) const fn has_gap(&self) -> bool {
        self.gap.is_some()
    }

    /// Returns whether a message with this id needs no second look.
    pub(crate) fn is_known(&self, id: MessageId) -> bool {
        Some(id) <= self.verified || self.ids.binary_search(&id).is_ok()
    }

    /// Begins the channel's conversation behind this message. Earlier messages do not belong to it.
    pub(crate) fn begin(&mut self, after: Option<MessageId>, now: Timestamp) {
        *self = Self::new(after, now);
    }

    /// Records that a message was pushed. It counts as heard unless a gap is open.
    pub(crate) fn pushed(&mut self, id: MessageId) {
        if Some(id) <= self.begun {
            // Our clock was ahead of the chat's when the conversation began, so it begins with this message. Otherwise
            // later messages would count as read. Agents would then get them before they are heard, and once more when
            // they are heard.
            let before = MessageId::new(id.get().saturating_sub(1));
            (self.heard, self.verified) =
                (self.heard.min(Some(before)), self.verified.min(Some(before)));
        }
        self.note(id);
        if self.gap.is_some() {
            self.pushed = self.pushed.max(Some(id));
        } else {
            self.heard = self.heard.max(Some(id));
        }
    }

    /// Records a message of ours that is known from the answer to the post, or one that was read out of order.
    pub(crate) fn note(&mut self, id: MessageId) {
        if Some(id) <= self.verified {
            return;
        }
        // Almost every message is the newest one, so it is appended without a search.
        if self.ids.back().is_none_or(|newest| *newest < id) {
            self.ids.push_back(id);
        } else if let Err(at) = self.ids.binary_search(&id) {
            self.ids.insert(at, id);
        }
        self.is_long_unread |= self.ids.len() % READ_AGAIN == READ_AGAIN - 1;
        if self.ids.len() > IDS_MAX {
            self.forget_oldest();
        }
    }

    /// Counts the oldest id as read.
    fn forget_oldest(&mut self) {
        let oldest = self.ids.pop_front();
        self.verified = self.verified.max(oldest.min(self.heard));
    }

    /// Returns whether many messages were pushed or posted since the channel was last read. It reports this once, and
    /// again when there are more.
    pub(crate) fn take_long_unread(&mut self) -> bool {
        std::mem::take(&mut self.is_long_unread)
    }

    /// Records that the channel is not read for lost events.
    pub(crate) fn do_without_reading(&mut self) {
        while self.ids.len() > IDS_UNREAD {
            // Each id is stored with every commit, so the list must stay short where no read ever clears it.
            self.forget_oldest();
        }
    }

    /// Returns whether a channel with this newest message was heard to its end. If the message is ours, this says
    /// nothing about earlier messages of others.
    pub(crate) fn covers(&self, newest: MessageId) -> bool {
        Some(newest) <= self.heard
    }

    /// Records that events may have been lost. `from` is the start of a gap that was being read before a restart.
    pub(crate) fn open_gap(&mut self, now: Timestamp, from: Option<GapFrom>) {
        if let Some(gap) = &mut self.gap {
            // A read in progress may have passed the new gap already, so it does not close it.
            gap.epoch = gap.epoch.wrapping_add(1);
            return;
        }
        // A gateway that breaks again and again would otherwise hold back every post.
        let free = self.held_back_at.is_none_or(|at| now < at || now.since(at) >= HOLD_AGAIN_AFTER);
        let hold_until = free.then(|| now + HOLD_BACK);
        if free {
            self.held_back_at = Some(now);
        }
        // The gap begins behind the last read message, or before the first known one if none was read, because an event
        // that was lost unnoticed may lie below later messages.
        let from = from.map_or_else(
            || self.heard.min(self.verified.or_else(|| self.ids.front().copied())),
            GapFrom::message,
        );
        self.gap = Some(Box::new(Gap { from, hold_until, epoch: 0, reading: None }));
    }

    /// Drops the gap, because missed messages no longer matter.
    pub(crate) fn drop_gap(&mut self) {
        if self.gap.take().is_some() {
            // What was pushed during the gap counts as heard, because nothing was missed that matters.
            self.heard = self.heard.max(self.pushed.take());
        }
    }

    /// Returns until when agents' posts, triggers and calls wait for a read.
    pub(crate) fn hold_until(&self) -> Option<Timestamp> {
        self.gap.as_ref().and_then(|gap| gap.hold_until)
    }

    pub(crate) fn is_holding(&self, now: Timestamp) -> bool {
        self.hold_until().is_some_and(|until| now < until)
    }

    /// Ends the wait for a read, whether the read has ended or not.
    pub(crate) fn expire_hold(&mut self, now: Timestamp) {
        if let Some(gap) = &mut self.gap {
            gap.hold_until = gap.hold_until.filter(|until| now < *until);
        }
    }

    pub(crate) fn begin_read(&mut self) {
        if let Some(gap) = &mut self.gap {
            // A page that continues a read belongs to the gap at which that read began.
            gap.reading = gap.reading.or(Some(gap.epoch));
        }
    }

    /// Records that a page of the gap was read, up to `last`. The last page closes the gap, unless another one opened
    /// since, because then it is read once more. Returns whether it is closed.
    pub(crate) fn read_page(&mut self, last: Option<MessageId>, full: bool) -> bool {
        let Some(gap) = &mut self.gap else {
            return true;
        };
        gap.from = gap.from.max(last);
        let from = gap.from;
        self.verify(from);
        if full {
            return false;
        }
        let Some(gap) = &mut self.gap else {
            return true;
        };
        // Another gap opened during the read, and may lie before the page that was just read.
        if gap.reading.take() != Some(gap.epoch) {
            return false;
        }
        self.gap = None;
        self.heard = self.heard.max(from).max(self.pushed.take());
        true
    }

    /// Records that a page could not be read, so that the read of the gap begins again.
    pub(crate) fn read_failed(&mut self) {
        if let Some(gap) = &mut self.gap {
            gap.reading = None;
        }
    }

    /// Returns the start of a periodic backfill.
    pub(crate) const fn verified(&self) -> Option<MessageId> {
        self.verified
    }

    /// Returns whether more messages were heard than read, so that an event may have been lost in between.
    pub(crate) fn is_unverified(&self) -> bool {
        self.verified < self.heard
    }

    /// Returns the start of the read after a restart, if it differs from the last heard message.
    pub(crate) fn verified_behind(&self) -> Option<MessageId> {
        self.verified.filter(|_| self.verified < self.heard)
    }

    /// Returns the messages up to here that were heard and not read, in ascending order.
    pub(crate) fn known_up_to(&self, up_to: Option<MessageId>) -> impl Iterator<Item = MessageId> {
        self.ids.iter().copied().take_while(move |id| Some(*id) <= up_to)
    }

    pub(crate) fn verify(&mut self, up_to: Option<MessageId>) {
        self.begun = None;
        self.verified = self.verified.max(up_to);
        if self.gap.is_none() {
            // Otherwise it would be read again after a restart, when the turn machine has forgotten that it was heard.
            self.heard = self.heard.max(up_to);
        }
        while self.ids.front().is_some_and(|id| Some(*id) <= self.verified) {
            self.ids.pop_front();
        }
    }

    /// Returns whether a message with this time belongs to the channel's conversation.
    pub(crate) fn is_ours(&self, sent: Timestamp) -> bool {
        // A channel in which nothing was read yet has no mark, only the time at which it got its mode.
        self.verified.is_some() || sent + CLOCKS_APART > self.since
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        let hold = self.gap.as_mut().and_then(|gap| gap.hold_until.as_mut());
        for moment in hold.into_iter().chain(self.held_back_at.as_mut()) {
            *moment = moment.saturating_sub(by);
        }
    }
}

#[cfg(test)]
mod tests;
