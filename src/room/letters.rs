//! What a discussion still has to post: its guide and its result.

use std::sync::Arc;

use dirigent_core::{AgentKey, Cause, Input, Refusal, Timestamp, WakeCause};

use super::Room;
use super::action::{Account, Action, Outcome, Purpose, Started};
use super::claims::Lane;
use super::commit::Stamp;
use super::context::Context;
use super::offer::{Ask, Doorway};
use super::outbox::{ChatFacts, FirstAttempt, OutboxAction, OutboxResult};
use super::reads::PAGE;
use crate::runtime::admission::ClaimKind;
use crate::{Discussion, HistoryRequest, Letter, LetterKind, Mentions, Post};

impl Room {
    /// Records a channel that was just created, with the guide that is to be posted in it.
    pub(crate) fn create(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        input: &Input,
        terms: Option<Discussion>,
    ) -> Result<Stamp, Refusal> {
        self.reach(now);
        self.submit(cx, now, input)?;
        if let Some(terms) = terms {
            let guide = Letter::new(LetterKind::Guide, self.id, self.id, now, &terms.guide);
            self.active().outbox.write(guide);
            self.discussion = Some(Arc::new(terms));
        }
        self.commit.change_for_good();
        self.settle(cx, now);
        Ok(self.commit.newest())
    }

    /// The initiator concludes its discussion.
    pub(crate) fn conclude(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        by: AgentKey,
        summary: Option<&str>,
    ) -> Result<Stamp, Refusal> {
        self.reach(now);
        if self.discussion.is_some() {
            self.active().summary = summary.map(str::to_owned);
        }
        let answer = self.submit(cx, now, &Input::Conclude { by });
        if let Some(active) = &mut self.active {
            active.summary = None;
        }
        answer?;
        self.commit.change_for_good();
        self.settle(cx, now);
        Ok(self.commit.newest())
    }

    /// A discussion that was archived owes its callback channel a result, with or without a summary.
    pub(super) fn owe_result(&mut self, cx: &Context<'_>, now: Timestamp, cause: Cause) {
        let Some(terms) = self.discussion.clone() else {
            return;
        };
        let summary = self.active().summary.take();
        let text = if cause == Cause::Overdue {
            cx.settings.overdue_result(self.id)
        } else {
            cx.settings.result(self.id, summary.as_deref())
        };
        let result = Letter::new(LetterKind::Result, self.id, terms.callback, now, &text);
        self.active().outbox.write(result);
    }

    /// Whether the first attempt at this message is over, or it is in its channel.
    pub(crate) fn is_attempted(&self, kind: LetterKind) -> bool {
        self.first_attempt(kind) != FirstAttempt::Pending
    }

    /// Whether the message is in its channel, as far as this process knows. In a room that was taken over
    /// there is nothing to be seen.
    pub(crate) fn is_posted(&self, kind: LetterKind) -> bool {
        !self.commit.is_taken_over() && self.first_attempt(kind) == FirstAttempt::Posted
    }

    fn first_attempt(&self, kind: LetterKind) -> FirstAttempt {
        let active = self.active.as_ref();
        active.map_or(FirstAttempt::Posted, |active| active.outbox.first_attempt(kind))
    }

    /// How many messages of the discussion have not arrived.
    pub(crate) fn unposted(&self) -> usize {
        self.active.as_ref().map_or(0, |active| active.outbox.messages().count())
    }

    /// What changed in the outbox is to be stored.
    pub(super) fn count_outbox(&mut self) {
        let Some(active) = &mut self.active else {
            return;
        };
        let version = active.outbox.version();
        if active.outbox_seen != version {
            active.outbox_seen = version;
            self.commit.change();
        }
    }

    /// A message has arrived. The guide's arrival wakes the first speaker, in the same commit.
    pub(super) fn take_arrived(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let arrived = self.active.as_mut().and_then(|active| active.outbox.take_arrived());
        if arrived == Some(LetterKind::Guide) {
            let wake = Input::Wake { first: None, cause: WakeCause::Guide };
            // Refused where the discussion is over already.
            let _ = self.submit(cx, now, &wake);
        }
        arrived.is_some()
    }

    pub(super) fn offer_outbox(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let next = self.active.as_mut()?.outbox.next(now);
        self.count_outbox();
        let (kind, action) = next?;
        let (to, action, not_after) = match action {
            OutboxAction::WakeRoom { to } => return Some(self.wake_callback(cx, now, kind, to)),
            OutboxAction::NewestIn { to } => {
                let request = HistoryRequest { channel: to, after: None, limit: 1 };
                (to, Action::History { account: Account::Moderator, request }, None)
            }
            OutboxAction::FindPage { to, after } => {
                let request = HistoryRequest { channel: to, after: Some(after), limit: PAGE };
                (to, Action::History { account: Account::Moderator, request }, None)
            }
            OutboxAction::Post { to, nonce, content, not_after, .. } => {
                let mentions = Mentions::Nobody;
                let post = Post { channel: to, content, nonce, mentions, reply_to: None };
                (to, Action::Post { account: Account::Moderator, post }, not_after)
            }
        };
        let is_post = matches!(action, Action::Post { .. });
        let kind_of_claim = if is_post { ClaimKind::Post } else { ClaimKind::Read };
        let (lane, account) = (Lane::Outbox(kind), Account::Moderator);
        let ask = Ask { lane, target: to, account, agent: None, kind: kind_of_claim };
        let room = self.id;
        let active = self.active();
        match active.admit(room, now, door, &ask) {
            Ok(claim) => {
                let started = active.start(cx, now, claim, Purpose::Outbox(kind), action);
                Some(Started { not_after, ..started })
            }
            Err(until) => {
                active.outbox.postponed(now, kind, until);
                None
            }
        }
    }

    fn wake_callback(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        kind: LetterKind,
        room: crate::ChannelId,
    ) -> Started {
        let first = self.machine.view().initiator();
        let time_out = now + cx.settings.call_deadline;
        let (purpose, action) = (Purpose::Outbox(kind), Action::WakeRoom { room, first });
        self.active().start_freely(purpose, action, time_out)
    }

    pub(super) fn outbox_done(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        kind: LetterKind,
        outcome: Outcome,
    ) {
        let (own, known) = (self.id, self.machine.view().newest());
        let active = self.active();
        let to = active.outbox.messages().find(|message| message.kind == kind).map(|m| m.to);
        let reads_history = to.and_then(|to| cx.chat.reads_history(to));
        let newest = known.filter(|_| to == Some(own));
        let facts = ChatFacts { moderator: cx.directory.moderator(), reads_history, newest };
        let newest = active.outbox.asks_newest(kind);
        if matches!(outcome, Outcome::RoomWoken) {
            return active.outbox.done(now, kind, OutboxResult::Woken, facts);
        }
        if let Outcome::Posted(id) = outcome {
            return active.outbox.done(now, kind, OutboxResult::Posted { id }, facts);
        }
        let page;
        let result = match outcome.into_page() {
            Some(Ok(messages)) if newest => {
                OutboxResult::Newest(messages.iter().map(|message| message.id).max())
            }
            Some(Ok(messages)) => {
                page = messages;
                OutboxResult::Page { messages: &page, full: page.len() >= usize::from(PAGE) }
            }
            Some(Err(failure)) => OutboxResult::Failed {
                kind: failure.kind,
                certainty: failure.certainty,
                retry_after: failure.retry_after,
                began: failure.began,
            },
            None => return,
        };
        active.outbox.done(now, kind, result, facts);
    }
}
