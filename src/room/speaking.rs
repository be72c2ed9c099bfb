//! Posts the machine's effects, at the head of the voice lane: a trigger, a notice, a reminder.

use dirigent_core::{AgentKey, Effect, MessageId, Settlement, Ticket, TurnId};

use super::action::{Account, Action, ActionId, Outcome, Purpose, Signal, WakeRequest};
use super::active::Active;
use super::attempts::{Failure, LIMIT_MAX};
use super::commit::Stamp;
use super::doorway::{Doorway, Offer};
use super::step::Step;
use super::voice::{PostItem, Progress};
use super::words::{Words, words_for};
use crate::admission::{Claim, ClaimKind, Wait};
use crate::ports::discord::Post;
use crate::ports::waker::WakeOutcome;
use crate::record::discussion::Discussion;
use crate::settings::limits::WORK_TIME;
use crate::text::split::fits;
use crate::values::deferral_key::DeferralKey;
use crate::values::error::Certainty;
use crate::values::stage::DriverStage;

#[derive(Clone, Copy)]
struct Trigger {
    ticket: Ticket,
    agent: AgentKey,
    turn: TurnId,
    attempt: u8,
    stamp: Stamp,
}

/// Posts what the turn machine requested. For a hosted agent, starts the agent's run instead of posting a trigger.
impl Step<'_> {
    fn trigger_at_head(&self) -> Option<Trigger> {
        let head = self.lanes.voice.head().filter(|_| !self.lanes.voice.is_busy())?;
        let PostItem::Effect(Effect::Trigger { ticket, agent, turn, attempt }, stamp) = head else {
            return None;
        };
        Some(Trigger { ticket, agent, turn, attempt, stamp })
    }

    /// Removes the head of the voice lane if the machine no longer needs it.
    pub(super) fn withdraw_head(&mut self) -> bool {
        let Some(PostItem::Effect(effect, _)) = self.lanes.voice.head() else {
            return false;
        };
        let machine = &self.turns.machine;
        let is_trigger = matches!(effect, Effect::Trigger { .. });
        let is_under_way = self.lanes.voice.is_under_way();
        // After a stop the acknowledgement is behind the trigger, and must not wait until its post has ended.
        let is_awaited = is_under_way && !(is_trigger && machine.view().pause().is_some());
        if is_awaited || machine.wants(&effect) {
            return false;
        }
        // The next page may show that an earlier process posted it.
        let restored = &self.turns.restored;
        let is_unseen = effect.ticket().is_some_and(|ticket| restored.is_unseen(ticket));
        if is_unseen && self.marks.is_holding(self.now) {
            return false;
        }
        let arrived = if is_under_way { self.lanes.voice.take_arrived() } else { None };
        if let Some(message) = arrived {
            self.lanes.voice.has_landed();
            self.effect_posted(effect, message);
            return true;
        }
        // A trigger in the channel may start its agent at any time, so it is deleted once it is seen.
        if let Some((nonce, post)) = self.lanes.voice.doubtful_post().filter(|_| is_trigger) {
            self.lanes.cleanup.get_or_insert_default().look_for(nonce, post);
            self.lanes.reads.want_backfill(self.turns, self.marks);
        }
        self.lanes.voice.pop();
        if let Some(ticket) = effect.ticket() {
            self.turns.settle(self.cx, self.now, ticket, Settlement::Dropped);
        }
        true
    }

    /// Takes the first step of the trigger at the head of the voice lane, if that step is instant. For example, the run
    /// of a hosted agent is permitted, or a deferral reports its turn.
    pub(super) fn start_head(&mut self) -> bool {
        let Some(Trigger { ticket, agent, turn, attempt, stamp }) = self.trigger_at_head() else {
            return false;
        };
        // A driver that stops begins no run that it could not finish.
        if self.cx.stage >= DriverStage::Stopping || self.marks.is_holding(self.now) {
            return false;
        }
        if self.cx.directory.is_hosted(agent) {
            if !self.is_ready(agent, turn) {
                return false;
            }
            self.lanes.voice.pop();
            // The run was refused, so nothing else settles the trigger.
            if !self.start_run(ticket, agent, Some(turn), attempt) {
                self.turns.settle(self.cx, self.now, ticket, Settlement::Dropped);
            }
            return true;
        }
        // Its trigger is always a message, because such a bot hears nothing else.
        if self.cx.directory.observed(agent).is_some() {
            return false;
        }
        let is_committed = self.turns.commit.is_committed(stamp);
        // The turn must be stored first, because the agent may ask at the gate at once.
        if !is_committed || self.lanes.voice.progress() != Progress::Deferral {
            return false;
        }
        let key = self.lanes.deferrals.as_mut().and_then(|deferrals| deferrals.take(agent));
        self.lanes.voice.advance(Progress::Wake(key));
        if let Some(key) = key {
            self.lanes.signals.push_back(Signal::TellDeferred { key, turn });
        }
        true
    }

    pub(super) fn deferral_told(&mut self) {
        if let Some(Trigger { ticket, agent, turn, .. }) = self.trigger_at_head() {
            self.trigger_done(ticket, agent, turn, None);
        }
    }

    /// Records that the agent of the trigger at the head of the voice lane knows that its turn has come.
    fn trigger_done(
        &mut self,
        ticket: Ticket,
        agent: AgentKey,
        turn: TurnId,
        message: Option<MessageId>,
    ) {
        // A trigger that leaves now reaches agents that hear.
        self.lanes.summons.again = false;
        self.lanes.summons.called = message.is_none().then_some(turn);
        self.lanes.voice.pop();
        self.lanes.inbox.woken(agent, turn);
        self.triggered(agent);
        self.turns.settle(self.cx, self.now, ticket, Settlement::Done { message });
    }

    /// Posts the head, or lets the waker call its agent, once the state is stored and as long as the machine needs it.
    pub(super) fn offer_effect(
        &mut self,
        (effect, stamp): (Effect, Stamp),
        terms: Option<&Discussion>,
        door: &mut Doorway<'_>,
    ) -> Offer {
        if self.is_blocked(&effect, stamp) {
            return Offer::Nothing;
        }
        if let Effect::Trigger { ticket, agent, turn, attempt } = effect {
            if self.cx.directory.is_hosted(agent) {
                // It starts with an event, once the recent messages are in memory.
                return Offer::Nothing;
            }
            let is_observed = self.cx.directory.observed(agent).is_some();
            if is_observed && self.holds_trigger_back(agent) {
                return Offer::Nothing;
            }
            // No deferral and no waker can tell such a bot.
            if is_observed {
                self.lanes.voice.advance(Progress::Post);
            }
            if let Progress::Wake(deferral) = self.lanes.voice.progress() {
                if self.cx.has_waker {
                    return self.offer_wake((agent, turn, attempt), deferral, door).into();
                }
                self.lanes.voice.advance(Progress::Post);
            }
            if self.lanes.voice.progress() == Progress::Deferral {
                return Offer::Nothing;
            }
            // The host tells its agents itself.
            if !self.cx.settings.hooks.notify {
                self.trigger_done(ticket, agent, turn, None);
                return Offer::Anew;
            }
        }
        let turns = &*self.turns;
        let words = words_for(self.cx, turns, terms, &effect);
        let (Some(Words { place, content, mentions, paced, reply_to }), Some(ticket)) =
            (words, effect.ticket())
        else {
            self.refuse_head();
            return Offer::Anew;
        };
        // A restart must find the same nonce, so it is made of the time of the effect and not of the attempt.
        let mut pending = turns.machine.pending().iter();
        let asked = pending.find(|asked| asked.effect.ticket() == Some(ticket));
        let content = self.with_hints(content, &effect);
        let nonce = turns.nonce(ticket, asked.map_or(self.now, |asked| asked.since));
        let post = Post { mentions, reply_to, ..Post::new(place, content, nonce) };
        self.offer_post(Account::Moderator, post, paced, door).unwrap_or_else(|| {
            self.refuse_head();
            Offer::Over
        })
    }

    /// Adds the hints for an agent that repeated with its newest reply what was said, and for an observed agent, if
    /// there is room for them.
    fn with_hints(&self, content: String, effect: &Effect) -> String {
        let (texts, longest) = (&self.cx.settings.texts, self.cx.chat.longest_message());
        let Effect::Trigger { agent, .. } = effect else {
            return content;
        };
        let is_repeated = self.lanes.inbox.talk.is_repeated(*agent);
        let repetition = is_repeated.then(|| texts.repetition_hint.clone());
        let bot = self.cx.directory.observed(*agent);
        let pass = bot.and_then(|bot| bot.pass_words.first()).map(|word| texts.hint_to_pass(word));
        let hints = [repetition, pass].into_iter().flatten().filter(|hint| !hint.is_empty());
        hints.fold(content, |content, hint| {
            let hinted = format!("{content} {hint}");
            if fits(&hinted, longest) { hinted } else { content }
        })
    }

    fn is_blocked(&self, effect: &Effect, stamp: Stamp) -> bool {
        let (machine, now) = (&self.turns.machine, self.now);
        let is_reminder = matches!(effect, Effect::Reminder { .. });
        // A reminder gives its agent a run, and on hold no run may begin.
        let is_held = is_reminder && machine.view().pause().is_some();
        let is_trigger = matches!(effect, Effect::Trigger { .. });
        // Each of them lets an agent begin, and a part of another agent's reply may still be on its way.
        let begins_beside = (is_trigger || is_reminder) && self.lanes.voice.is_busy();
        let must_wait =
            is_trigger && (self.cx.stage >= DriverStage::Stopping || self.marks.is_holding(now));
        let is_due = self.lanes.voice.is_due(now) && self.turns.commit.is_committed(stamp);
        is_held || begins_beside || must_wait || !is_due || !machine.wants(effect)
    }

    /// Posts the head of the voice lane, for whichever account, if the post is admitted. `agent` is the agent that it
    /// counts for in the pace of triggers. `None` if it would wait too long.
    pub(super) fn offer_post(
        &mut self,
        account: Account,
        post: Post,
        agent: Option<AgentKey>,
        door: &mut Doorway<'_>,
    ) -> Option<Offer> {
        let (cx, now, room) = (self.cx, self.now, self.turns.channel);
        let Active { requests, voice, .. } = &mut *self.lanes;
        let (target, has_waited) = (post.channel, voice.has_waited());
        let claim =
            Claim { target, agent, has_waited, ..Claim::new(room, account, ClaimKind::Post) };
        match door.admission.admit(now, claim) {
            Ok(admitted) => {
                voice.expect(post.nonce);
                let action = Action::Post { account, post };
                voice.begin(requests.start(cx, now, door, admitted, Purpose::Voice, action), now);
                Some(Offer::Started)
            }
            Err(Wait::Until(until)) if until.since(now) > LIMIT_MAX => {
                tracing::warn!(channel = %room, "a post would wait too long for its pace");
                None
            }
            Err(wait) => Some(Offer::Waits(account, wait)),
        }
    }

    fn offer_wake(
        &mut self,
        (agent, turn, attempt): (AgentKey, TurnId, u8),
        deferral: Option<DeferralKey>,
        door: &mut Doorway<'_>,
    ) -> Option<ActionId> {
        // The host's waker calls once, so what its agent missed must be complete.
        let handout = self.prepare_handout(agent, turn)?;
        let brought = self.hand_out(handout);
        let repeated = self.lanes.inbox.talk.is_repeated(agent);
        let newest = self.turns.view().newest();
        let request = WakeRequest { agent, turn, attempt, newest, brought, repeated, deferral };
        let time_out = self.now + WORK_TIME;
        let action = Action::Wake(Box::new(request));
        let id = self.lanes.requests.start_freely(door, Purpose::Wake, action, time_out);
        self.lanes.voice.begin(id, self.now);
        Some(id)
    }

    pub(super) fn effect_posted(&mut self, effect: Effect, message: MessageId) {
        self.note_own(message);
        if let Effect::Trigger { ticket, agent, turn, .. } = effect {
            self.trigger_done(ticket, agent, turn, Some(message));
        } else {
            self.head_done(effect, Settlement::Done { message: Some(message) });
        }
    }

    pub(super) fn effect_failed(&mut self, effect: Effect, failure: &Failure) {
        let now = self.now;
        self.lanes.voice.back_off(now, failure.retry_after);
        // The post may be in the channel, so a withdrawal must look for it.
        if failure.certainty == Certainty::Unknown {
            self.lanes.voice.doubt();
        }
        let is_notice = matches!(effect, Effect::Notice { .. });
        // A notice is about this moment. Late, it would only confuse.
        let is_over = is_notice && self.lanes.voice.is_overdue(now);
        if is_over || failure.is_final() {
            let (channel, kind) = (self.turns.channel, failure.kind);
            tracing::warn!(%channel, ?kind, why = kind.describe(), "a post of the moderator failed");
            self.head_done(effect, failure.settlement(now));
        }
    }

    /// Settles the head of the voice lane. After a reminder a hosted initiator is called, even if the post failed.
    fn head_done(&mut self, effect: Effect, settlement: Settlement) {
        self.lanes.voice.pop();
        let Some(ticket) = effect.ticket() else {
            return;
        };
        self.turns.settle(self.cx, self.now, ticket, settlement);
        // An initiator that the library calls needs no message, so a failed reminder costs it nothing.
        if let Effect::Reminder { initiator, .. } = effect {
            if self.cx.directory.is_hosted(initiator) {
                self.start_run(ticket, initiator, None, 0);
            }
        }
    }

    /// Refuses a head that cannot be posted at all.
    fn refuse_head(&mut self) {
        match self.lanes.voice.head() {
            Some(PostItem::Effect(effect, _)) => {
                self.head_done(effect, Settlement::Failed { retry_at: None });
            }
            // Only the machine's effects are settled.
            _ => self.lanes.voice.pop(),
        }
    }

    pub(super) fn waker_answered(&mut self, id: ActionId, outcome: Outcome) {
        let head = self.lanes.voice.head();
        if !self.lanes.voice.end(id) {
            return;
        }
        let Some(PostItem::Effect(effect, _)) = head else {
            return;
        };
        let Effect::Trigger { ticket, agent, turn, .. } = effect else {
            return;
        };
        match outcome.into_woken() {
            Some(Ok(WakeOutcome::PostTrigger)) => self.lanes.voice.advance(Progress::Post),
            Some(Ok(_)) => self.trigger_done(ticket, agent, turn, None),
            // The call has taken the messages, so they are brought again.
            Some(Err(failure)) => {
                self.turn_failed(agent);
                self.head_done(effect, failure.settlement(self.now));
            }
            None => {}
        }
    }
}
