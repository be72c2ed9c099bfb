//! The way of one event through a room, in its order.

use std::sync::Arc;

use dirigent_core::view::Span;
use dirigent_core::{
    Cause, Effect, Input, MessageId, PhaseKind, Settlement, Timestamp, Transition,
};

use super::action::Signal;
use super::active::Active;
use super::calls::{Call, Consult};
use super::context::Context;
use super::marks::Marks;
use super::reads::Read;
use super::turns::{FollowUp, FollowUpKind, Turns, is_failure, takes_turn_away};
use super::voice::PostItem;
use crate::ChatMessage;
use crate::record::discussion::Discussion;

/// A room while it handles an event. Each topic's file has an `impl Step` for its part. This file puts the machine's
/// effects into the lanes.
pub(super) struct Step<'a> {
    pub(super) cx: &'a Context<'a>,
    pub(super) now: Timestamp,
    pub(super) turns: &'a mut Turns,
    pub(super) marks: &'a mut Marks,
    pub(super) discussion: Option<&'a Arc<Discussion>>,
    pub(super) lanes: &'a mut Active,
}

impl Step<'_> {
    pub(super) fn submit(
        &mut self,
        input: &Input,
    ) -> Result<dirigent_core::Answer, dirigent_core::Refusal> {
        let answer = self.turns.submit(self.cx, self.now, input);
        self.sort();
        answer
    }

    pub(super) fn settled(&mut self, ticket: dirigent_core::Ticket, settlement: Settlement) {
        self.turns.settle(self.cx, self.now, ticket, settlement);
        self.sort();
    }

    /// Puts the machine's effects into the lanes.
    pub(super) fn sort(&mut self) {
        if self.turns.take_listing() {
            self.meet_agents();
        }
        if self.turns.has_follows() {
            self.sort_follows();
        }
    }

    #[inline(never)] // This keeps the usual case short, in which there is nothing to sort. It comes a dozen times a turn.
    fn sort_follows(&mut self) {
        let follows = self.turns.take_follows();
        for follow in &follows {
            self.take(follow);
        }
        self.turns.sorted(follows);
    }

    fn take(&mut self, follow: &FollowUp) {
        match follow.what {
            FollowUpKind::Effect(effect) => self.take_effect(follow, effect),
            // The time of a hold is no time of an outage.
            FollowUpKind::Resumed => {
                let reply = self.lanes.reply.as_mut();
                if reply.is_some_and(|reply| reply.resume(follow.at)) {
                    self.turns.commit.change();
                }
            }
            FollowUpKind::Commanded => self.lanes.commands.commanded_at = Some(follow.at),
            FollowUpKind::Moved(begins) => {
                // Messages from under another mode were not missed.
                self.marks.begin(begins, follow.at);
                // Agents that stay in the conversation keep what they have got.
                if !self.turns.keeps_turns() || !self.lanes.inbox.has_readers() {
                    self.lanes.inbox.begin(begins);
                }
            }
            FollowUpKind::Stray(message) => {
                let cleanup = self.lanes.cleanup.get_or_insert_default();
                cleanup.push(None, message, (follow.stamp, None));
            }
            FollowUpKind::Unseen(nonce) => {
                // It may be in the channel without our having seen it.
                self.lanes.cleanup.get_or_insert_default().look_for(nonce, None);
                self.lanes.reads.want_backfill(self.turns, self.marks);
            }
        }
    }

    /// Puts an effect of the machine into its lane, with the stamp of the state that asks for it.
    pub(super) fn take_effect(&mut self, follow: &FollowUp, effect: Effect) {
        let &FollowUp { at, stamp, .. } = follow;
        let lanes = &mut *self.lanes;
        match effect {
            Effect::Transition(transition) => self.take_transition(at, transition),
            Effect::FetchMembers { ticket } => lanes.reads.want(Read::Members(ticket), stamp),
            Effect::Poll { ticket, after } => lanes.reads.want(Read::Poll { ticket, after }, stamp),
            Effect::Delete { ticket, message } => {
                // A bot that is triggered by a mention needs the message for as long as it takes to react.
                let stays = self.trigger_stays(message);
                let cleanup = self.lanes.cleanup.get_or_insert_default();
                cleanup.push(Some(ticket), message, (stamp, stays));
            }
            Effect::Trigger { .. } | Effect::Notice { .. } | Effect::Reminder { .. } => {
                lanes.voice.push(PostItem::Effect(effect, stamp));
            }
            Effect::Consult { ticket, agent, turn, first, last } => {
                let since = at;
                let asked = Consult {
                    ticket,
                    agent,
                    turn,
                    first,
                    last,
                    stamp,
                    since,
                    ..Consult::default()
                };
                self.ask_orchestrator(asked);
            }
            Effect::Inject { agent, turn, message } => {
                self.hand_over(agent, turn, Span::of(message));
            }
            Effect::Deliver { agent, turn, first, last } => {
                self.hand_over(agent, turn, Span { first, last });
            }
            Effect::CancelRun { agent, run, .. } => self.cancel_call(agent, run),
        }
    }

    fn take_transition(&mut self, at: Timestamp, transition: Transition) {
        let Transition { from, to, cause, agent, .. } = transition;
        if takes_turn_away(cause) {
            // A stop is no failure of the agent, so it gets the same messages again without being counted.
            self.lanes.inbox.woken_in_vain();
        }
        // Only a discussion has a result to report.
        if to == PhaseKind::Archived && from != PhaseKind::Archived {
            if let Some(terms) = self.discussion {
                let outbox = self.lanes.outbox.get_or_insert_default();
                let of = (self.turns.channel, at);
                outbox.owe_result(self.cx, of, &mut self.turns.commit, (terms, cause));
            }
        }
        if to == PhaseKind::Dormant && from != to {
            // A conversation that ended repeats nothing in the next one.
            self.lanes.inbox.talk.end();
        }
        if let Some(agent) = agent.filter(|_| cause == Cause::Unpermitted) {
            return self.tell_unpermitted(agent);
        }
        let (was, waits) = (from == PhaseKind::Waiting, to == PhaseKind::Waiting);
        if was && !waits {
            self.lanes.withdraw_question();
        }
        let Active { calls, signals, inbox, .. } = &mut *self.lanes;
        if cause == Cause::RunStarted {
            calls.run_started();
            let is_hosted = |agent| self.cx.directory.is_hosted(agent);
            // No waker and no call brings it anything, so it reads the channel, and nothing is kept for it.
            if !self.cx.has_waker && !agent.is_some_and(is_hosted) {
                inbox.reads_itself();
            }
        }
        if let Some(agent) = agent.filter(|_| is_failure(cause)) {
            return self.turn_failed(agent);
        }
        // Without a call in progress there is no agent to tell.
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

impl Step<'_> {
    /// Counts the agents again in a channel that has too few of them, if more are registered. One may have been
    /// registered while no process was there to hear of it.
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

    /// Tells the machine that the chat is away or back, if that is due.
    pub(super) fn tell_chat(&mut self) -> bool {
        let Some(away) = self.lanes.chat.due(self.now) else {
            return false;
        };
        if !away {
            // Each of them may have waited out its attempts against a chat that was away.
            self.lanes.retry_now();
            self.lanes.reads.chat_back();
        }
        let _ = self.submit(&Input::Chat { away });
        true
    }
}

impl Step<'_> {
    pub(super) fn pushed(&mut self, message: ChatMessage) {
        self.read_untold();
        // Whatever is pushed shows that the gateway serves the channel.
        self.hear_again();
        let is_known = self.marks.is_known(message.id);
        // In a channel without turns nothing is ever read, so no mark is needed.
        if self.turns.keeps_turns() {
            self.marks.pushed(message.id);
        }
        let (id, author) = (message.id, self.cx.directory.author(&message));
        let nonce = message.nonce;
        let has_arrived = nonce.is_some_and(|nonce| self.lanes.arrived(nonce, author, id));
        self.take_message(message, false, is_known);
        // After the message itself, so that the machine knows it before what follows from it.
        if has_arrived {
            self.head_posted(id);
        }
    }

    /// Looks for lost events early, because much was pushed or posted since the channel was last read. Later there
    /// might be more ids than are kept.
    pub(super) fn read_again_early(&mut self) {
        if self.cx.settings.time_limits.backfill.is_some() {
            self.lanes.reads.want_backfill(self.turns, self.marks);
        } else {
            self.marks.do_without_reading();
        }
    }

    /// Handles a message of the channel. With `is_known`, it was heard before, or is a post of ours.
    pub(super) fn take_message(&mut self, message: ChatMessage, backfilled: bool, is_known: bool) {
        let late = self.hear(message, backfilled, is_known);
        self.sort();
        self.hold(late);
    }

    /// Keeps a channel from becoming dormant over a person's message that came late.
    pub(super) fn hold(&mut self, late: Option<MessageId>) {
        if let Some(message) = late {
            self.lanes.inbox.keep_unserved(Span::of(message));
            self.turns.commit.change();
        }
    }

    /// Handles a turn of a hosted agent that ended with a reply or a pass, so that the agent does not get the same
    /// messages again.
    pub(super) fn ended_well(&mut self, agent: dirigent_core::AgentKey, took_all: bool) {
        if self.lanes.inbox.ended_well(agent, took_all) {
            // The rest of them is a reason to wake.
            self.lanes.woken_for = None;
        }
    }

    #[inline(never)] // See `sort_follows`.
    fn meet_agents(&mut self) {
        let Self { cx, turns, lanes, .. } = self;
        let (view, inbox) = (turns.view(), &mut lanes.inbox);
        let is_handed = |agent| cx.has_waker || cx.directory.is_hosted(agent);
        for seat in view.list().filter(|seat| is_handed(seat.agent)) {
            inbox.meet(seat.agent);
        }
        inbox.list(|agent| is_handed(agent) && view.list().any(|seat| seat.agent == agent));
    }

    pub(super) fn hear_again(&mut self) {
        if self.gateway_hears() {
            self.tell_chat();
        }
    }

    /// Handles that the post of the voice lane's head is in the channel.
    pub(super) fn head_posted(&mut self, message: MessageId) {
        self.lanes.voice.has_landed();
        match self.lanes.voice.head() {
            Some(PostItem::Reply) => self.part_posted(message),
            Some(PostItem::Answer) => self.answer_posted(message),
            Some(PostItem::Effect(effect, _)) => self.effect_posted(effect, message),
            None => {}
        }
        self.sort();
    }
}
