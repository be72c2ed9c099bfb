//! The posts of the channel, in order, one at a time.

use std::time::Duration;

use dirigent_core::{Effect, MessageId, Ticket, Timestamp, TurnId};

use super::action::ActionId;
use super::attempts::Attempts;
use super::commit::Stamp;
use crate::values::deferral_key::DeferralKey;
use crate::values::message::Nonce;

pub(crate) const NOTICE_MAX: Duration = Duration::from_secs(120);

/// Remembers whether the awaited agent knows that its turn has come.
#[derive(Debug, Default)]
pub(super) struct TriggerState {
    /// `true` if the agent may not have heard its trigger, because the gateway was lost or the process ended.
    pub(super) again: bool,
    /// The newest turn that its agent knows of without a message, because the host's waker called it.
    pub(super) called: Option<TurnId>,
}

/// A trigger that is not posted yet, or was posted without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PendingTrigger {
    pub(crate) ticket: Ticket,
    /// The number of earlier triggers of its agent for this turn.
    pub(crate) attempt: u8,
    /// `true` if it may be in the channel already.
    pub(crate) may_stand: bool,
}

/// The posts, oldest first. The head holds the others back while it waits.
#[derive(Debug, Default)]
pub(crate) struct PostQueue {
    items: Vec<QueuedPost>,
    /// The action of a head that was withdrawn while it was in progress.
    lingering: Option<ActionId>,
}

/// One post, and its progress. Only the head is ever in progress.
#[derive(Debug)]
struct QueuedPost {
    item: PostItem,
    attempts: Attempts,
    progress: Progress,
    under_way: Option<ActionId>,
    /// `true` if it was not admitted when it asked.
    has_waited: bool,
    /// The time when it was first offered to the chat.
    first_tried: Option<Timestamp>,
    nonce: Option<Nonce>,
    /// The message with that nonce, once an event reported it.
    arrived: Option<MessageId>,
    /// `true` if an attempt at that post may have succeeded.
    is_doubtful: bool,
}

impl QueuedPost {
    fn new(item: PostItem) -> Self {
        Self {
            item,
            attempts: Attempts::default(),
            progress: Progress::default(),
            under_way: None,
            has_waited: false,
            first_tried: None,
            nonce: None,
            arrived: None,
            is_doubtful: false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PostItem {
    /// An effect of the machine, with the state that must be committed before.
    Effect(Effect, Stamp),
    Reply,
    Answer,
}

/// The progress of a trigger at the head, which takes several steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A deferred run may wait for the turn.
    #[default]
    Deferral,
    /// The host's waker is asked. It learns which run was deferred.
    Wake(Option<DeferralKey>),
    Post,
}

impl PostQueue {
    pub(crate) fn push(&mut self, item: PostItem) {
        // There is rarely more than one.
        self.items.reserve_exact(1);
        self.items.push(QueuedPost::new(item));
    }

    /// Puts an item before all others. The turn of the item behind it waits until then.
    pub(crate) fn push_front(&mut self, item: PostItem) {
        if let Some(head) = self.items.first_mut() {
            head.has_waited = false;
            // A post in progress ends as one of no head, and is made again with its nonce.
            if head.under_way.is_some() {
                self.lingering = head.under_way;
                *head = QueuedPost::new(head.item);
            }
        }
        self.items.insert(0, QueuedPost::new(item));
    }

    /// Lets others pass a notice that failed or was not admitted. Returns `false` if there is no such notice, or no
    /// other item to pass it.
    pub(crate) fn step_aside(&mut self) -> bool {
        let is_notice =
            |said: &QueuedPost| matches!(said.item, PostItem::Effect(Effect::Notice { .. }, _));
        let waits = |head: &QueuedPost| {
            is_notice(head)
                && head.under_way.is_none()
                && (head.has_waited || head.attempts.failed() > 0)
        };
        // Behind notices alone nothing would be gained, and they would change places for ever.
        if !self.items.first().is_some_and(waits) || self.items.iter().all(is_notice) {
            return false;
        }
        if let Some(head) = self.items.first_mut() {
            // It asks again when it is the head again.
            head.has_waited = false;
        }
        self.items.rotate_left(1);
        true
    }

    pub(crate) fn head(&self) -> Option<PostItem> {
        self.items.first().map(|head| head.item)
    }

    /// Returns the trigger of this turn that is still to be posted.
    pub(crate) fn owed_trigger(&self, turn: TurnId) -> Option<PendingTrigger> {
        self.items.iter().find_map(|said| match said.item {
            PostItem::Effect(Effect::Trigger { ticket, turn: of, attempt, .. }, _)
                if of == turn =>
            {
                let may_stand = said.under_way.is_some() || said.is_doubtful;
                Some(PendingTrigger { ticket, attempt, may_stand })
            }
            PostItem::Effect(..) | PostItem::Reply | PostItem::Answer => None,
        })
    }

    /// Returns whether a reminder is still to be posted, and is not in the channel yet.
    pub(crate) fn owes_reminder(&self) -> bool {
        let is_owed = |said: &QueuedPost| {
            matches!(said.item, PostItem::Effect(Effect::Reminder { .. }, _))
                && said.under_way.is_none()
                && !said.is_doubtful
        };
        self.items.iter().any(is_owed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.under_way().is_some()
    }

    pub(crate) fn under_way(&self) -> Option<ActionId> {
        self.items.first()?.under_way
    }

    /// Returns whether a post of an earlier head may still arrive. Triggers and agents' words wait for it.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_under_way() || self.lingering.is_some()
    }

    /// Records that an attempt at the head's post may have succeeded although it failed.
    pub(crate) fn doubt(&mut self) {
        if let Some(head) = self.items.first_mut() {
            head.is_doubtful = true;
        }
    }

    /// Takes the nonce of the head's post, if that may be or come into the channel, with the action that posts it.
    pub(crate) fn doubtful_post(&mut self) -> Option<(Nonce, Option<ActionId>)> {
        let head = self.items.first_mut()?;
        let may_stand = head.is_doubtful || head.under_way.is_some();
        Some((head.nonce.take_if(|_| may_stand)?, head.under_way))
    }

    pub(crate) fn pop(&mut self) {
        if let Some(head) = self.items.drain(..self.items.len().min(1)).next() {
            // Its post may still arrive, and what comes next must wait for it.
            self.lingering = head.under_way.or(self.lingering);
        }
    }

    pub(crate) fn withdraw(&mut self, item: PostItem) {
        if self.head() == Some(item) {
            self.pop();
        } else {
            self.items.retain(|known| known.item != item);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.lingering = self.under_way().or(self.lingering);
        self.items.clear();
    }

    pub(crate) fn progress(&self) -> Progress {
        self.items.first().map_or_else(Progress::default, |head| head.progress)
    }

    pub(crate) fn advance(&mut self, progress: Progress) {
        if let Some(head) = self.items.first_mut() {
            head.progress = progress;
        }
    }

    /// Records that an attempt at the head failed. It is tried again after a while.
    pub(crate) fn back_off(&mut self, now: Timestamp, retry_after: Option<Duration>) {
        if let Some(head) = self.items.first_mut() {
            head.attempts.back_off(now, retry_after);
        }
    }

    /// Sets the time of the next attempt, without a failure.
    pub(crate) fn wait_until(&mut self, at: Timestamp) {
        if let Some(head) = self.items.first_mut() {
            head.attempts.wait_until(at);
        }
    }

    pub(crate) fn retry_now(&mut self) {
        if let Some(head) = self.items.first_mut() {
            head.attempts.retry_now();
        }
    }

    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.items.first().is_none_or(|head| head.attempts.is_due(now))
    }

    pub(crate) fn not_admitted(&mut self) {
        if let Some(head) = self.items.first_mut() {
            head.has_waited = true;
        }
    }

    pub(crate) fn has_waited(&self) -> bool {
        self.items.first().is_some_and(|head| head.has_waited)
    }

    pub(crate) fn begin(&mut self, id: ActionId, now: Timestamp) {
        if let Some(head) = self.items.first_mut() {
            (head.under_way, head.has_waited) = (Some(id), false);
            head.first_tried.get_or_insert(now);
        }
    }

    /// Sets the nonce of the head's post. An event with it means that the post arrived.
    pub(crate) fn expect(&mut self, nonce: Nonce) {
        if let Some(head) = self.items.first_mut() {
            (head.nonce, head.arrived) = (Some(nonce), None);
        }
    }

    /// Handles an event about a message with this nonce, by the account that posts the head. Returns whether it is the
    /// head's, while no answer to the post is awaited.
    pub(crate) fn arrived(&mut self, nonce: Nonce, message: MessageId) -> bool {
        let head = self.items.first_mut().filter(|head| head.nonce == Some(nonce));
        head.is_some_and(|head| {
            head.arrived = Some(message);
            head.under_way.is_none()
        })
    }

    /// Records that the newest post is known to be in the channel, so that an event about it is no news.
    pub(crate) fn has_landed(&mut self) {
        if let Some(head) = self.items.first_mut() {
            (head.nonce, head.arrived) = (None, None);
        }
    }

    /// Takes the message of the head's post, if an event reported it.
    pub(crate) fn take_arrived(&mut self) -> Option<MessageId> {
        self.items.first_mut()?.arrived.take()
    }

    /// Records the end of an action. Returns `false` if it was that of a withdrawn head.
    pub(crate) fn end(&mut self, id: ActionId) -> bool {
        if let Some(head) = self.items.first_mut().filter(|head| head.under_way == Some(id)) {
            head.under_way = None;
            return true;
        }
        self.lingering.take_if(|lingering| *lingering == id);
        false
    }

    pub(crate) fn is_overdue(&self, now: Timestamp) -> bool {
        let first_tried = self.items.first().and_then(|head| head.first_tried);
        first_tried.is_some_and(|first| now.since(first) >= NOTICE_MAX)
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.items.first().filter(|head| head.under_way.is_none())?.attempts.next_at()
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        for said in &mut self.items {
            said.attempts.move_back(by);
            said.first_tried = said.first_tried.map(|at| at.saturating_sub(by));
        }
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::Notice;

    use super::*;

    #[test]
    fn a_notice_that_was_not_admitted_lets_others_pass_and_its_wait_is_its_own() {
        let notice = Effect::Notice { ticket: Ticket::new(1), notice: Notice::Ceiling };
        let mut voice = PostQueue::default();
        voice.push(PostItem::Effect(notice, Stamp::default()));
        voice.push(PostItem::Reply);
        assert!(!voice.step_aside(), "it was not tried yet");
        voice.not_admitted();
        assert!(voice.has_waited() && voice.step_aside());
        assert_eq!(voice.head(), Some(PostItem::Reply));
        assert!(!voice.has_waited(), "no place is reserved for the reply");
    }
}
