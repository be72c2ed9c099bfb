//! What came of an action, and what follows from it.

use std::sync::Arc;

use dirigent_core::{Effect, MessageId, Settlement, Ticket, Timestamp, TurnId};

use super::Room;
use super::action::{Account, ActionId, ConsultAnswer, Outcome, Purpose};
use super::attempts::{Failure, Trouble};
use super::context::Context;
use super::offer::answer_parts;
use super::reply::{AfterFailure, ReplyDelivery, SearchFacts};
use super::voice::{Progress, VoiceItem};
use crate::runtime::admission::ClaimKind;
use crate::{AuthorKind, Certainty, ChatKind, ChatMessage, StoredChannel, Woken};

impl Room {
    /// An action ended. One that is not under way any more is ignored.
    pub(crate) fn done(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        id: ActionId,
        outcome: Outcome,
    ) {
        self.reach(now);
        let Some(active) = &mut self.active else {
            return;
        };
        let Some(at) = active.under_way.iter().position(|(known, ..)| *known == id) else {
            return;
        };
        let (_, purpose, request) = active.under_way.swap_remove(at);
        if let Some((account, kind)) = request {
            self.note_health(cx, now, (account, kind == ClaimKind::Post), &outcome);
        }
        if !self.commit.is_taken_over() {
            self.take_outcome(cx, now, (id, purpose), outcome);
        }
        if self.commit.is_taken_over() {
            self.abandon();
        }
        self.settle(cx, now);
    }

    /// What the request says about the chat as such.
    fn note_health(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        (account, is_post): (Account, bool),
        outcome: &Outcome,
    ) {
        let chat = &mut self.active().chat;
        let failure = if let Outcome::Failed(failure) = outcome { Some(failure) } else { None };
        match failure.map(|failure| (failure.trouble(), failure.kind)) {
            Some((Trouble::Away, kind)) => chat.failed(account, now, kind),
            Some((Trouble::Limited(wait), _)) => {
                // An answer, but none after which anything may hurry.
                chat.answered(account, is_post);
                if is_post {
                    chat.limited(account, now, now + wait);
                }
            }
            Some((Trouble::Definite, _)) | None => {
                if chat.answered(account, is_post) {
                    self.hurry();
                    self.tell_chat(cx, now);
                }
            }
        }
    }

    fn take_outcome(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        (id, purpose): (ActionId, Purpose),
        outcome: Outcome,
    ) {
        match purpose {
            Purpose::Commit | Purpose::ReadBack => self.stored(now, outcome),
            Purpose::Voice => self.spoken(cx, now, id, outcome),
            Purpose::FindPart => self.part_searched(cx, now, id, outcome),
            Purpose::Wake => self.woken(cx, now, id, outcome),
            Purpose::Delete(message) => self.deleted_trigger(cx, now, message, outcome),
            Purpose::Read => {
                if let Some(read) = self.active().reads.end(id) {
                    self.take_read(cx, now, read, outcome);
                }
            }
            Purpose::Probe => {}
            Purpose::Call { agent, run } => {
                self.active().calls.returned(id);
                if let Outcome::Answered { answer, took_all } = outcome {
                    self.answered(cx, now, (agent, run), answer, took_all);
                }
            }
            Purpose::Consult(ticket) => self.consulted(cx, now, ticket, outcome),
            Purpose::Outbox(kind) => self.outbox_done(cx, now, kind, outcome),
        }
    }

    /// A commit, or a read after a conflict, ended.
    fn stored(&mut self, now: Timestamp, outcome: Outcome) {
        if let Outcome::Committed(revision) = outcome {
            self.commit.committed(revision);
            if let Some(active) = &mut self.active {
                active.outbox.stored(active.outbox_sent);
                active.chat.stored();
            }
        } else if let Outcome::Record(found) = outcome {
            let found = found.map(|stored| {
                let StoredChannel { revision, record } = *stored;
                (revision, record.writer)
            });
            self.commit.read_back(found);
        } else if let Some(failure) = outcome.into_failure() {
            self.commit.failed(now, &failure);
            self.active().chat.store_failed(failure.began.min(now));
        } else {
            self.commit.conflict();
        }
    }

    /// A post of the voice lane ended.
    fn spoken(&mut self, cx: &Context<'_>, now: Timestamp, id: ActionId, outcome: Outcome) {
        let active = self.active();
        let (head, own) = (active.voice.head(), active.voice.end(id));
        let Some(result) = outcome.into_posted() else {
            return;
        };
        if !own {
            return self.lingering_ended(cx, id, result.ok());
        }
        // The answer may be lost, and the event tells that the post arrived all the same.
        let failure = match (result, active.voice.take_arrived()) {
            (Ok(message), _) | (Err(_), Some(message)) => {
                return self.head_posted(cx, now, message);
            }
            (Err(failure), None) => failure,
        };
        match head {
            Some(VoiceItem::Reply) => self.part_failed(cx, now, &failure),
            Some(VoiceItem::Answer) => self.answer_failed(cx, now, &failure),
            Some(VoiceItem::Effect(effect, _)) => self.effect_failed(cx, now, effect, &failure),
            None => {}
        }
    }

    /// What the head of the voice lane says is in the channel.
    pub(super) fn head_posted(&mut self, cx: &Context<'_>, now: Timestamp, message: MessageId) {
        self.active().voice.has_landed();
        match self.active().voice.head() {
            Some(VoiceItem::Reply) => self.part_posted(cx, now, message),
            Some(VoiceItem::Answer) => self.answer_posted(cx, now, message),
            Some(VoiceItem::Effect(effect, _)) => self.effect_posted(cx, now, effect, message),
            None => {}
        }
    }

    pub(super) fn note_own(&mut self, message: MessageId) {
        if self.keeps_turns() {
            self.marks.note(message);
        }
    }

    fn effect_posted(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        effect: Effect,
        message: MessageId,
    ) {
        self.note_own(message);
        if let Effect::Trigger { ticket, agent, turn, .. } = effect {
            self.trigger_done(cx, now, ticket, agent, turn, Some(message));
        } else {
            self.head_done(cx, now, effect, Settlement::Done { message: Some(message) });
        }
    }

    fn effect_failed(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        effect: Effect,
        failure: &Failure,
    ) {
        let voice = &mut self.active().voice;
        voice.attempts().back_off(now, failure.retry_after);
        if failure.certainty == Certainty::Unknown {
            voice.doubt();
        }
        let is_notice = matches!(effect, Effect::Notice { .. });
        let is_over = is_notice && voice.is_overdue(now);
        if is_over || failure.is_final() {
            tracing::warn!(channel = %self.id, kind = ?failure.kind, "a post of the moderator failed");
            self.head_done(cx, now, effect, failure.settlement(now));
        }
    }

    /// The head of the voice lane is settled. After a reminder a hosted initiator is called, whatever
    /// came of the post.
    fn head_done(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        effect: Effect,
        settlement: Settlement,
    ) {
        self.active().voice.pop();
        let Some(ticket) = effect.ticket() else {
            return;
        };
        self.settled(cx, now, ticket, settlement);
        if let Effect::Reminder { initiator, .. } = effect {
            if cx.directory.is_hosted(initiator) {
                self.start_run(cx, now, ticket, initiator, None, 0);
            }
        }
    }

    /// What the head of the voice lane asks for cannot be posted at all.
    pub(super) fn refuse_head(&mut self, cx: &Context<'_>, now: Timestamp) {
        let head = self.active().voice.head();
        if let Some(VoiceItem::Effect(effect, _)) = head {
            self.head_done(cx, now, effect, Settlement::Failed { retry_at: None });
        } else {
            self.active().voice.pop();
        }
        self.settle(cx, now);
    }

    /// The agent of the trigger at the head of the voice lane knows that its turn has come.
    pub(super) fn trigger_done(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        ticket: Ticket,
        agent: dirigent_core::AgentKey,
        turn: TurnId,
        message: Option<MessageId>,
    ) {
        let active = self.active();
        // What leaves now finds those who hear.
        active.trigger_again = false;
        active.called = message.is_none().then_some(turn);
        active.voice.pop();
        active.inbox.give_pending(agent, turn);
        self.settled(cx, now, ticket, Settlement::Done { message });
    }

    /// The host's waker answered.
    fn woken(&mut self, cx: &Context<'_>, now: Timestamp, id: ActionId, outcome: Outcome) {
        let active = self.active();
        let head = active.voice.head();
        if !active.voice.end(id) {
            return;
        }
        let Some(VoiceItem::Effect(effect, _)) = head else {
            return;
        };
        let Effect::Trigger { ticket, agent, turn, .. } = effect else {
            return;
        };
        match outcome.into_woken() {
            Some(Ok(Woken::PostTrigger)) => active.voice.advance(Progress::Post),
            Some(Ok(_)) => self.trigger_done(cx, now, ticket, agent, turn, None),
            Some(Err(failure)) => self.head_done(cx, now, effect, failure.settlement(now)),
            None => {}
        }
    }

    fn part_posted(&mut self, cx: &Context<'_>, now: Timestamp, message: MessageId) {
        let reply = self.active().reply.as_mut();
        let Some(content) = reply.and_then(|reply| reply.posted(message)) else {
            return;
        };
        self.remember_part(cx, message, content);
        self.part_known(cx, now);
    }

    /// A part more is known to be in the channel: that is stored before the next part leaves.
    fn part_known(&mut self, cx: &Context<'_>, now: Timestamp) {
        if self.active().reply.as_ref().is_some_and(ReplyDelivery::is_whole) {
            return self.finish_reply(cx, now);
        }
        self.commit.change();
        let stamp = self.commit.newest();
        if let Some(reply) = &mut self.active().reply {
            reply.needs(stamp);
        }
    }

    fn remember_part(&mut self, cx: &Context<'_>, id: MessageId, content: Arc<str>) {
        let agent = self.active().reply.as_ref().map(|reply| reply.stored().agent);
        let Some(author) = agent.and_then(|agent| cx.directory.user(agent)) else {
            return;
        };
        self.remember_own(cx, own_message(self.id, id, author, ChatKind::Default, content));
    }

    fn part_failed(&mut self, cx: &Context<'_>, now: Timestamp, failure: &Failure) {
        let Some(reply) = &mut self.active().reply else {
            return;
        };
        let was = reply.stored().waiting_since;
        let after = reply.failed(now, failure);
        let waits = reply.stored().waiting_since;
        if after == AfterFailure::GiveUp {
            tracing::warn!(channel = %self.id, kind = ?failure.kind, "a reply was not posted");
            return self.give_reply_up(cx, now);
        }
        if was != waits {
            self.commit.change();
        }
    }

    /// The history was read in search of the parts of a reply.
    fn part_searched(&mut self, cx: &Context<'_>, now: Timestamp, id: ActionId, outcome: Outcome) {
        if !self.active().voice.end(id) {
            return self.lingering_ended(cx, id, None);
        }
        match outcome.into_page() {
            Some(Ok(page)) => self.part_looked_for(cx, now, page),
            Some(Err(failure)) if failure.trouble() == Trouble::Definite => {
                self.part_unreadable(cx, now);
            }
            Some(Err(failure)) => self.part_failed(cx, now, &failure),
            None => {}
        }
    }

    fn part_looked_for(&mut self, cx: &Context<'_>, now: Timestamp, page: Vec<ChatMessage>) {
        let (channel, newest) = (self.id, self.machine.view().newest());
        let Some(reply) = &mut self.active().reply else {
            return;
        };
        let account = cx.directory.user(reply.stored().agent);
        let was = reply.stored().waiting_since;
        let facts = SearchFacts { chat: cx.chat, channel, account, newest };
        let Some(found) = reply.searched(now, page, &facts) else {
            return self.part_unreadable(cx, now);
        };
        let waits = reply.stored().waiting_since;
        if !found.is_empty() {
            self.active().voice.has_landed();
            for (id, part) in found {
                self.remember_part(cx, id, part);
            }
            self.part_known(cx, now);
        } else if was != waits {
            self.commit.change();
        }
    }

    fn part_unreadable(&mut self, cx: &Context<'_>, now: Timestamp) {
        let unreadable = self.active().reply.as_mut().map(|reply| reply.unreadable(now));
        if unreadable == Some(AfterFailure::GiveUp) {
            tracing::warn!(channel = %self.id, "it cannot be found out whether a reply was posted");
            self.give_reply_up(cx, now);
        }
    }

    fn deleted_trigger(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        message: MessageId,
        outcome: Outcome,
    ) {
        let cleanup = &mut self.active().cleanup;
        let mut settlement = Settlement::Done { message: None };
        if let Some(failure) = outcome.into_failure() {
            if !cleanup.failed(message, now, &failure) {
                return;
            }
            settlement = failure.settlement(now);
        }
        if let Some(ticket) = cleanup.done(message) {
            self.settled(cx, now, ticket, settlement);
        }
    }

    fn consulted(&mut self, cx: &Context<'_>, now: Timestamp, ticket: Ticket, outcome: Outcome) {
        let active = self.active();
        let Some(consult) = active.consult.as_mut().filter(|c| c.ticket == ticket) else {
            return;
        };
        consult.under_way = None;
        let Outcome::Consulted(answer) = outcome else {
            return;
        };
        match answer {
            ConsultAnswer::Say(text) => {
                consult.parts = answer_parts(cx, &text);
                if consult.parts.is_empty() {
                    self.consult_over(cx, now, Settlement::Done { message: None });
                } else {
                    active.voice.push_front(VoiceItem::Answer);
                }
            }
            ConsultAnswer::Pass => {
                self.consult_over(cx, now, Settlement::Done { message: None });
            }
            ConsultAnswer::Failed => self.consult_failed(cx, now, ticket),
        }
    }

    /// The messages are handed to the agent, as if there were no orchestrator.
    pub(super) fn consult_failed(&mut self, cx: &Context<'_>, now: Timestamp, ticket: Ticket) {
        let is_it = self.active().consult.as_ref().is_some_and(|c| c.ticket == ticket);
        if is_it {
            self.consult_over(cx, now, Settlement::Failed { retry_at: None });
        }
    }

    fn consult_over(&mut self, cx: &Context<'_>, now: Timestamp, settlement: Settlement) {
        let active = self.active();
        active.voice.withdraw(VoiceItem::Answer);
        if let Some(consult) = active.consult.take() {
            self.settled(cx, now, consult.ticket, settlement);
        }
    }

    fn answer_posted(&mut self, cx: &Context<'_>, now: Timestamp, message: MessageId) {
        let Some(consult) = &mut self.active().consult else {
            return;
        };
        let content = consult.parts.get(consult.posted).cloned().unwrap_or_default();
        consult.answer.get_or_insert(message);
        consult.posted += 1;
        let is_over = consult.posted >= consult.parts.len();
        let answer = consult.answer;
        self.active().voice.attempts().hurry();
        if let Some(author) = cx.directory.moderator() {
            let own = own_message(self.id, message, author, ChatKind::Reply, content);
            self.remember_own(cx, own);
        }
        if is_over {
            self.consult_over(cx, now, Settlement::Done { message: answer });
        }
    }

    fn answer_failed(&mut self, cx: &Context<'_>, now: Timestamp, failure: &Failure) {
        let active = self.active();
        active.voice.attempts().back_off(now, failure.retry_after);
        if !failure.is_final() {
            return;
        }
        tracing::warn!(channel = %self.id, kind = ?failure.kind, "an answer was not posted");
        let answer = self.active().consult.as_ref().and_then(|consult| consult.answer);
        let settlement = match answer {
            Some(_) => Settlement::Done { message: answer },
            None => failure.settlement(now),
        };
        self.consult_over(cx, now, settlement);
    }
}

/// A message of ours, as an event would tell of it.
fn own_message(
    channel: crate::ChannelId,
    id: MessageId,
    author: crate::UserId,
    kind: ChatKind,
    content: Arc<str>,
) -> ChatMessage {
    let author_kind = AuthorKind::Bot;
    let (has_attachments, nonce) = (false, None);
    ChatMessage { id, channel, author, author_kind, kind, content, has_attachments, nonce }
}
