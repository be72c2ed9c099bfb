//! What may start now: every lane is asked, in the order in which they matter.

use std::sync::Arc;

use dirigent_core::{AgentKey, Effect, MessageId, Ticket, Timestamp, TurnId};

use super::Room;
use super::action::{
    Account, Action, ActionId, CallRequest, ConsultRequest, Purpose, Started, WakeRequest,
};
use super::active::{Active, Request};
use super::attempts::LIMIT_MAX;
use super::claims::Lane;
use super::commit::CommitTerms;
use super::commit::buffers::{BufferPool, Buffers};
use super::context::Context;
use super::hosted::in_order;
use super::reads::Read;
use super::reply::{ReplyStep, messages_of};
use super::voice::{Progress, VoiceItem};
use super::words::Words;
use crate::lifecycle::Stage;
use crate::runtime::admission::{Admission, Claim, ClaimKind, Verdict, Wakeup};
use crate::{
    ChannelId, ChatMessage, Commit, GapFrom, HistoryRequest, Mentions, Nonce, Post, UserId,
};

/// What all rooms share while one of them is asked: who decides whether an action may start, the rooms that may try
/// again because of it, and memory for commits.
pub(crate) struct Doorway<'a> {
    pub(crate) admission: &'a mut Admission,
    pub(crate) wakeups: &'a mut Vec<Wakeup>,
    pub(crate) buffers: &'a mut BufferPool,
}

/// A request that wants to start.
pub(super) struct Ask {
    pub(super) lane: Lane,
    pub(super) target: ChannelId,
    pub(super) account: Account,
    pub(super) agent: Option<AgentKey>,
    pub(super) kind: ClaimKind,
}

impl Active {
    /// Whether the request may start now, and under which name.
    pub(super) fn admit(
        &mut self,
        room: ChannelId,
        now: Timestamp,
        door: &mut Doorway<'_>,
        ask: &Ask,
    ) -> Result<Claim, Option<Timestamp>> {
        let id = match self.claims.ask(ask.lane, ask.account, ask.target) {
            Some(id) => id,
            None => self.next_id(),
        };
        let Ask { lane, target, account, agent, kind } = *ask;
        let claim = Claim { room, id, target, account, agent, kind };
        match door.admission.admit(now, &claim) {
            Verdict::Go => {
                self.claims.forget(lane);
                Ok(claim)
            }
            Verdict::Wait { until } => {
                self.claims.wait(lane, account, target, id);
                Err(until)
            }
        }
    }

    pub(super) fn start(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        claim: Claim,
        purpose: Purpose,
        action: Action,
    ) -> Started {
        let request = match claim.kind {
            ClaimKind::Post | ClaimKind::Read => Some((claim.account, claim.kind)),
            ClaimKind::Call | ClaimKind::Consult => None,
        };
        self.note_under_way(claim.id, purpose, request);
        let time_out = request.map(|_| now + cx.settings.attempt_timeout);
        Started { id: claim.id, action, claim: Some(claim), time_out, not_after: None }
    }

    /// Starts what needs no admission.
    pub(super) fn start_freely(
        &mut self,
        purpose: Purpose,
        action: Action,
        time_out: Timestamp,
    ) -> Started {
        let id = self.next_id();
        self.note_under_way(id, purpose, None);
        Started { id, action, claim: None, time_out: Some(time_out), not_after: None }
    }

    fn note_under_way(&mut self, id: ActionId, purpose: Purpose, request: Option<Request>) {
        // Hardly ever more than two at a time.
        self.under_way.reserve_exact(1);
        self.under_way.push((id, purpose, request));
    }

    /// What the agent of a turn is given with its call: what it missed, and what people said to it.
    fn words_for_call(
        &mut self,
        (agent, turn): (AgentKey, TurnId),
        own: Option<UserId>,
        heard_before: Option<MessageId>,
        (handed, is_all): (Vec<Arc<ChatMessage>>, bool),
    ) -> Vec<Arc<ChatMessage>> {
        self.give_pending(agent, turn, is_all);
        let mut words = self.inbox.missed(agent, turn, own, heard_before);
        if !handed.is_empty() {
            words.extend(handed);
            in_order(&mut words);
        }
        words
    }

    /// A read by the moderator.
    fn read(
        &mut self,
        cx: &Context<'_>,
        (room, now): (ChannelId, Timestamp),
        door: &mut Doorway<'_>,
        (lane, purpose): (Lane, Purpose),
        action: Action,
    ) -> Option<Started> {
        let (account, kind) = (Account::Moderator, ClaimKind::Read);
        let ask = Ask { lane, target: room, account, agent: None, kind };
        let claim = self.admit(room, now, door, &ask).ok()?;
        Some(self.start(cx, now, claim, purpose, action))
    }
}

impl Room {
    /// Memory that no commit of this room needs goes to other rooms.
    pub(crate) fn give_back_buffers(&mut self, pool: &mut BufferPool) {
        self.commit.take_spare().into_iter().for_each(|spare| pool.put(spare));
    }

    /// The next action that may start now. Asked by the driver's loop only, until there is none.
    pub(crate) fn next_action(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        if !self.may_act() {
            return None;
        }
        self.reach(now);
        self.withdraw_claims(now, door);
        let started = self.offer(cx, now, door);
        if let (None, Some(active)) = (&started, &mut self.active) {
            active.claims.pass_on();
            self.withdraw_claims(now, door);
        }
        started
    }

    /// What is not waited for any more keeps no other request waiting.
    fn withdraw_claims(&mut self, now: Timestamp, door: &mut Doorway<'_>) {
        if let Some(active) = self.active.as_mut().filter(|active| active.claims.has_withdrawn()) {
            for id in active.claims.withdrawn() {
                door.wakeups.extend(door.admission.withdraw(now, self.id, id));
            }
        }
    }

    fn offer(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        if let Some(started) = self.offer_commit(cx, now, door) {
            return Some(started);
        }
        if self.commit.is_taken_over() || cx.stage >= Stage::Ending || self.active.is_none() {
            return None;
        }
        let lanes = [
            Self::offer_voice,
            Self::offer_call,
            Self::offer_consult,
            Self::offer_reads,
            Self::offer_outbox,
            Self::offer_deletion,
            Self::offer_probe,
            // What was found to be over on the way is to be stored.
            Self::offer_commit,
        ];
        for lane in lanes {
            let started = lane(self, cx, now, door);
            if started.is_some() {
                return started;
            }
        }
        None
    }

    fn offer_commit(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        if self.commit.is_clean() {
            return None;
        }
        let time_out = now + cx.settings.work_deadline;
        if self.commit.begin_read_back(now) {
            let active = self.active();
            return Some(active.start_freely(Purpose::ReadBack, Action::ReadBack, time_out));
        }
        let CommitTerms { expected, durability, writer, replaces_damaged, mut buffers } =
            self.commit.begin(now, cx.history_max, door.buffers)?;
        self.write_record(writer, Arc::make_mut(&mut buffers.record));
        let Buffers { record, transitions } = buffers.share();
        self.commit.sent(durability, buffers);
        let channel = self.id;
        let active = self.active();
        active.outbox_sent = active.outbox.version();
        let commit =
            Commit { channel, expected, record, durability, transitions, replaces_damaged };
        let action = Action::Commit(commit);
        Some(active.start_freely(Purpose::Commit, action, time_out))
    }

    fn offer_voice(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let active = self.active.as_ref()?;
        if active.voice.is_under_way() {
            return None;
        }
        match active.voice.head()? {
            VoiceItem::Reply => self.offer_reply(cx, now, door),
            VoiceItem::Answer => self.offer_answer(cx, now, door),
            VoiceItem::Effect(effect, stamp) => {
                let is_trigger = matches!(effect, Effect::Trigger { .. });
                let is_reminder = matches!(effect, Effect::Reminder { .. });
                let is_held = is_reminder && self.machine.view().pause().is_some();
                let is_blocked = is_held
                    || is_trigger
                        && (cx.stage >= Stage::Stopping
                            || self.marks.is_holding(now)
                            || active.voice.is_busy());
                let is_due = active.voice.is_due(now) && self.commit.is_committed(stamp);
                if is_blocked || !is_due || !self.machine.wants(&effect) {
                    return None;
                }
                self.offer_effect(cx, now, door, effect)
            }
        }
    }

    fn offer_effect(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
        effect: Effect,
    ) -> Option<Started> {
        if let Effect::Trigger { ticket, agent, turn, attempt } = effect {
            if cx.directory.is_hosted(agent) {
                // It starts with an event, once what was said of late is in memory.
                return None;
            }
            let progress = self.active().voice.progress();
            if let Progress::Wake(deferral) = progress {
                if cx.has_waker {
                    return self.offer_wake(cx, now, (agent, turn, attempt), deferral);
                }
                self.active().voice.advance(Progress::Post);
            }
            if self.active().voice.progress() == Progress::Deferral {
                return None;
            }
            if !cx.settings.notify {
                self.trigger_done(cx, now, ticket, agent, turn, None);
                self.settle(cx, now);
                return self.next_action(cx, now, door);
            }
        }
        let Some(words) = self.words_for(cx, &effect) else {
            self.refuse_head(cx, now);
            return self.next_action(cx, now, door);
        };
        let ticket = effect.ticket()?;
        let debts = self.machine.pending();
        let debt = debts.iter().find(|debt| debt.effect.ticket() == Some(ticket));
        let nonce = self.effect_nonce(ticket, debt.map_or(now, |debt| debt.since));
        let Words { place, content, mentions, paced, reply_to } = words;
        let content = content.into();
        let post = Post { channel: place, content, nonce, mentions, reply_to };
        self.offer_post(cx, now, door, Account::Moderator, post, paced)
    }

    /// The nonce of what the machine has asked for at this time.
    pub(super) fn effect_nonce(&self, ticket: Ticket, since: Timestamp) -> Nonce {
        Nonce::from_parts(self.id.get(), since.as_millis(), ticket.get())
    }

    /// A post at the head of the voice lane, if it is admitted.
    fn offer_post(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
        account: Account,
        post: Post,
        agent: Option<AgentKey>,
    ) -> Option<Started> {
        let (room, target) = (self.id, post.channel);
        let active = self.active();
        let ask = Ask { lane: Lane::Voice, target, account, agent, kind: ClaimKind::Post };
        match active.admit(room, now, door, &ask) {
            Ok(claim) => {
                active.voice.begin(claim.id, now);
                active.voice.expect(post.nonce);
                let action = Action::Post { account, post };
                Some(active.start(cx, now, claim, Purpose::Voice, action))
            }
            Err(until) => {
                self.voice_waits(cx, now, account, until);
                None
            }
        }
    }

    /// The head of the voice lane waits for its pace, a rate limit, or the chat.
    fn voice_waits(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        account: Account,
        until: Option<Timestamp>,
    ) {
        if until.is_some_and(|until| until.since(now) > LIMIT_MAX) {
            return self.give_head_up(cx, now);
        }
        let active = self.active();
        if let Some(until) = until {
            active.voice.attempts().wait_until(until);
            if let Some(reply) = &mut active.reply {
                reply.wait_until(until);
            }
            active.chat.limited(account, now, until);
        } else {
            active.chat.failed(account, now, crate::ErrorKind::NoAnswer);
        }
        self.settle(cx, now);
    }

    /// The head of the voice lane would wait too long for its pace.
    fn give_head_up(&mut self, cx: &Context<'_>, now: Timestamp) {
        tracing::warn!(channel = %self.id, "a post would wait too long for its pace");
        self.active().claims.withdraw(Lane::Voice);
        match self.active().voice.head() {
            Some(VoiceItem::Reply) => self.give_reply_up(cx, now),
            _ => self.refuse_head(cx, now),
        }
        self.settle(cx, now);
    }

    fn offer_wake(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        (agent, turn, attempt): (AgentKey, TurnId, u8),
        deferral: Option<crate::DeferralKey>,
    ) -> Option<Started> {
        if !self.has_context(now) {
            return None;
        }
        let newest = self.machine.view().newest();
        let own = cx.directory.user(agent);
        let active = self.active.as_mut()?;
        let handed = active.pending_words(cx, now, agent, turn)?;
        let heard_before = self.marks.heard_before();
        let missed = active.words_for_call((agent, turn), own, heard_before, handed);
        let request = WakeRequest { agent, turn, attempt, newest, missed, deferral };
        let action = Action::Wake(Box::new(request));
        let time_out = now + cx.settings.work_deadline;
        let started = active.start_freely(Purpose::Wake, action, time_out);
        active.voice.begin(started.id, now);
        Some(started)
    }

    fn offer_reply(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let is_blocked = !self.reply_may_go() || self.marks.is_holding(now);
        let is_busy = self.active().voice.is_busy();
        let id = self.id;
        let active = self.active.as_mut()?;
        let reply = active.reply.as_mut()?;
        if is_blocked || is_busy || !self.commit.is_committed(reply.stamp()) {
            return None;
        }
        let agent = reply.stored().agent;
        match reply.next_step(now)? {
            ReplyStep::Read { after, limit } => {
                let request = HistoryRequest { channel: id, after, limit };
                let action = Action::History { account: Account::Moderator, request };
                let lane = (Lane::Voice, Purpose::FindPart);
                let started = active.read(cx, (id, now), door, lane, action)?;
                active.voice.begin(started.id, now);
                Some(started)
            }
            ReplyStep::Post { content, nonce, not_after } => {
                let mentions = Mentions::Nobody;
                let post = Post { channel: id, content, nonce, mentions, reply_to: None };
                let started = self.offer_post(cx, now, door, Account::Agent(agent), post, None)?;
                Some(Started { not_after, ..started })
            }
        }
    }

    fn offer_answer(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let rests = self.machine.view().pause().is_some();
        let active = self.active.as_mut()?;
        let Some(consult) = &active.consult else {
            active.voice.pop();
            return self.next_action(cx, now, door);
        };
        if rests {
            return None;
        }
        let is_due = active.voice.is_due(now);
        let content = consult.parts.get(consult.posted).filter(|_| is_due)?.clone();
        let part = u64::try_from(consult.posted).unwrap_or(u64::MAX);
        // The first part has the effect's own name; the others are told apart by what is beyond it.
        let number = consult.ticket.get() & 0xff_ffff | part << 24;
        let nonce = Nonce::from_parts(self.id.get(), consult.since.as_millis(), number);
        let reply_to = (part == 0).then_some(consult.last);
        let mentions = Mentions::Nobody;
        let post = Post { channel: self.id, content, nonce, mentions, reply_to };
        self.offer_post(cx, now, door, Account::Moderator, post, None)
    }

    fn offer_call(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let call = self.active.as_ref()?.calls.current()?;
        let is_ready = call.under_way.is_none() && self.commit.is_committed(call.stamp);
        if !is_ready || cx.stage >= Stage::Stopping || self.marks.is_holding(now) {
            return None;
        }
        // A hold lets go on what runs; this agent was not called yet.
        let rests = self.machine.view().pause().is_some();
        if rests || !self.has_context(now) {
            return None;
        }
        let (room, newest) = (self.id, self.machine.view().newest());
        let paused = self.machine.view().phase() == dirigent_core::PhaseKind::Waiting;
        let active = self.active.as_mut()?;
        let (agent, turn, run, attempt) = {
            let call = active.calls.current()?;
            (call.agent, call.turn, call.run, call.attempt)
        };
        let number = turn.unwrap_or_default();
        let handed = active.pending_words(cx, now, agent, number)?;
        let (account, kind) = (Account::Agent(agent), ClaimKind::Call);
        let ask = Ask { lane: Lane::Call, target: room, account, agent: None, kind };
        let claim = active.admit(room, now, door, &ask).ok()?;
        active.calls.begin(claim.id, now);
        let own = cx.directory.user(agent);
        let heard_before = self.marks.heard_before();
        let missed = active.words_for_call((agent, number), own, heard_before, handed);
        let late = active.inbox.take_late(agent);
        let request = CallRequest { agent, turn, run, attempt, newest, missed, late, paused };
        let action = Action::Call(request);
        Some(active.start(cx, now, claim, Purpose::Call { agent, run }, action))
    }

    fn offer_consult(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let room = self.id;
        let active = self.active.as_mut()?;
        let consult = active.consult.as_ref()?;
        let is_asked = consult.under_way.is_some() || !consult.parts.is_empty();
        if is_asked || !self.commit.is_committed(consult.stamp) || cx.stage >= Stage::Stopping {
            return None;
        }
        let (ticket, agent, turn) = (consult.ticket, consult.agent, consult.turn);
        let (first, last) = (consult.first, consult.last);
        if !cx.has_orchestrator {
            self.consult_failed(cx, now, ticket);
            return self.next_action(cx, now, door);
        }
        let (messages, _) = active.said_between(cx, first, last)?;
        let (account, kind) = (Account::Moderator, ClaimKind::Consult);
        let ask = Ask { lane: Lane::Consult, target: room, account, agent: None, kind };
        let claim = active.admit(room, now, door, &ask).ok()?;
        active.reads.handed();
        if let Some(consult) = &mut active.consult {
            consult.under_way = Some(claim.id);
        }
        let request = ConsultRequest { agent, turn, messages };
        let action = Action::Consult(Box::new(request));
        Some(active.start(cx, now, claim, Purpose::Consult(ticket), action))
    }

    fn offer_deletion(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let room = self.id;
        let active = self.active.as_mut()?;
        let commit = &self.commit;
        let message = active.cleanup.ready(now, |stamp| commit.is_committed(stamp))?;
        let (lane, action) = ((Lane::Cleanup, Purpose::Delete(message)), Action::Delete(message));
        let started = active.read(cx, (room, now), door, lane, action)?;
        active.cleanup.begin(message, started.id, now);
        Some(started)
    }

    fn offer_reads(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let (id, gap_from) = (self.id, self.marks.gap_from().and_then(GapFrom::message));
        let active = self.active.as_mut()?;
        for read in active.reads.due(now, &self.commit) {
            let action = read.action(id, gap_from, cx.settings);
            let lane = (Lane::Read(read.kind()), Purpose::Read);
            if let Some(started) = active.read(cx, (id, now), door, lane, action) {
                if read == Read::Gap {
                    self.marks.begin_read();
                }
                active.reads.begin(read, started.id);
                return Some(started);
            }
        }
        None
    }

    /// Asks whether a chat that is away answers again, where nothing else asks.
    fn offer_probe(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> Option<Started> {
        let channel = self.id;
        let active = self.active.as_mut()?;
        let account = active.chat.probe(now)?;
        let request = HistoryRequest { channel, after: None, limit: 1 };
        let kind = ClaimKind::Read;
        let ask = Ask { lane: Lane::Probe, target: channel, account, agent: None, kind };
        active.chat.probed(now);
        let claim = active.admit(channel, now, door, &ask).ok()?;
        let action = Action::History { account, request };
        Some(active.start(cx, now, claim, Purpose::Probe, action))
    }
}

/// The parts of an orchestrator's answer.
pub(super) fn answer_parts(cx: &Context<'_>, text: &str) -> Vec<Arc<str>> {
    messages_of(&cx.settings.silence.deliverable(text).into(), cx.settings).0.collect()
}
