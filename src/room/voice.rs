//! What is said in the channel, in order: one post at a time.

use std::time::Duration;

use dirigent_core::{Effect, MessageId, Timestamp};

use super::action::ActionId;
use super::attempts::Attempts;
use super::commit::Stamp;
use crate::values::deferral_key::DeferralKey;
use crate::values::message::Nonce;

/// How long a notice is tried.
pub(crate) const NOTICE_MAX: Duration = Duration::from_secs(120);

/// What is to be said, oldest first. The head holds the others back while it waits.
#[derive(Debug, Default)]
pub(crate) struct VoiceLane {
    items: Vec<VoiceItem>,
    attempts: Attempts,
    progress: Progress,
    under_way: Option<ActionId>,
    /// Whether the head was not admitted when it asked.
    has_waited: bool,
    /// The action of a head that was withdrawn while it was under way.
    lingering: Option<ActionId>,
    /// When the head was first offered to the chat.
    first_tried: Option<Timestamp>,
    /// The nonce of the head's newest post.
    nonce: Option<Nonce>,
    /// The message with that nonce, once an event told of it.
    arrived: Option<MessageId>,
    /// Whether an attempt at that post may have succeeded.
    is_doubtful: bool,
    /// How far the notices got that let others pass.
    aside: Vec<Aside>,
}

/// A notice that failed and let others pass: what is known of its attempts.
#[derive(Debug)]
struct Aside {
    item: VoiceItem,
    attempts: Attempts,
    first_tried: Option<Timestamp>,
    nonce: Option<Nonce>,
    arrived: Option<MessageId>,
    is_doubtful: bool,
}

/// One thing to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VoiceItem {
    /// What the machine asked for, with what must be committed before.
    Effect(Effect, Stamp),
    /// The hosted reply.
    Reply,
    /// The orchestrator's answer.
    Answer,
}

/// How far the head got, where that takes several steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A run that was put off may wait for its turn.
    #[default]
    Deferral,
    /// The host's waker is to be asked, and told which run was put off.
    Wake(Option<DeferralKey>),
    /// It is to be posted.
    Post,
}

impl VoiceLane {
    pub(crate) fn push(&mut self, item: VoiceItem) {
        // Hardly ever more than one waits.
        self.items.reserve_exact(1);
        self.items.push(item);
    }

    /// Says this before everything else: the turn of what stands behind it waits until then.
    pub(crate) fn push_front(&mut self, item: VoiceItem) {
        self.keep_aside();
        self.items.insert(0, item);
        self.begin_anew();
    }

    /// Lets what stands behind a notice pass that was tried in vain, or was not admitted. `false` where nothing is to
    /// pass.
    pub(crate) fn step_aside(&mut self) -> bool {
        let is_notice =
            |item: &VoiceItem| matches!(item, VoiceItem::Effect(Effect::Notice { .. }, _));
        let waits = self.under_way.is_none() && (self.has_waited || self.attempts.failed() > 0);
        let is_head = self.items.first().is_some_and(is_notice);
        if !waits || !is_head || self.items.iter().all(is_notice) {
            return false;
        }
        self.keep_aside();
        self.items.rotate_left(1);
        self.begin_anew();
        true
    }

    /// Keeps what is known of the head, if it is a notice that was tried.
    fn keep_aside(&mut self) {
        let is_tried = self.first_tried.is_some() && self.under_way.is_none();
        let head = self.items.first().copied().filter(|_| is_tried);
        if let Some(item @ VoiceItem::Effect(Effect::Notice { .. }, _)) = head {
            self.aside.push(Aside {
                item,
                attempts: self.attempts,
                first_tried: self.first_tried,
                nonce: self.nonce.take(),
                arrived: self.arrived,
                is_doubtful: self.is_doubtful,
            });
        }
    }

    /// Another item is the head: it begins anew, or where it stopped when it let others pass.
    fn begin_anew(&mut self) {
        let items = std::mem::take(&mut self.items);
        let mut aside = std::mem::take(&mut self.aside);
        let lingering = self.under_way.or(self.lingering);
        aside.retain(|known| items.contains(&known.item));
        let at = aside.iter().position(|known| Some(&known.item) == items.first());
        *self = Self { items, lingering, ..Self::default() };
        if let Some(Aside { attempts, first_tried, nonce, arrived, is_doubtful, .. }) =
            at.map(|at| aside.swap_remove(at))
        {
            self.attempts = attempts;
            self.first_tried = first_tried;
            self.nonce = nonce;
            self.arrived = arrived;
            self.is_doubtful = is_doubtful;
        }
        self.aside = aside;
    }

    pub(crate) fn head(&self) -> Option<VoiceItem> {
        self.items.first().copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) const fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// The request of the head that is under way.
    pub(crate) const fn under_way(&self) -> Option<ActionId> {
        self.under_way
    }

    /// Whether a post of another head may still arrive. What an agent says, and a trigger, waits for it.
    pub(crate) const fn is_busy(&self) -> bool {
        self.under_way.is_some() || self.lingering.is_some()
    }

    /// An attempt at the head's post may have succeeded although it failed.
    pub(crate) const fn doubt(&mut self) {
        self.is_doubtful = true;
    }

    /// The nonce of the head's post, if that may stand in the channel or come to stand there, and the action that
    /// posts it.
    pub(crate) fn doubtful_post(&mut self) -> Option<(Nonce, Option<ActionId>)> {
        let under_way = self.under_way;
        let nonce = self.nonce.take_if(|_| self.is_doubtful || under_way.is_some())?;
        Some((nonce, under_way))
    }

    /// The head is done with; the next one begins anew.
    pub(crate) fn pop(&mut self) {
        self.items.drain(..self.items.len().min(1));
        self.begin_anew();
    }

    /// The item is withdrawn, wherever it stands.
    pub(crate) fn withdraw(&mut self, item: VoiceItem) {
        if self.head() == Some(item) {
            self.pop();
        } else {
            self.items.retain(|known| *known != item);
        }
    }

    /// Everything leaves that the machine asked for.
    pub(crate) fn clear(&mut self) {
        let lingering = self.under_way.or(self.lingering);
        *self = Self { lingering, ..Self::default() };
    }

    pub(crate) const fn progress(&self) -> Progress {
        self.progress
    }

    pub(crate) const fn advance(&mut self, progress: Progress) {
        self.progress = progress;
    }

    pub(crate) const fn attempts(&mut self) -> &mut Attempts {
        &mut self.attempts
    }

    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        self.attempts.is_due(now)
    }

    /// The head may not start yet.
    pub(crate) const fn not_admitted(&mut self) {
        self.has_waited = true;
    }

    /// Whether the head was not admitted when it asked.
    pub(crate) const fn has_waited(&self) -> bool {
        self.has_waited
    }

    pub(crate) fn begin(&mut self, id: ActionId, now: Timestamp) {
        (self.under_way, self.has_waited) = (Some(id), false);
        self.first_tried.get_or_insert(now);
    }

    /// The head is posted with this nonce: an event with it tells that the post arrived.
    pub(crate) fn expect(&mut self, nonce: Nonce) {
        self.nonce = Some(nonce);
        self.arrived = None;
    }

    /// An event tells of a message with this nonce, by the account that posts the head. Returns whether it is
    /// the head's, and no answer to the post is waited for.
    pub(crate) fn arrived(&mut self, nonce: Nonce, message: MessageId) -> bool {
        let own = self.nonce == Some(nonce);
        if own {
            self.arrived = Some(message);
        }
        own && self.under_way.is_none()
    }

    /// What was posted last is known to be in the channel: an event that tells of it says nothing new.
    pub(crate) fn has_landed(&mut self) {
        self.nonce = None;
        self.arrived = None;
    }

    /// The message that the head's post has become, as far as events tell.
    pub(crate) fn take_arrived(&mut self) -> Option<MessageId> {
        self.arrived.take()
    }

    /// The action under way ended. `false` when it was that of a head that has been withdrawn.
    pub(crate) fn end(&mut self, id: ActionId) -> bool {
        let own = self.under_way == Some(id);
        if own {
            self.under_way = None;
        } else if self.lingering == Some(id) {
            self.lingering = None;
        }
        own
    }

    /// Whether the head has been tried for longer than a notice is.
    pub(crate) fn is_overdue(&self, now: Timestamp) -> bool {
        self.first_tried.is_some_and(|first| now.since(first) >= NOTICE_MAX)
    }

    /// When the head may be tried again, where that lies ahead.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        let waits = !self.items.is_empty() && self.under_way.is_none();
        self.attempts.next_at().filter(|_| waits)
    }

    pub(crate) fn move_back(&mut self, by: Duration) {
        self.attempts.move_back(by);
        self.first_tried = self.first_tried.map(|at| at.saturating_sub(by));
        for known in &mut self.aside {
            known.attempts.move_back(by);
            known.first_tried = known.first_tried.map(|at| at.saturating_sub(by));
        }
    }
}

#[cfg(test)]
mod tests {
    use dirigent_core::{Notice, Ticket};

    use super::*;

    #[test]
    fn a_notice_that_was_not_admitted_lets_others_pass_and_its_wait_is_its_own() {
        let notice = Effect::Notice { ticket: Ticket::new(1), notice: Notice::Ceiling };
        let mut voice = VoiceLane::default();
        voice.push(VoiceItem::Effect(notice, Stamp::default()));
        voice.push(VoiceItem::Reply);
        assert!(!voice.step_aside(), "it was not tried yet");
        voice.not_admitted();
        assert!(voice.has_waited() && voice.step_aside());
        assert_eq!(voice.head(), Some(VoiceItem::Reply));
        assert!(!voice.has_waited(), "no place is reserved for the reply");
    }
}
