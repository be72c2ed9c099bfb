//! Up to where the channel was heard, and what may have been missed.

use std::collections::VecDeque;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::reads::PAGE;
use crate::record::channel::GapFrom;

/// The most ids that are kept to recognise a message that is read after it was pushed or posted.
const IDS_MAX: usize = 16 * 1024;
/// The same, where the channel is not read to find what events did not tell of: each of them is stored with every commit.
const IDS_UNREAD: usize = 256;
/// After how many messages the channel is to be read again: as many as a page has.
const READ_AGAIN: usize = PAGE as usize;
/// How long a gap holds back what agents say, so that a stop that was missed acts first.
const HOLD_BACK: Duration = Duration::from_secs(5);
/// How far the chat's clock and ours may be apart.
pub(super) const CLOCKS_APART: Duration = Duration::from_secs(5);
/// A further gap within this time holds nothing back.
const HOLD_AGAIN_AFTER: Duration = Duration::from_secs(60);

/// What is certain about the channel's messages.
///
/// `heard`: every message up to it was pushed while no gap was open, or was read. Own posts never raise
/// it: the answer to a post says nothing about what others said before.
/// `verified`: every message up to it was read. A gap and a periodic backfill are read from here, and so an
/// event is found that was lost without notice.
///
/// Both begin where the channel's conversation began.
#[derive(Debug)]
pub(crate) struct Marks {
    heard: Option<MessageId>,
    verified: Option<MessageId>,
    /// Behind which message the conversation began, as long as nothing was read of it.
    begun: Option<MessageId>,
    /// Where the chat did not tell which ids this moment has: messages of before it are not the channel's.
    since: Timestamp,
    /// Only after a disconnect or a restart.
    gap: Option<Box<Gap>>,
    /// Messages that were pushed or posted behind `verified`, ascending.
    ids: VecDeque<MessageId>,
    /// There are so many of them by now that the channel is to be read.
    is_long_unread: bool,
    /// The newest message that was pushed while a gap was open.
    pushed: Option<MessageId>,
    /// When a gap last held something back.
    held_back_at: Option<Timestamp>,
}

/// From where on something may have been said that was not heard.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Everything up to here was read, or nothing was read yet and it was heard.
    from: Option<MessageId>,
    /// Until when agents' posts, triggers and calls wait for the read.
    hold_until: Option<Timestamp>,
    /// A read that began before this gap opened does not close it.
    epoch: u32,
    /// The gap at which the read under way began.
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

    /// The marks of a channel that was heard up to here when it was stored, and read up to `verified`. Of the
    /// messages after that, those with these ids were heard.
    pub(crate) fn restored(
        heard: Option<MessageId>,
        verified: Option<MessageId>,
        known: impl Iterator<Item = MessageId>,
        since: Timestamp,
    ) -> Self {
        let mut marks = Self::new(heard, since);
        (marks.verified, marks.begun) = (verified.or(heard), None);
        known.for_each(|id| marks.note(id));
        marks
    }

    /// Everything up to here was pushed without a gap, or read.
    pub(crate) const fn heard(&self) -> Option<MessageId> {
        self.heard
    }

    /// From where on the channel is being read, while it is.
    pub(crate) fn gap_from(&self) -> Option<GapFrom> {
        self.gap.as_ref().map(|gap| gap.from.map_or(GapFrom::Start, GapFrom::After))
    }

    pub(crate) const fn has_gap(&self) -> bool {
        self.gap.is_some()
    }

    /// Whether a message with this id needs no second look.
    pub(crate) fn is_known(&self, id: MessageId) -> bool {
        Some(id) <= self.verified || self.ids.binary_search(&id).is_ok()
    }

    /// The channel's conversation begins behind this message: what was said before is not its own.
    pub(crate) fn begin(&mut self, after: Option<MessageId>, now: Timestamp) {
        *self = Self::new(after, now);
    }

    /// A message was pushed. It counts as heard unless a gap is open.
    pub(crate) fn pushed(&mut self, id: MessageId) {
        if Some(id) <= self.begun {
            // Our clock was ahead of the chat's when the conversation began. It begins with this message, or what follows
            // it would count as read and be handed to agents before it is heard, and once more when it is.
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

    /// A message of ours, known from the answer to the post, or one that was read out of order.
    pub(crate) fn note(&mut self, id: MessageId) {
        if Some(id) <= self.verified {
            return;
        }
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

    /// It counts as read.
    fn forget_oldest(&mut self) {
        let oldest = self.ids.pop_front();
        self.verified = self.verified.max(oldest.min(self.heard));
    }

    /// Whether much was pushed or posted since the channel was last read. Told once, and again when it has become more.
    pub(crate) fn take_long_unread(&mut self) -> bool {
        std::mem::take(&mut self.is_long_unread)
    }

    /// The channel is not read to find what events did not tell of.
    pub(crate) fn do_without_reading(&mut self) {
        while self.ids.len() > IDS_UNREAD {
            self.forget_oldest();
        }
    }

    /// Whether a channel whose newest message this is was heard to its end. That it is ours says nothing
    /// about what others said before it.
    pub(crate) fn covers(&self, newest: MessageId) -> bool {
        Some(newest) <= self.heard
    }

    /// Events may have been lost. `from`, where given, is from where a gap was being read before a restart.
    pub(crate) fn open_gap(&mut self, now: Timestamp, from: Option<GapFrom>) {
        if let Some(gap) = &mut self.gap {
            gap.epoch = gap.epoch.wrapping_add(1);
            return;
        }
        let free = self.held_back_at.is_none_or(|at| now < at || now.since(at) >= HOLD_AGAIN_AFTER);
        let hold_until = free.then(|| now + HOLD_BACK);
        if free {
            self.held_back_at = Some(now);
        }
        // From what was read on, or from the first message that is known where nothing was read: an event
        // that was lost without notice may lie below what was heard since.
        let from = from.map_or_else(
            || self.heard.min(self.verified.or_else(|| self.ids.front().copied())),
            GapFrom::message,
        );
        self.gap = Some(Box::new(Gap { from, hold_until, epoch: 0, reading: None }));
    }

    /// What may have been missed does not matter any more.
    pub(crate) fn drop_gap(&mut self) {
        if self.gap.take().is_some() {
            self.heard = self.heard.max(self.pushed.take());
        }
    }

    /// Until when agents' posts, triggers and calls wait for a read.
    pub(crate) fn hold_until(&self) -> Option<Timestamp> {
        self.gap.as_ref().and_then(|gap| gap.hold_until)
    }

    pub(crate) fn is_holding(&self, now: Timestamp) -> bool {
        self.hold_until().is_some_and(|until| now < until)
    }

    /// The wait for a read is over, whether it has ended or not.
    pub(crate) fn expire_hold(&mut self, now: Timestamp) {
        if let Some(gap) = &mut self.gap {
            gap.hold_until = gap.hold_until.filter(|until| now < *until);
        }
    }

    /// The read of the gap has begun.
    pub(crate) fn begin_read(&mut self) {
        if let Some(gap) = &mut self.gap {
            gap.reading = gap.reading.or(Some(gap.epoch));
        }
    }

    /// A page of the gap was read, up to `last`. With the last page the gap is closed, unless another one
    /// opened meanwhile: then it is read once more. Returns whether it is closed.
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
        if gap.reading.take() != Some(gap.epoch) {
            return false;
        }
        self.gap = None;
        self.heard = self.heard.max(from).max(self.pushed.take());
        true
    }

    /// The read of the gap is to begin anew: a page could not be read.
    pub(crate) fn read_failed(&mut self) {
        if let Some(gap) = &mut self.gap {
            gap.reading = None;
        }
    }

    /// From where a periodic backfill reads.
    pub(crate) const fn verified(&self) -> Option<MessageId> {
        self.verified
    }

    /// Whether more was heard than was read: an event may have been lost in between.
    pub(crate) fn is_unverified(&self) -> bool {
        self.verified < self.heard
    }

    /// From where the channel is to be read after a restart, where that is not what was heard.
    pub(crate) fn verified_behind(&self) -> Option<MessageId> {
        self.verified.filter(|_| self.verified < self.heard)
    }

    /// The messages up to here that were heard and not read, ascending.
    pub(crate) fn known_up_to(&self, up_to: Option<MessageId>) -> impl Iterator<Item = MessageId> {
        self.ids.iter().copied().take_while(move |id| Some(*id) <= up_to)
    }

    /// Everything up to here was read.
    pub(crate) fn verify(&mut self, up_to: Option<MessageId>) {
        self.begun = None;
        self.verified = self.verified.max(up_to);
        if self.gap.is_none() {
            // Or it would be read again after a restart, when the turn machine has forgotten that it was heard.
            self.heard = self.heard.max(up_to);
        }
        while self.ids.front().is_some_and(|id| Some(*id) <= self.verified) {
            self.ids.pop_front();
        }
    }

    /// Whether a message that was sent then belongs to the channel's conversation.
    pub(crate) fn is_ours(&self, sent: Timestamp) -> bool {
        self.verified.is_some() || sent + CLOCKS_APART > self.since
    }

    /// Time went back by this much.
    pub(crate) fn move_back(&mut self, by: Duration) {
        let hold = self.gap.as_mut().and_then(|gap| gap.hold_until.as_mut());
        for moment in hold.into_iter().chain(self.held_back_at.as_mut()) {
            *moment = moment.saturating_sub(by);
        }
    }
}

#[cfg(test)]
mod tests;
