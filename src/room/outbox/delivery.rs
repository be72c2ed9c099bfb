//! One outbox message on its way.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{MessageId, Timestamp};

use super::action::{ChatFacts, FirstAttempt, OutboxAction, OutboxResult};
use super::entry::{OutboxEntry, PostState};
use super::{OutboxKind, OutboxMessage};
use crate::ChatMessage;
use crate::room::attempts::{LANDS_WITHIN, REPEAT_WITHIN, aged, is_forgotten};
use crate::room::reads::is_post;
use crate::values::error::{Certainty, ErrorKind};

/// The wait after a failed attempt; doubles up to [`RETRY_MAX`].
const RETRY: Duration = Duration::from_secs(1);
/// The longest wait between two attempts.
const RETRY_MAX: Duration = Duration::from_secs(600);

/// One outbox message with what this process knows of it.
#[derive(Debug)]
pub(super) struct Delivery {
    /// Part of the record.
    pub(super) message: OutboxMessage,
    /// Which version of the outbox is to be stored before the next request.
    pub(super) needs: u64,
    /// Since when its next part may stand in the channel, in this process or an earlier one.
    doubt: Option<Timestamp>,
    /// Until when an attempt whose end is unknown may still arrive.
    lands_until: Timestamp,
    stage: DeliveryProgress,
    /// How long was waited last.
    wait: Duration,
    /// A history was read to its end, but it may be hidden.
    may_be_hidden: bool,
    has_failed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeliveryProgress {
    /// The next request may start.
    Ready,
    /// This request is under way.
    UnderWay(Step),
    /// Until that time; `None`: until the room says so.
    Waiting { since: Timestamp, until: Option<Timestamp> },
    /// It cannot arrive. The next start tries once more.
    Hopeless,
    /// It is posted, and the room that it wakes is awake or about to be.
    Arrived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Newest,
    Page,
    Post,
    Wake,
}

/// What a step changed in the stored message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// The stored message is as before.
    None,
    /// Something that is worth storing with the next commit.
    Lazy,
    /// Something that the next request needs stored.
    Eager,
}

impl Delivery {
    /// A message that is written now.
    pub(super) fn written(message: OutboxMessage) -> Self {
        let now = message.at;
        let mut delivery = Self::restored(now, message);
        delivery.doubt = None;
        delivery.prepare();
        delivery
    }

    /// A message that an earlier process, or an earlier stay in memory, left.
    pub(super) fn restored(now: Timestamp, message: OutboxMessage) -> Self {
        let doubt = message.tried.then_some(message.at);
        let (stage, wait) = (DeliveryProgress::Ready, Duration::ZERO);
        let mut delivery = Self {
            message,
            needs: 0,
            doubt,
            // The process that ended may have made an attempt just before.
            lands_until: now + LANDS_WITHIN,
            stage,
            wait,
            may_be_hidden: false,
            has_failed: false,
        };
        delivery.close_guide();
        delivery
    }

    pub(super) const fn kind(&self) -> OutboxKind {
        self.message.kind
    }

    pub(super) fn unposted(&self) -> OutboxEntry {
        let parts = &self.message.parts;
        OutboxEntry {
            kind: self.message.kind,
            to: self.message.to,
            posted: parts.iter().filter(|part| part.posted.is_some()).count(),
            parts: parts.len(),
            state: match self.stage {
                DeliveryProgress::Ready => PostState::Ready,
                DeliveryProgress::UnderWay(_) | DeliveryProgress::Arrived => PostState::UnderWay,
                DeliveryProgress::Waiting { until, .. } => PostState::Waiting(until),
                DeliveryProgress::Hopeless => PostState::GivenUp,
            },
            in_doubt: self.doubt.is_some(),
            text: parts.iter().map(|part| &*part.content).collect::<Vec<_>>().join("\n").into(),
        }
    }

    /// The next request, if it may start now, and what is to be stored. The caller has checked that
    /// the message is stored.
    pub(super) fn next(&mut self, now: Timestamp) -> (Option<OutboxAction>, Change) {
        if !self.is_ready(now) {
            return (None, Change::None);
        }
        let Some((step, action)) = self.step(now) else {
            return (None, Change::None);
        };
        if step == Step::Post && !self.message.tried {
            // Stored before it is tried: the next process knows that there is a doubt.
            (self.message.tried, self.message.at) = (true, now);
            self.stage = DeliveryProgress::Ready;
            return (None, Change::Eager);
        }
        self.stage = DeliveryProgress::UnderWay(step);
        (Some(action), Change::None)
    }

    fn is_ready(&self, now: Timestamp) -> bool {
        match self.stage {
            DeliveryProgress::Ready => true,
            // A clock that was set back makes no wait longer.
            DeliveryProgress::Waiting { since, until } => {
                until.is_some_and(|until| until <= now || now < since)
            }
            DeliveryProgress::UnderWay(_)
            | DeliveryProgress::Hopeless
            | DeliveryProgress::Arrived => false,
        }
    }

    fn step(&self, now: Timestamp) -> Option<(Step, OutboxAction)> {
        let to = self.message.to;
        let next = self.message.parts.iter().enumerate().find(|(_, part)| part.posted.is_none());
        let Some((number, part)) = next else {
            let is_result = self.kind() == OutboxKind::Result;
            return is_result.then_some((Step::Wake, OutboxAction::WakeRoom { to }));
        };
        let Some(after) = self.message.behind() else {
            return Some((Step::Newest, OutboxAction::NewestIn { to }));
        };
        if self.doubt.is_some_and(|since| is_forgotten(since, now)) {
            // It is posted only if it is certain that it is not there.
            return Some(if self.may_be_hidden {
                (Step::Newest, OutboxAction::NewestIn { to })
            } else {
                (Step::Page, OutboxAction::FindPage { to, after })
            });
        }
        let (nonce, content) = (part.nonce, Arc::clone(&part.content));
        let not_after = self.doubt.map(|since| since + REPEAT_WITHIN);
        Some((Step::Post, OutboxAction::Post { to, part: number, nonce, content, not_after }))
    }

    /// The request was not started: the room may not start it before `until`.
    pub(super) fn postponed(&mut self, now: Timestamp, until: Option<Timestamp>) {
        if matches!(self.stage, DeliveryProgress::UnderWay(_)) {
            self.stage = DeliveryProgress::Waiting { since: now, until };
            self.has_failed |= until.is_none();
        }
    }

    /// Time went back by this much. The nonce of what is in doubt counts as forgotten.
    pub(super) fn move_back(&mut self, by: Duration) {
        if let Some(since) = &mut self.doubt {
            *since = aged(*since, by);
            self.message.at = *since;
        }
    }

    /// Tries what was given up once more.
    pub(super) fn begin_anew(&mut self) {
        (self.stage, self.wait) = (DeliveryProgress::Ready, Duration::ZERO);
    }

    /// Ends every wait.
    pub(super) fn try_again(&mut self) {
        if matches!(self.stage, DeliveryProgress::Waiting { .. }) {
            self.stage = DeliveryProgress::Ready;
        }
    }

    /// Whether the request under way asks for the newest message.
    pub(super) fn asks_newest(&self) -> bool {
        self.stage == DeliveryProgress::UnderWay(Step::Newest)
    }

    /// The request that is under way ended. A result that does not belong to it is ignored.
    pub(super) fn done(
        &mut self,
        now: Timestamp,
        result: OutboxResult<'_>,
        facts: ChatFacts,
    ) -> Change {
        let DeliveryProgress::UnderWay(step) = self.stage else {
            return Change::None;
        };
        self.stage = DeliveryProgress::Ready;
        match (step, result) {
            (_, OutboxResult::Failed { kind, certainty, retry_after, began }) => {
                self.fail(now, kind, retry_after.unwrap_or_default());
                self.note_doubt(step, certainty, began)
            }
            (Step::Newest, OutboxResult::Newest(newest)) => self.newest_is(now, newest),
            (Step::Page, OutboxResult::Page { messages, full }) => {
                self.look_through(now, messages, full, facts)
            }
            (Step::Post, OutboxResult::Posted { id }) => self.posted(now, id),
            (Step::Wake, OutboxResult::WakeOutcome) => {
                self.stage = DeliveryProgress::Arrived;
                Change::Eager
            }
            _ => Change::None,
        }
    }

    /// A part is in the channel. That it is and that the next one is tried are stored together.
    fn posted(&mut self, now: Timestamp, id: MessageId) -> Change {
        self.message.posted(id, now);
        (self.doubt, self.wait, self.may_be_hidden) = (None, Duration::ZERO, false);
        self.prepare();
        Change::Eager
    }

    /// Notes that the next part is about to be tried, where it is known behind what it stands.
    fn prepare(&mut self) {
        if self.message.next().is_some() && self.message.behind().is_some() {
            self.message.tried = true;
        }
        self.close_guide();
    }

    fn close_guide(&mut self) {
        if self.message.next().is_none() && self.kind() == OutboxKind::Guide {
            self.stage = DeliveryProgress::Arrived;
        }
    }

    fn newest_is(&mut self, now: Timestamp, newest: Option<MessageId>) -> Change {
        self.may_be_hidden = false;
        let Some(after) = self.message.behind() else {
            self.message.after = Some(newest.unwrap_or(MessageId::new(0)));
            self.message.at = now;
            self.wait = Duration::ZERO;
            self.prepare();
            return Change::Eager;
        };
        if newest.is_some_and(|newest| newest <= after) {
            return self.not_found(now);
        }
        // An account that may not read a history is shown an empty one. Where something newer is shown
        // now, it was hidden when the page was read.
        self.fail(now, ErrorKind::NoAnswer, Duration::ZERO);
        Change::None
    }

    /// Looks for the next part in a page of the history. What was looked through stays behind the
    /// message, so that a long history is read in as many attempts as it takes.
    fn look_through(
        &mut self,
        now: Timestamp,
        messages: &[ChatMessage],
        full: bool,
        facts: ChatFacts,
    ) -> Change {
        let (Some(after), Some(moderator)) = (self.message.behind(), facts.moderator) else {
            self.fail(now, ErrorKind::NoAnswer, Duration::ZERO);
            return Change::None;
        };
        let Some(part) = self.message.next() else {
            return Change::None;
        };
        let is_part = |message: &&ChatMessage| {
            message.author == moderator && is_post(message, (&part.content, 0), &part.nonce)
        };
        let new = || messages.iter().filter(|message| message.id > after);
        if let Some(id) = new().filter(is_part).map(|message| message.id).min() {
            return self.posted(now, id);
        }
        let Some(last) = new().map(|message| message.id).max() else {
            // Only a discussion's own channel was empty for certain, unless something was said there since.
            let begins = self.kind() == OutboxKind::Guide && after == MessageId::new(0);
            let was_empty = begins && facts.newest.is_none();
            if was_empty || facts.reads_history == Some(true) {
                return self.not_found(now);
            }
            self.may_be_hidden = true;
            return Change::None;
        };
        self.message.after = Some(last);
        self.wait = Duration::ZERO;
        if full { Change::Lazy } else { self.not_found(now) }
    }

    /// The next part is not in the channel: it is posted. While an earlier attempt may still arrive,
    /// the doubt begins anew, since its nonce is then used now at the earliest.
    fn not_found(&mut self, now: Timestamp) -> Change {
        self.doubt = (now < self.lands_until).then_some(now);
        self.message.at = now;
        Change::Lazy
    }

    /// The message waits, longer each time.
    fn fail(&mut self, now: Timestamp, kind: ErrorKind, at_least: Duration) {
        self.has_failed = true;
        self.wait = self.wait.saturating_mul(2).clamp(RETRY, RETRY_MAX);
        self.stage = if matches!(kind, ErrorKind::Gone | ErrorKind::Invalid) {
            DeliveryProgress::Hopeless
        } else {
            DeliveryProgress::Waiting { since: now, until: Some(now + at_least.max(self.wait)) }
        };
    }

    /// Notes whether the failed request may have posted the part.
    fn note_doubt(&mut self, step: Step, certainty: Certainty, began: Timestamp) -> Change {
        if step != Step::Post {
            return Change::None;
        }
        if certainty == Certainty::Unknown {
            self.lands_until = self.lands_until.max(began + LANDS_WITHIN);
        }
        match (self.doubt, certainty) {
            (Some(_), _) => return Change::None,
            (None, Certainty::Unknown) => (self.doubt, self.message.at) = (Some(began), began),
            (None, Certainty::NotDone) => self.message.tried = false,
        }
        Change::Lazy
    }

    pub(super) fn due(&self) -> Option<Timestamp> {
        match self.stage {
            DeliveryProgress::Waiting { until, .. } => until,
            DeliveryProgress::Ready
            | DeliveryProgress::UnderWay(_)
            | DeliveryProgress::Hopeless
            | DeliveryProgress::Arrived => None,
        }
    }

    pub(super) fn is_hopeless(&self) -> bool {
        self.stage == DeliveryProgress::Hopeless
    }

    /// Whether a part of it is missing, and it waits after an attempt or was given up.
    pub(super) fn is_undelivered(&self) -> bool {
        let rests =
            matches!(self.stage, DeliveryProgress::Hopeless | DeliveryProgress::Waiting { .. });
        rests && self.message.next().is_some()
    }

    pub(super) fn has_arrived(&self) -> bool {
        self.stage == DeliveryProgress::Arrived
    }

    pub(super) fn first_attempt(&self) -> FirstAttempt {
        match (self.has_failed, self.message.next()) {
            (false, _) => FirstAttempt::Pending,
            (true, None) => FirstAttempt::Posted,
            (true, Some(_)) => FirstAttempt::Queued,
        }
    }
}
