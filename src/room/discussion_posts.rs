//! What a discussion still has to post: its guide and its result.

use dirigent_core::{AgentKey, Cause, MessageId, Timestamp};

use super::action::{Account, Action, Outcome, Purpose};
use super::attempts::REPEAT_WITHIN;
use super::commit::CommitState;
use super::context::Context;
use super::doorway::Doorway;
use super::outbox::{ChatFacts, FirstAttempt, OutboxAction, OutboxMachine, OutboxResult};
use super::reads::PAGE;
use super::requests::Requests;
use crate::ChannelId;
use crate::admission::{Claim, ClaimKind, Wait};
use crate::ports::discord::{HistoryRequest, Post};
use crate::record::discussion::Discussion;
use crate::record::outbox::{OutboxKind, OutboxMessage};

/// The outbox of a discussion, and what of it is stored.
#[derive(Debug, Default)]
pub(super) struct DiscussionPosts {
    pub(super) outbox: OutboxMachine,
    /// The version of the outbox that the commit stamp takes into account.
    counted: u64,
    /// The version that the commit under way stores.
    sent: u64,
    /// The result of a discussion that is being concluded.
    pub(super) result: Option<String>,
}

impl DiscussionPosts {
    pub(super) fn restored(outbox: OutboxMachine) -> Self {
        Self { outbox, ..Self::default() }
    }

    /// The guide of a discussion that was opened is to be posted in its channel.
    pub(super) fn owe_guide(
        &mut self,
        cx: &Context<'_>,
        channel: ChannelId,
        now: Timestamp,
        terms: &Discussion,
    ) {
        let text = (&*terms.guide, cx.chat.longest_message());
        let guide = OutboxMessage::new(OutboxKind::Guide, channel, channel, now, text);
        self.outbox.write(guide);
    }

    /// A discussion that was archived owes its callback channel a result, with or without a summary.
    pub(super) fn owe_result(
        &mut self,
        cx: &Context<'_>,
        channel: ChannelId,
        now: Timestamp,
        terms: &Discussion,
        cause: Cause,
    ) {
        let text = if cause == Cause::Overdue {
            cx.settings.texts.overdue_result(channel)
        } else {
            self.result.take().unwrap_or_else(|| cx.settings.texts.result(channel, None))
        };
        let text = (&*text, cx.chat.longest_message());
        let result = OutboxMessage::new(OutboxKind::Result, channel, terms.callback, now, text);
        self.outbox.write(result);
    }

    pub(super) fn first_attempt(&self, kind: OutboxKind) -> FirstAttempt {
        self.outbox.first_attempt(kind)
    }

    /// What changed in the outbox is to be stored.
    pub(super) fn count(&mut self, commit: &mut CommitState) {
        let version = self.outbox.version();
        if self.counted != version {
            self.counted = version;
            commit.change();
        }
    }

    /// A commit takes the outbox as it is.
    pub(super) fn commit_begun(&mut self) {
        self.sent = self.outbox.version();
    }

    /// That commit succeeded.
    pub(super) fn committed(&mut self) {
        self.outbox.stored(self.sent);
    }

    /// Starts the next request of the outbox. `callback`: who speaks first in the callback channel.
    pub(super) fn offer(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        commit: &mut CommitState,
        requests: &mut Requests,
        callback: Option<AgentKey>,
        door: &mut Doorway<'_>,
    ) -> bool {
        let next = self.outbox.next(now);
        self.count(commit);
        let Some((kind, action)) = next else {
            return false;
        };
        let account = Account::Moderator;
        let (to, action, not_after) = match action {
            OutboxAction::WakeRoom { to } => {
                let action = Action::WakeRoom { room: to, first: callback };
                let time_out = now + cx.settings.time_limits.call;
                requests.start_freely(door, Purpose::Outbox(kind), action, time_out);
                return true;
            }
            OutboxAction::NewestIn { to } => {
                let request = HistoryRequest { channel: to, after: None, limit: 1 };
                (to, Action::History { account, request }, None)
            }
            OutboxAction::FindPage { to, after } => {
                let request = HistoryRequest { channel: to, after: Some(after), limit: PAGE };
                (to, Action::History { account, request }, None)
            }
            OutboxAction::Post { to, nonce, content, not_after, .. } => {
                let post = Post::new(to, content, nonce);
                (to, Action::Post { account, post }, not_after.or(Some(now + REPEAT_WITHIN)))
            }
        };
        let is_post = matches!(action, Action::Post { .. });
        let of = if is_post { ClaimKind::Post } else { ClaimKind::Read };
        // What the outbox has to post, nothing else takes the place of.
        let claim = Claim { target: to, has_waited: true, ..Claim::new(room, account, of) };
        match door.admission.admit(now, claim) {
            Ok(admitted) => {
                requests.start(cx, now, door, admitted, Purpose::Outbox(kind), action);
                if let Some(at) = not_after {
                    door.not_after(at);
                }
                true
            }
            Err(wait) => {
                let until = if let Wait::Until(until) = wait { Some(until) } else { None };
                self.outbox.postponed(now, kind, until);
                false
            }
        }
    }

    /// A request of the outbox ended. `newest`: the newest message of this channel that is known.
    pub(super) fn done(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        newest: Option<MessageId>,
        kind: OutboxKind,
        outcome: Outcome,
    ) {
        let to = self.outbox.messages().find(|message| message.kind == kind).map(|m| m.to);
        let reads_history = to.and_then(|to| cx.chat.reads_history(to));
        let newest = newest.filter(|_| to == Some(room));
        let facts = ChatFacts { moderator: cx.directory.moderator(), reads_history, newest };
        let asks_newest = self.outbox.asks_newest(kind);
        let page;
        if matches!(outcome, Outcome::RoomWoken) {
            return self.outbox.done(now, kind, OutboxResult::WakeOutcome, facts);
        }
        if let Outcome::Posted(id) = outcome {
            return self.outbox.done(now, kind, OutboxResult::Posted { id }, facts);
        }
        let result = match outcome.into_page() {
            Some(Ok(messages)) if asks_newest => {
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
        self.outbox.done(now, kind, result, facts);
    }
}
