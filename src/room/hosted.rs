//! The turn of a hosted agent: its run starts where its trigger stands, and its answer is delivered.

use std::sync::Arc;

use dirigent_core::{
    AgentKey, Author, Effect, Input, MessageId, Outcome, Pause, PhaseKind, RunId, Settlement, Tail,
    Ticket, Timestamp, TurnId,
};

use super::action::{ActionId, AgentAnswer, Signal};
use super::calls::{Call, hosted_run};
use super::claims::Lane;
use super::context::Context;
use super::reply::{ReplyDelivery, WithdrawnReply, compose, messages_of};
use super::voice::{Progress, VoiceItem};
use super::{Active, Room};
use crate::lifecycle::Stage;
use crate::{ChatKind, ChatMessage, ReplyEnd};

impl Room {
    /// The head of the voice lane leaves if the machine does not want it any more.
    pub(super) fn withdraw_head(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let Some(active) = &self.active else {
            return false;
        };
        let Some(VoiceItem::Effect(effect, _)) = active.voice.head() else {
            return false;
        };
        let is_trigger = matches!(effect, Effect::Trigger { .. });
        let is_under_way = active.voice.is_under_way();
        // After a stop the acknowledgement stands behind the trigger, and must not wait until its post has ended.
        let is_awaited = is_under_way && !(is_trigger && self.machine.view().pause().is_some());
        if is_awaited || self.machine.wants(&effect) {
            return false;
        }
        // What is read first may tell that an earlier process posted it.
        let is_unseen = effect.ticket().is_some_and(|ticket| active.cleanup.is_unseen(ticket));
        if is_unseen && self.marks.is_holding(now) {
            return false;
        }
        let active = self.active();
        let arrived = if is_under_way { active.voice.take_arrived() } else { None };
        if let Some(message) = arrived {
            self.head_posted(cx, now, message);
            return true;
        }
        // Its agent may run because of it: then it is removed once it is seen.
        if let Some((nonce, post)) = active.voice.doubtful_post().filter(|_| is_trigger) {
            active.cleanup.look_for(nonce, post);
            self.backfill();
        }
        let active = self.active();
        active.voice.pop();
        active.claims.withdraw(Lane::Voice);
        if let Some(ticket) = effect.ticket() {
            self.settled(cx, now, ticket, Settlement::Dropped);
        }
        true
    }

    /// Takes the first step of the trigger at the head of the voice lane, where that is an instant one: the
    /// run of a hosted agent is permitted, a run that was put off is told.
    pub(super) fn start_head(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let Some((ticket, agent, turn, attempt, stamp)) = self.trigger_at_head() else {
            return false;
        };
        let is_blocked = cx.stage >= Stage::Stopping || self.marks.is_holding(now);
        if is_blocked {
            return false;
        }
        if cx.directory.is_hosted(agent) {
            if !self.has_context(now) || !self.has_words(cx, now, (agent, turn)) {
                return false;
            }
            self.active().voice.pop();
            if !self.start_run(cx, now, ticket, agent, Some(turn), attempt) {
                self.settled(cx, now, ticket, Settlement::Dropped);
            }
            return true;
        }
        let is_committed = self.commit.is_committed(stamp);
        let active = self.active();
        if !is_committed || active.voice.progress() != Progress::Deferral {
            return false;
        }
        let key = active.deferrals.take(agent);
        active.voice.advance(Progress::Wake(key));
        if let Some(key) = key {
            active.signals.push_back(Signal::TellDeferred { key, turn });
        }
        true
    }

    fn trigger_at_head(&self) -> Option<(Ticket, AgentKey, TurnId, u8, super::commit::Stamp)> {
        let active = self.active.as_ref()?;
        let head = active.voice.head().filter(|_| !active.voice.is_busy())?;
        let VoiceItem::Effect(Effect::Trigger { ticket, agent, turn, attempt }, stamp) = head
        else {
            return None;
        };
        Some((ticket, agent, turn, attempt, stamp))
    }

    /// The run that was put off was told, or its caller waited no longer.
    pub(crate) fn deferral_told(&mut self, cx: &Context<'_>, now: Timestamp, told: bool) {
        self.reach(now);
        if let Some((ticket, agent, turn, ..)) = self.trigger_at_head().filter(|_| told) {
            self.trigger_done(cx, now, ticket, agent, turn, None);
        }
        self.settle(cx, now);
    }

    /// Whether what was said of late is in memory. If not, it is read, and a call waits for it for a while.
    pub(super) fn has_context(&mut self, now: Timestamp) -> bool {
        if !self.forgot {
            return true;
        }
        let reads = &mut self.active().reads;
        if reads.skip_context {
            return true;
        }
        reads.want_context(now);
        false
    }

    /// Whether what people said, and this turn is to be handed, is in memory. If not, it is read, and the run
    /// waits for it for a while.
    fn has_words(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        (agent, turn): (AgentKey, TurnId),
    ) -> bool {
        let Some(active) = self.active.as_mut() else {
            return true;
        };
        let is_nothing = active.inbox.pending_for(agent, turn).is_none();
        is_nothing || active.pending_words(cx, now, agent, turn).is_some()
    }

    /// Asks for the run of a hosted agent. Where it is permitted the agent is called once that is stored, and
    /// its trigger is settled then. Returns whether it is.
    pub(super) fn start_run(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        ticket: Ticket,
        agent: AgentKey,
        turn: Option<TurnId>,
        attempt: u8,
    ) -> bool {
        let run = hosted_run(ticket);
        let gate = Input::Gate { agent: Some(agent), run: Some(run), latest: None };
        let answer = self.submit(cx, now, &gate);
        let verdict = answer.ok().and_then(dirigent_core::Answer::verdict);
        if !verdict.is_some_and(|verdict| verdict.is_allowed()) {
            return false;
        }
        let older = self.active().calls.current().map(|older| (older.agent, older.run));
        if let Some((agent, run)) = older {
            self.cancel_call(now, agent, Some(run));
        }
        let stamp = self.commit.newest();
        let trigger = turn.map(|_| ticket);
        let call = Call { agent, turn, run, attempt, stamp, trigger, under_way: None };
        self.active().calls.permit(call);
        true
    }

    /// The agent is called: the machine owes its trigger no more. That is told as of then, before anything that
    /// is due since.
    pub(super) fn settle_begun(&mut self, cx: &Context<'_>, now: Timestamp) {
        let begun = self.active.as_mut().and_then(|active| active.calls.take_begun());
        if let Some((ticket, since)) = begun {
            self.settled(cx, since.min(now), ticket, Settlement::Done { message: None });
        }
    }

    /// The turn of an agent that was still to be called is over: its trigger is owed no more.
    pub(super) fn settle_never_begun(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let dropped = self.active.as_mut().and_then(|active| active.calls.take_never_begun());
        if let Some(ticket) = dropped {
            self.settled(cx, now, ticket, Settlement::Dropped);
        }
        dropped.is_some()
    }

    /// A hosted agent returned.
    pub(super) fn answered(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        (agent, run): (AgentKey, RunId),
        answer: AgentAnswer,
        took_all: bool,
    ) {
        let active = self.active();
        let Some(call) = active.calls.end(run) else {
            // Its turn was taken away.
            if let AgentAnswer::Say { words, .. } = answer {
                active.inbox.keep_late(agent, &words);
            }
            return;
        };
        if !took_all {
            active.inbox.set_given(false);
            active.inbox.took_not_all(agent);
        }
        let outcome = match answer {
            AgentAnswer::Say { words, end } => {
                return self.begin_reply(cx, now, &call, &words, end);
            }
            AgentAnswer::Pass => Outcome::Pass,
            AgentAnswer::Failed => Outcome::Failed,
        };
        let _ = self.submit(cx, now, &Input::RunEnded { agent, run: Some(run), outcome });
    }

    /// The agent's words become a reply that is stored and then delivered.
    fn begin_reply(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        call: &Call,
        words: &Arc<str>,
        end: ReplyEnd,
    ) {
        let Call { agent, turn, run, .. } = *call;
        let of = (agent, turn.unwrap_or_default(), run);
        let newest = self.machine.view().newest();
        let (messages, rest) = messages_of(words, cx.settings);
        let outgoing = compose(self.id, of, messages, end, (newest, now));
        if outgoing.parts.is_empty() {
            if !rest.is_empty() {
                self.active().inbox.keep_late(agent, rest);
            }
            let outcome = Outcome::Pass;
            let _ = self.submit(cx, now, &Input::RunEnded { agent, run: Some(run), outcome });
            return;
        }
        if self.submit(cx, now, &Input::Replied { agent, run: Some(run) }).is_err() {
            self.active().inbox.keep_late(agent, words);
            return;
        }
        self.commit.change();
        let stamp = self.commit.newest();
        let active = self.active();
        active.reply = Some(ReplyDelivery::new(outgoing, rest, stamp));
        active.voice.push(VoiceItem::Reply);
    }

    /// Whether the run of the reply still holds the floor.
    fn reply_is_current(&self, reply: &ReplyDelivery) -> bool {
        let (view, stored) = (self.machine.view(), reply.stored());
        let holds = view.speaker().or(view.permit()) == Some(stored.agent);
        holds
            && view.run() == Some(stored.run)
            && !matches!(view.pause(), Some(Pause::Stopped | Pause::Finished))
    }

    /// Whether parts of the reply may be posted now: its turn does not rest and the channel is not held.
    pub(super) fn reply_may_go(&self) -> bool {
        let view = self.machine.view();
        view.pause().is_none() && view.phase() != PhaseKind::Waiting
    }

    /// A reply whose turn was taken away, or that cannot be delivered, goes back to its agent.
    pub(super) fn withdraw_reply(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let Some(reply) = self.active.as_ref().and_then(|active| active.reply.as_ref()) else {
            return self.end_lost_reply(cx, now);
        };
        if !self.reply_is_current(reply) {
            self.hand_reply_back(cx);
            return true;
        }
        let agent = reply.stored().agent;
        let is_over = self.reply_given_up_at().is_some_and(|at| at <= now);
        let is_lost = !cx.directory.is_hosted(agent);
        if (is_lost || is_over) && self.reply_may_go() {
            self.give_reply_up(cx, now);
            return true;
        }
        false
    }

    /// A reply that the machine waits for and nothing here delivers is given up: nothing else would end it.
    fn end_lost_reply(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let lost = self.machine.view().pending_reply().filter(|reply| !reply.rests);
        lost.is_some_and(|lost| {
            let undelivered =
                Input::Undelivered { agent: lost.agent, run: lost.run, posted: false };
            self.submit(cx, now, &undelivered).is_ok()
        })
    }

    /// The time that a hold took does not count as time away.
    pub(super) fn resume_reply(&mut self, now: Timestamp) {
        let reply = self.active.as_mut().and_then(|active| active.reply.as_mut());
        if reply.is_some_and(|reply| reply.resume(now)) {
            self.commit.change();
        }
    }

    /// What of the reply is not in the channel becomes the agent's late answer. While a part is on its way,
    /// it is not known yet what that is.
    fn hand_reply_back(&mut self, cx: &Context<'_>) -> Option<ReplyDelivery> {
        let active = self.active();
        let reply = active.reply.take()?;
        let is_head = active.voice.head() == Some(VoiceItem::Reply);
        let under_way = active.voice.under_way().filter(|_| is_head);
        let arrived = if is_head { active.voice.take_arrived() } else { None };
        active.voice.withdraw(VoiceItem::Reply);
        active.claims.withdraw(Lane::Voice);
        if let Some(request) = under_way {
            active.withdrawn = Some(WithdrawnReply::new(request, &reply, arrived));
        } else {
            let notice = &cx.settings.cut_notice;
            active.inbox.keep_late_reply(reply.stored(), reply.rest(), notice);
        }
        self.commit.change();
        Some(reply)
    }

    /// A request of the voice lane ended whose head was withdrawn while it was under way. That it arrived is
    /// a fact all the same.
    pub(super) fn lingering_ended(
        &mut self,
        cx: &Context<'_>,
        id: ActionId,
        arrived: Option<MessageId>,
    ) {
        let stamp = self.commit.newest();
        if let Some(message) = arrived {
            self.note_own(message);
            self.active().cleanup.landed(id, message, stamp);
        }
        let active = self.active();
        if let Some(withdrawn) = active.withdrawn.take_if(|withdrawn| withdrawn.is_request(id)) {
            let (reply, rest) = withdrawn.ended(arrived);
            active.inbox.keep_late_reply(&reply, &rest, &cx.settings.cut_notice);
        }
    }

    /// The reply cannot be delivered: its turn is over, and its agent is handed the rest back.
    pub(super) fn give_reply_up(&mut self, cx: &Context<'_>, now: Timestamp) {
        let Some(reply) = self.hand_reply_back(cx) else {
            return;
        };
        let (agent, run) = (reply.stored().agent, Some(reply.stored().run));
        let posted = reply.is_posted();
        let _ = self.submit(cx, now, &Input::Undelivered { agent, run, posted });
    }

    /// Every part is in the channel: that confirms the turn.
    pub(super) fn finish_reply(&mut self, cx: &Context<'_>, now: Timestamp) {
        let active = self.active();
        let Some(reply) = active.reply.take_if(|reply| reply.is_whole()) else {
            return;
        };
        active.voice.withdraw(VoiceItem::Reply);
        let stored = reply.stored();
        let (agent, run) = (stored.agent, Some(stored.run));
        let mut messages = std::mem::take(&mut active.receipt);
        messages.clear();
        messages.extend(reply.posted_messages());
        if !reply.rest().is_empty() {
            active.inbox.keep_late(agent, reply.rest());
        }
        // The receipt confirms; nothing is compared any more.
        let tail = Tail::EMPTY;
        let outcome = match stored.end {
            ReplyEnd::Finished => Outcome::Spoke { tail },
            ReplyEnd::Unfinished => Outcome::Unfinished { tail },
            ReplyEnd::AwaitsHuman => Outcome::AwaitsHuman { tail },
        };
        let receipt = Input::Receipt { agent, run, messages };
        let _ = self.submit(cx, now, &receipt);
        let _ = self.submit(cx, now, &Input::RunEnded { agent, run, outcome });
        if let Input::Receipt { messages, .. } = receipt {
            self.active().receipt = messages;
        }
        self.commit.change();
    }

    /// People's messages go to the agent that runs, as far as they are in memory; the others are read.
    pub(super) fn inject_pending(&mut self, cx: &Context<'_>) {
        let Some(held) = self.active.as_ref().and_then(|active| active.calls.inject) else {
            return;
        };
        let view = self.machine.view();
        let runs = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting);
        let run = view.run().filter(|_| runs);
        let active = self.active();
        let is_its = |call: &&Call| call.agent == held.agent && Some(call.run) == run;
        let Some(id) = active.calls.current().filter(is_its).and_then(|call| call.under_way) else {
            active.calls.inject = None;
            return;
        };
        let Some((messages, is_all)) = active.said_between(cx, held.first, held.last) else {
            return;
        };
        active.calls.inject = None;
        active.reads.handed();
        active.signals.push_back(Signal::Inject { id, agent: held.agent, messages, is_all });
    }

    /// Whether the running agent was reached with people's messages; what does not reach it, or what it
    /// does not take, is handed to the next one.
    pub(crate) fn injected(&mut self, agent: AgentKey, handed: &[MessageId], all: bool) {
        if let Some(active) = &mut self.active {
            active.inbox.set_given(all);
            for message in handed {
                active.inbox.took(agent, *message);
            }
        }
    }
}

impl Active {
    /// Whether what cannot be read for a call is done without after a while. Not while the chat is away, unless
    /// the run is permitted already: then its deadline runs.
    pub(super) fn gives_reads_up(&self) -> bool {
        !self.chat.is_out() || self.calls.is_waiting()
    }

    /// What people said that this turn is handed, and whether that is all of it. `None` while a call waits
    /// until it is read.
    pub(super) fn pending_words(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        agent: AgentKey,
        turn: TurnId,
    ) -> Option<(Vec<Arc<ChatMessage>>, bool)> {
        let Some(held) = self.inbox.pending_for(agent, turn) else {
            return Some((Vec::new(), true));
        };
        if let Some(said) = self.said_between(cx, held.first, held.last) {
            return Some(said);
        }
        let until = self.reads.pending_until(now, agent, turn);
        let is_meant = |message: &ChatMessage| is_said_by_person(cx, message);
        let is_over = until <= now && self.gives_reads_up();
        is_over.then(|| (self.inbox.between(held.first, held.last, is_meant), false))
    }

    /// The agent of this turn is called with what is pending. What could not be read is kept for the next turn.
    pub(super) fn give_pending(&mut self, agent: AgentKey, turn: TurnId, is_all: bool) {
        self.reads.handed();
        if is_all {
            self.inbox.give_pending(agent, turn);
        }
    }

    /// What people said in this range, oldest first, and whether that is all of it. `None` while a part of
    /// it is read that is not in memory.
    pub(super) fn said_between(
        &mut self,
        cx: &Context<'_>,
        first: MessageId,
        last: MessageId,
    ) -> Option<(Vec<Arc<ChatMessage>>, bool)> {
        let is_meant = |message: &ChatMessage| is_said_by_person(cx, message);
        let mut said = self.inbox.between(first, last, is_meant);
        if self.inbox.reaches_back_to(first) {
            return Some((said, true));
        }
        let Some((fetched, is_all)) = self.reads.fetched.as_ref().and_then(|f| f.of(first, last))
        else {
            self.reads.fetch(first, last);
            return None;
        };
        said.extend(fetched.filter(|message| is_meant(message)).cloned());
        in_order(&mut said);
        Some((said, is_all))
    }
}

/// Sorts messages, and drops what stands among them twice.
pub(super) fn in_order(messages: &mut Vec<Arc<ChatMessage>>) {
    messages.sort_unstable_by_key(|message| message.id);
    messages.dedup_by_key(|message| message.id);
}

fn is_said_by_person(cx: &Context<'_>, message: &ChatMessage) -> bool {
    message.kind != ChatKind::System && cx.directory.author(message) == Author::Human
}
