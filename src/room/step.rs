//! One event on its way through a room: the handlers of all topics, and the order of things.

use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{
    Cause, Effect, Input, MessageId, PhaseKind, Settlement, Timestamp, Transition,
};

use super::action::Signal;
use super::active::Active;
use super::calling::Calling;
use super::calls::{Call, Consult};
use super::connection::Connection;
use super::consulting::Consulting;
use super::context::Context;
use super::handing::Handing;
use super::hearing::Hearing;
use super::marks::Marks;
use super::reads::Read;
use super::recollection::Recollection;
use super::replying::Replying;
use super::settling::Settling;
use super::speaking::Speaking;
use super::turns::{Follow, Turns, What, is_failure, takes_turn_away};
use super::voice::VoiceItem;
use crate::ChatMessage;
use crate::record::discussion::Discussion;

/// A room while it takes an event in. Lends each handler the fields of its topic, and sorts what follows from
/// the machine into the lanes.
pub(super) struct Step<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) now: Timestamp,
    pub(super) turns: &'a mut Turns,
    pub(super) marks: &'a mut Marks,
    pub(super) discussion: Option<&'a Arc<Discussion>>,
    pub(super) lanes: &'a mut Active,
}

/// The handlers.
impl Step<'_> {
    /// Whether a call does without what cannot be read for it.
    fn gives_up(&self) -> bool {
        let Active { chat, calls, .. } = &*self.lanes;
        !chat.is_out() || calls.is_waiting()
    }

    pub(super) fn handing(&mut self) -> Handing<'_> {
        let gives_up = self.gives_up();
        let Active { inbox, reads, .. } = &mut *self.lanes;
        Handing { cx: self.cx, now: self.now, inbox, reads, gives_up }
    }

    pub(super) fn calling(&mut self) -> Calling<'_> {
        let gives_up = self.gives_up();
        let Self { cx, now, turns, .. } = self;
        let Active { inbox, reads, calls, signals, requests, .. } = &mut *self.lanes;
        let handing = Handing { cx, now: *now, inbox, reads, gives_up };
        Calling { turns, calls, signals, requests, handing }
    }

    pub(super) fn speaking(&mut self) -> Speaking<'_> {
        let gives_up = self.gives_up();
        let Self { cx, now, turns, marks, .. } = self;
        let lanes = &mut *self.lanes;
        let Active { inbox, reads, calls, signals, requests, voice, .. } = lanes;
        let Active { cleanup, deferrals, summons, .. } = lanes;
        let handing = Handing { cx, now: *now, inbox, reads, gives_up };
        let calling = Calling { turns, calls, signals, requests, handing };
        Speaking { calling, marks, voice, cleanup, deferrals, summons }
    }

    pub(super) fn consulting(&mut self) -> Consulting<'_> {
        let gives_up = self.gives_up();
        let Self { cx, now, turns, marks, .. } = self;
        let Active { inbox, reads, signals, requests, voice, consult, .. } = &mut *self.lanes;
        let handing = Handing { cx, now: *now, inbox, reads, gives_up };
        Consulting { turns, marks, voice, consult, signals, requests, handing }
    }

    pub(super) fn replying(&mut self) -> Replying<'_> {
        let Self { cx, now, turns, marks, .. } = self;
        let lanes = &mut *self.lanes;
        let Active { inbox, voice, reply, withdrawn, cleanup, requests, receipt, .. } = lanes;
        let signals = &mut lanes.signals;
        let kept = Recollection { marks, inbox };
        let now = *now;
        Replying {
            cx,
            now,
            turns,
            voice,
            reply,
            withdrawn,
            cleanup,
            requests,
            signals,
            receipt,
            kept,
        }
    }

    pub(super) fn hearing(&mut self) -> Hearing<'_> {
        let Self { cx, now, turns, marks, .. } = self;
        let Active { inbox, cleanup, commands, .. } = &mut *self.lanes;
        Hearing { cx, now: *now, turns, cleanup, commands, kept: Recollection { marks, inbox } }
    }

    pub(super) fn connection(&mut self) -> Connection<'_> {
        let Self { now, turns, marks, .. } = self;
        let Active { chat, reads, summons, .. } = &mut *self.lanes;
        Connection { now: *now, turns, marks, chat, reads, summons }
    }
}

/// What follows from the machine for the lanes.
impl Step<'_> {
    /// Tells the machine something, and sorts what follows.
    pub(super) fn submit(
        &mut self,
        input: &Input,
    ) -> Result<dirigent_core::Answer, dirigent_core::Refusal> {
        let answer = self.turns.submit(self.cx, self.now, input);
        self.sort();
        answer
    }

    /// Says what became of an effect, and sorts what follows.
    pub(super) fn settled(&mut self, ticket: dirigent_core::Ticket, settlement: Settlement) {
        self.turns.settle(self.cx, self.now, ticket, settlement);
        self.sort();
    }

    /// Sorts into the lanes what the machine asked for, and tells them what else follows.
    pub(super) fn sort(&mut self) {
        if self.turns.take_listing() {
            self.meet_agents();
        }
        if self.turns.has_follows() {
            self.sort_follows();
        }
    }

    #[inline(never)] // The usual case, in which there is nothing to sort, stays short: it comes a dozen times a turn.
    fn sort_follows(&mut self) {
        let follows = self.turns.take_follows();
        for follow in &follows {
            self.take(follow);
        }
        self.turns.sorted(follows);
    }

    fn take(&mut self, follow: &Follow) {
        match follow.what {
            What::Effect(effect) => self.take_effect(follow, effect),
            // The time that a hold took does not count as time away.
            What::Resumed => {
                let reply = self.lanes.reply.as_mut();
                if reply.is_some_and(|reply| reply.resume(follow.at)) {
                    self.turns.commit.change();
                }
            }
            What::Commanded => self.lanes.commands.commanded_at = Some(follow.at),
            What::Moved(begins) => {
                // What was said under another mode is nothing that was missed.
                self.marks.begin(begins, follow.at);
                if !self.turns.keeps_turns() || !self.lanes.inbox.has_readers() {
                    self.lanes.inbox.begin(begins);
                }
            }
            What::Stray(message) => {
                let cleanup = self.lanes.cleanup.get_or_insert_default();
                cleanup.push(None, message, follow.stamp);
            }
            What::Unseen(nonce) => {
                self.lanes.cleanup.get_or_insert_default().look_for(nonce, None);
                self.lanes.reads.want_backfill(self.turns, self.marks);
            }
        }
    }

    /// Puts what the machine asks for into its lane, with the stamp of the state that asks for it.
    pub(super) fn take_effect(&mut self, follow: &Follow, effect: Effect) {
        let &Follow { at, stamp, .. } = follow;
        let lanes = &mut *self.lanes;
        match effect {
            Effect::Transition(transition) => self.take_transition(at, transition),
            Effect::FetchMembers { ticket } => lanes.reads.want(Read::Members(ticket), stamp),
            Effect::Poll { ticket, after } => lanes.reads.want(Read::Poll { ticket, after }, stamp),
            Effect::Delete { ticket, message } => {
                lanes.cleanup.get_or_insert_default().push(Some(ticket), message, stamp);
            }
            Effect::Trigger { .. } | Effect::Notice { .. } | Effect::Reminder { .. } => {
                lanes.voice.push(VoiceItem::Effect(effect, stamp));
            }
            Effect::Consult { ticket, agent, turn, first, last } => {
                let asked = Consult::new(ticket, (agent, turn), (first, last), stamp, at);
                self.consulting().ask(asked);
            }
            Effect::Inject { agent, turn, message } => {
                self.calling().hand_over(agent, turn, Span::of(message));
            }
            Effect::Deliver { agent, turn, first, last } => {
                self.calling().hand_over(agent, turn, Span { first, last });
            }
            Effect::CancelRun { agent, run, .. } => self.calling().cancel(agent, run),
        }
    }

    fn take_transition(&mut self, at: Timestamp, transition: Transition) {
        let Transition { from, to, cause, agent, .. } = transition;
        if takes_turn_away(cause) {
            self.lanes.inbox.woken_in_vain();
        }
        if to == PhaseKind::Archived && from != PhaseKind::Archived {
            if let Some(terms) = self.discussion {
                let posts = self.lanes.posts.get_or_insert_default();
                posts.owe_result(self.cx, self.turns.channel, at, terms, cause);
            }
        }
        if to == PhaseKind::Dormant {
            self.lanes.inbox.talk.end();
        }
        let (was, waits) = (from == PhaseKind::Waiting, to == PhaseKind::Waiting);
        if was && !waits {
            self.consulting().withdraw();
        }
        let Active { calls, signals, inbox, .. } = &mut *self.lanes;
        if cause == Cause::RunStarted {
            calls.run_started();
            let is_hosted = |agent| self.cx.directory.is_hosted(agent);
            if !self.cx.has_waker && !agent.is_some_and(is_hosted) {
                inbox.reads_itself();
            }
        }
        if let Some(agent) = agent.filter(|_| is_failure(cause)) {
            return self.handing().failed(agent);
        }
        let Some(&Call { agent: called, under_way: Some(id), .. }) = calls.current() else {
            return;
        };
        if was != waits {
            signals.push_back(Signal::Pause { id, waits });
        }
        if cause == Cause::RunSlow && agent == Some(called) {
            signals.push_back(Signal::Slow(id));
        }
    }
}

/// The order of things.
impl Step<'_> {
    /// Brings everything in line with what the machine says now. Called at the end of each event.
    pub(super) fn settle(&mut self) {
        Settling { step: self }.settle();
    }

    /// Has the agents of a channel with too few of them counted again, where more are registered: another one may have
    /// been registered while no process was there to hear of it.
    pub(super) fn count_newcomers(&mut self) {
        let view = self.turns.view();
        if view.phase() != PhaseKind::Disabled || !view.mode().keeps_turns() {
            return;
        }
        let is_listed = |agent| view.list().any(|seat| seat.agent == agent);
        let newcomer = self.cx.directory.registered().find(|agent| !is_listed(*agent));
        if let Some(agent) = newcomer {
            // The list is read in any case, and says who is there.
            let _ = self.submit(&Input::MemberJoined(agent));
        }
    }

    /// Tells the machine that the chat is away, or back, when that is due.
    pub(super) fn tell_chat(&mut self) -> bool {
        let Some(away) = self.lanes.chat.due(self.now) else {
            return false;
        };
        if !away {
            self.lanes.retry_now();
            self.lanes.reads.chat_back();
        }
        let _ = self.submit(&Input::Chat { away });
        true
    }
}

/// What is said.
impl Step<'_> {
    /// A message that was pushed.
    pub(super) fn pushed(&mut self, message: ChatMessage) {
        self.connection().read_untold();
        self.hear();
        let is_known = self.marks.is_known(message.id);
        if self.turns.keeps_turns() {
            self.marks.pushed(message.id);
        }
        let (id, author) = (message.id, self.cx.directory.author(&message));
        let nonce = message.nonce;
        let has_arrived = nonce.is_some_and(|nonce| self.lanes.arrived(nonce, author, id));
        self.take_message(message, false, is_known);
        if has_arrived {
            self.head_posted(id);
        }
    }

    /// Much was pushed or posted since the channel was last read: an event that was lost in between is looked for now.
    /// Later there might be more ids than are kept.
    pub(super) fn read_again_early(&mut self) {
        if self.cx.settings.time_limits.backfill.is_some() {
            self.lanes.reads.want_backfill(self.turns, self.marks);
        } else {
            self.marks.do_without_reading();
        }
    }

    /// A message of the channel. `is_known`: it was heard before, or is a post of ours.
    pub(super) fn take_message(&mut self, message: ChatMessage, backfilled: bool, is_known: bool) {
        let late = self.hearing().take(message, backfilled, is_known);
        self.sort();
        self.hold(late);
    }

    /// The channel does not go to sleep over a person's message that came late.
    pub(super) fn hold(&mut self, late: Option<MessageId>) {
        if let Some(message) = late {
            self.lanes.inbox.keep_unserved(Span::of(message));
            self.turns.commit.change();
        }
    }

    /// The turn of a hosted agent ended with a reply or a pass. What it was handed is not handed to it again.
    pub(super) fn ended_well(&mut self, agent: dirigent_core::AgentKey, took_all: bool) {
        if self.lanes.inbox.ended_well(agent, took_all) {
            // What is left of it is a reason to wake.
            self.lanes.woken_for = None;
        }
    }

    /// The agents that take turns here may be others now.
    #[inline(never)] // As above.
    fn meet_agents(&mut self) {
        let Self { cx, turns, lanes, .. } = self;
        let (view, inbox) = (turns.view(), &mut lanes.inbox);
        let is_handed = |agent| cx.has_waker || cx.directory.is_hosted(agent);
        for seat in view.list().filter(|seat| is_handed(seat.agent)) {
            inbox.meet(seat.agent);
        }
        inbox.list(|agent| is_handed(agent) && view.list().any(|seat| seat.agent == agent));
    }

    /// The gateway tells of the channel again.
    pub(super) fn hear(&mut self) {
        if self.connection().hears() {
            self.tell_chat();
        }
    }

    /// What the head of the voice lane says is in the channel.
    pub(super) fn head_posted(&mut self, message: MessageId) {
        self.lanes.voice.has_landed();
        match self.lanes.voice.head() {
            Some(VoiceItem::Reply) => self.replying().posted(message),
            Some(VoiceItem::Answer) => self.consulting().posted(message),
            Some(VoiceItem::Effect(effect, _)) => self.speaking().posted(effect, message),
            None => {}
        }
        self.sort();
    }
}
