//! What the machine asks to have said, at the head of the voice lane: a trigger, a notice, a reminder.

use dirigent_core::{AgentKey, Effect, MessageId, Settlement, Ticket, Timestamp, TurnId};

use super::action::{Account, Action, ActionId, Outcome, Purpose, Signal, WakeRequest};
use super::attempts::{Failure, LIMIT_MAX};
use super::calling::Calling;
use super::cleanup::Cleanup;
use super::commit::Stamp;
use super::context::Context;
use super::deferrals::Deferrals;
use super::doorway::{Doorway, Offer};
use super::marks::Marks;
use super::recollection::Recollection;
use super::requests::Requests;
use super::voice::{Progress, VoiceItem, VoiceLane};
use super::words::{Words, words_for};
use crate::ChannelId;
use crate::admission::{Claim, ClaimKind, Wait};
use crate::ports::discord::Post;
use crate::ports::waker::WakeOutcome;
use crate::record::discussion::Discussion;
use crate::settings::limits::WORK_TIME;
use crate::text::split::fits;
use crate::values::deferral_key::DeferralKey;
use crate::values::error::Certainty;
use crate::values::stage::DriverStage;

/// Which agent knows that its turn has come.
#[derive(Debug, Default)]
pub(super) struct Summons {
    /// The gateway was lost: the agent that is awaited may not have heard its trigger.
    pub(super) again: bool,
    /// The newest turn whose agent knows of it without a message: the host's waker called it.
    pub(super) called: Option<TurnId>,
}

/// Says what the machine asks for. Where a trigger of a hosted agent stands, its run starts instead.
pub(super) struct Speaking<'a> {
    pub(super) calling: Calling<'a>,
    pub(super) marks: &'a mut Marks,
    pub(super) voice: &'a mut VoiceLane,
    pub(super) cleanup: &'a mut Option<Box<Cleanup>>,
    pub(super) deferrals: &'a mut Option<Box<Deferrals>>,
    pub(super) summons: &'a mut Summons,
}

/// A trigger at the head of the voice lane.
#[derive(Clone, Copy)]
struct Trigger {
    ticket: Ticket,
    agent: AgentKey,
    turn: TurnId,
    attempt: u8,
    stamp: Stamp,
}

impl<'a> Speaking<'a> {
    const fn cx(&self) -> &'a Context<'a> {
        self.calling.handing.cx
    }

    const fn now(&self) -> Timestamp {
        self.calling.handing.now
    }

    fn trigger_at_head(&self) -> Option<Trigger> {
        let head = self.voice.head().filter(|_| !self.voice.is_busy())?;
        let VoiceItem::Effect(Effect::Trigger { ticket, agent, turn, attempt }, stamp) = head
        else {
            return None;
        };
        Some(Trigger { ticket, agent, turn, attempt, stamp })
    }

    /// The head of the voice lane leaves if the machine does not want it any more.
    pub(super) fn withdraw_head(&mut self) -> bool {
        let Some(VoiceItem::Effect(effect, _)) = self.voice.head() else {
            return false;
        };
        let machine = &self.calling.turns.machine;
        let is_trigger = matches!(effect, Effect::Trigger { .. });
        let is_under_way = self.voice.is_under_way();
        // After a stop the acknowledgement stands behind the trigger, and must not wait until its post has ended.
        let is_awaited = is_under_way && !(is_trigger && machine.view().pause().is_some());
        if is_awaited || machine.wants(&effect) {
            return false;
        }
        // What is read first may tell that an earlier process posted it.
        let restored = &self.calling.turns.restored;
        let is_unseen = effect.ticket().is_some_and(|ticket| restored.is_unseen(ticket));
        if is_unseen && self.marks.is_holding(self.now()) {
            return false;
        }
        let arrived = if is_under_way { self.voice.take_arrived() } else { None };
        if let Some(message) = arrived {
            self.voice.has_landed();
            self.posted(effect, message);
            return true;
        }
        // Its agent may run because of it: then it is removed once it is seen.
        if let Some((nonce, post)) = self.voice.doubtful_post().filter(|_| is_trigger) {
            self.cleanup.get_or_insert_default().look_for(nonce, post);
            self.calling.handing.reads.want_backfill(self.calling.turns, self.marks);
        }
        self.voice.pop();
        if let Some(ticket) = effect.ticket() {
            self.settle(ticket, Settlement::Dropped);
        }
        true
    }

    fn settle(&mut self, ticket: Ticket, settlement: Settlement) {
        let (cx, now) = (self.cx(), self.now());
        self.calling.turns.settle(cx, now, ticket, settlement);
    }

    /// Takes the first step of the trigger at the head of the voice lane, where that is an instant one: the
    /// run of a hosted agent is permitted, a deferral reports its turn.
    pub(super) fn start_head(&mut self) -> bool {
        let Some(Trigger { ticket, agent, turn, attempt, stamp }) = self.trigger_at_head() else {
            return false;
        };
        if self.cx().stage >= DriverStage::Stopping || self.marks.is_holding(self.now()) {
            return false;
        }
        if self.cx().directory.is_hosted(agent) {
            if !self.calling.handing.is_ready(agent, turn) {
                return false;
            }
            self.voice.pop();
            if !self.calling.start_run(ticket, agent, Some(turn), attempt) {
                self.settle(ticket, Settlement::Dropped);
            }
            return true;
        }
        let is_committed = self.calling.turns.commit.is_committed(stamp);
        if !is_committed || self.voice.progress() != Progress::Deferral {
            return false;
        }
        let key = self.deferrals.as_mut().and_then(|deferrals| deferrals.take(agent));
        self.voice.advance(Progress::Wake(key));
        if let Some(key) = key {
            self.calling.signals.push_back(Signal::TellDeferred { key, turn });
        }
        true
    }

    /// The run that was put off was told: its agent knows that its turn has come.
    pub(super) fn deferral_told(&mut self) {
        if let Some(Trigger { ticket, agent, turn, .. }) = self.trigger_at_head() {
            self.trigger_done(ticket, agent, turn, None);
        }
    }

    /// The agent of the trigger at the head of the voice lane knows that its turn has come.
    fn trigger_done(
        &mut self,
        ticket: Ticket,
        agent: AgentKey,
        turn: TurnId,
        message: Option<MessageId>,
    ) {
        // What leaves now finds those who hear.
        self.summons.again = false;
        self.summons.called = message.is_none().then_some(turn);
        self.voice.pop();
        self.calling.handing.inbox.woken(agent, turn);
        self.settle(ticket, Settlement::Done { message });
    }

    /// Posts the head, or has its agent woken, once that is stored and as long as the machine wants it.
    pub(super) fn offer(
        &mut self,
        (effect, stamp): (Effect, Stamp),
        terms: Option<&Discussion>,
        door: &mut Doorway<'_>,
    ) -> Offer {
        if self.is_blocked(&effect, stamp) {
            return Offer::Nothing;
        }
        if let Effect::Trigger { ticket, agent, turn, attempt } = effect {
            if self.cx().directory.is_hosted(agent) {
                // It starts with an event, once what was said of late is in memory.
                return Offer::Nothing;
            }
            if let Progress::Wake(deferral) = self.voice.progress() {
                if self.cx().has_waker {
                    return self.offer_wake((agent, turn, attempt), deferral, door).into();
                }
                self.voice.advance(Progress::Post);
            }
            if self.voice.progress() == Progress::Deferral {
                return Offer::Nothing;
            }
            if !self.cx().settings.hooks.notify {
                self.trigger_done(ticket, agent, turn, None);
                return Offer::Anew;
            }
        }
        let turns = &*self.calling.turns;
        let words = words_for(self.cx(), turns, terms, &effect);
        let (Some(Words { place, content, mentions, paced, reply_to }), Some(ticket)) =
            (words, effect.ticket())
        else {
            self.refuse_head();
            return Offer::Anew;
        };
        let mut pending = turns.machine.pending().iter();
        let asked = pending.find(|asked| asked.effect.ticket() == Some(ticket));
        let content = self.with_hint(content, &effect);
        let nonce = turns.nonce(ticket, asked.map_or(self.now(), |asked| asked.since));
        let post = Post { mentions, reply_to, ..Post::new(place, content, nonce) };
        self.offer_post(post, paced, door)
    }

    /// Adds the hint for an agent whose newest reply said nothing new, where there is room for it.
    fn with_hint(&self, content: String, effect: &Effect) -> String {
        let hint = &self.cx().settings.texts.repetition_hint;
        let Effect::Trigger { agent, .. } = effect else {
            return content;
        };
        let is_repeated = self.calling.handing.inbox.talk.is_repeated(*agent);
        if !is_repeated || hint.is_empty() {
            return content;
        }
        let hinted = format!("{content} {hint}");
        if fits(&hinted, self.cx().chat.longest_message()) { hinted } else { content }
    }

    fn is_blocked(&self, effect: &Effect, stamp: Stamp) -> bool {
        let (machine, now) = (&self.calling.turns.machine, self.now());
        let is_reminder = matches!(effect, Effect::Reminder { .. });
        let is_held = is_reminder && machine.view().pause().is_some();
        let is_trigger = matches!(effect, Effect::Trigger { .. });
        let must_wait =
            is_trigger && (self.cx().stage >= DriverStage::Stopping || self.marks.is_holding(now));
        // Each lets an agent begin, and a part of another one's reply may still be on its way.
        let must_wait = must_wait || (is_trigger || is_reminder) && self.voice.is_busy();
        let is_due = self.voice.is_due(now) && self.calling.turns.commit.is_committed(stamp);
        is_held || must_wait || !is_due || !machine.wants(effect)
    }

    fn offer_post(&mut self, post: Post, agent: Option<AgentKey>, door: &mut Doorway<'_>) -> Offer {
        let (cx, now, room) = (self.cx(), self.now(), self.calling.turns.channel);
        let saying = Saying { cx, now, room, voice: self.voice, requests: self.calling.requests };
        saying.offer(Account::Moderator, post, agent, door).unwrap_or_else(|| {
            self.refuse_head();
            Offer::Over
        })
    }

    fn offer_wake(
        &mut self,
        (agent, turn, attempt): (AgentKey, TurnId, u8),
        deferral: Option<DeferralKey>,
        door: &mut Doorway<'_>,
    ) -> Option<ActionId> {
        let handing = &mut self.calling.handing;
        let handout = handing.prepare(agent, turn)?;
        let brought = handing.hand_out(handout);
        let repeated = handing.inbox.talk.is_repeated(agent);
        let newest = self.calling.turns.view().newest();
        let request = WakeRequest { agent, turn, attempt, newest, brought, repeated, deferral };
        let time_out = self.now() + WORK_TIME;
        let action = Action::Wake(Box::new(request));
        let id = self.calling.requests.start_freely(door, Purpose::Wake, action, time_out);
        self.voice.begin(id, self.now());
        Some(id)
    }

    /// What the head asks for is in the channel.
    pub(super) fn posted(&mut self, effect: Effect, message: MessageId) {
        let inbox = &mut *self.calling.handing.inbox;
        Recollection { marks: self.marks, inbox }.note_own(self.calling.turns, message);
        if let Effect::Trigger { ticket, agent, turn, .. } = effect {
            self.trigger_done(ticket, agent, turn, Some(message));
        } else {
            self.head_done(effect, Settlement::Done { message: Some(message) });
        }
    }

    /// An attempt at the head failed: it is tried again, or given up.
    pub(super) fn failed(&mut self, effect: Effect, failure: &Failure) {
        let now = self.now();
        self.voice.attempts().back_off(now, failure.retry_after);
        if failure.certainty == Certainty::Unknown {
            self.voice.doubt();
        }
        let is_notice = matches!(effect, Effect::Notice { .. });
        let is_over = is_notice && self.voice.is_overdue(now);
        if is_over || failure.is_final() {
            let (channel, kind) = (self.calling.turns.channel, failure.kind);
            tracing::warn!(%channel, ?kind, why = kind.describe(), "a post of the moderator failed");
            self.head_done(effect, failure.settlement(now));
        }
    }

    /// The head of the voice lane is settled. After a reminder a hosted initiator is called, whatever
    /// came of the post.
    fn head_done(&mut self, effect: Effect, settlement: Settlement) {
        self.voice.pop();
        let Some(ticket) = effect.ticket() else {
            return;
        };
        self.settle(ticket, settlement);
        if let Effect::Reminder { initiator, .. } = effect {
            if self.cx().directory.is_hosted(initiator) {
                self.calling.start_run(ticket, initiator, None, 0);
            }
        }
    }

    /// What the head of the voice lane asks for cannot be posted at all.
    fn refuse_head(&mut self) {
        match self.voice.head() {
            Some(VoiceItem::Effect(effect, _)) => {
                self.head_done(effect, Settlement::Failed { retry_at: None });
            }
            _ => self.voice.pop(),
        }
    }

    /// The host's waker answered.
    pub(super) fn woken(&mut self, id: ActionId, outcome: Outcome) {
        let head = self.voice.head();
        if !self.voice.end(id) {
            return;
        }
        let Some(VoiceItem::Effect(effect, _)) = head else {
            return;
        };
        let Effect::Trigger { ticket, agent, turn, .. } = effect else {
            return;
        };
        match outcome.into_woken() {
            Some(Ok(WakeOutcome::PostTrigger)) => self.voice.advance(Progress::Post),
            Some(Ok(_)) => self.trigger_done(ticket, agent, turn, None),
            Some(Err(failure)) => {
                self.calling.handing.failed(agent);
                self.head_done(effect, failure.settlement(self.now()));
            }
            None => {}
        }
    }
}

/// Posts the head of the voice lane, whichever account says it.
pub(super) struct Saying<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) now: Timestamp,
    pub(super) room: ChannelId,
    pub(super) voice: &'a mut VoiceLane,
    pub(super) requests: &'a mut Requests,
}

impl Saying<'_> {
    /// Starts the post, if it is admitted. `agent`: whose pace of triggers it counts in. `None` where it would wait
    /// too long.
    pub(super) fn offer(
        self,
        account: Account,
        post: Post,
        agent: Option<AgentKey>,
        door: &mut Doorway<'_>,
    ) -> Option<Offer> {
        let Self { cx, now, room, voice, requests } = self;
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
}
