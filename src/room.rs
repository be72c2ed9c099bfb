//! One channel as a value: what happened goes in, what is to be done comes out.
//!
//! A room decides everything about its channel that the turn machine leaves open: what is stored and
//! when, what is posted and tried again, what was heard and what is read, who is called. It has no
//! clock, lock, task or I/O. The runtime gives it events with their time, performs its signals at once
//! and its actions as futures, and hands back what came of them.

pub(crate) mod action;
mod active;
pub(crate) mod attempts;
pub(crate) mod calls;
pub(crate) mod chat_health;
mod claims;
mod cleanup;
pub(crate) mod commit;
pub(crate) mod context;
mod deferrals;
pub(crate) mod directory;
mod done;
mod hosted;
mod inbox;
mod letters;
mod listen;
mod marks;
pub(crate) mod offer;
mod outbox;
mod overrun;
mod pages;
mod reads;
pub(crate) mod record;
pub(crate) mod refused;
mod reply;

mod voice;
mod words;

#[cfg(test)]
mod simulation;

use std::sync::Arc;

use dirigent_core::{
    AgentKey, Answer, Cause, Channel, DeadlineReason, Effect, Input, Mode, PhaseKind, Reason,
    Refusal, RunId, Settlement, Ticket, Timestamp, Transition, TurnId, WakeCause,
};

use self::action::Signal;
use self::active::Active;
use self::calls::{Call, Consult, Guarded};
use self::commit::{CommitState, Stamp};
use self::context::Context;
use self::marks::{CLOCKS_APART, Marks};
use self::reads::Read;
use self::voice::VoiceItem;
use crate::{ChannelId, DeferralKey, Discussion, Held, Revision};

/// One channel: its turn machine, and everything that carries the machine's decisions out.
#[derive(Debug)]
pub(crate) struct Room {
    id: ChannelId,
    /// The time of the last event.
    at: Timestamp,
    machine: Channel,
    commit: CommitState,
    marks: Marks,
    /// The channel comes from the store: what was said before is not in memory.
    forgot: bool,
    /// What was agreed when the discussion was opened.
    discussion: Option<Arc<Discussion>>,
    /// What only an active channel has.
    active: Option<Box<Active>>,
}

/// That the chat does not answer, or is not heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outage {
    /// Since when the room's requests fail, or the gateway is lost.
    pub(crate) since: Timestamp,
    /// Whether it is the gateway alone.
    pub(crate) gateway: bool,
    /// Whose reply waits for it.
    pub(crate) reply_of: Option<AgentKey>,
    /// When that reply is given up.
    pub(crate) given_up_at: Option<Timestamp>,
}

impl Room {
    pub(crate) const fn id(&self) -> ChannelId {
        self.id
    }

    /// The time of the last event.
    pub(crate) const fn time(&self) -> Timestamp {
        self.at
    }

    pub(crate) const fn machine(&self) -> &Channel {
        &self.machine
    }

    pub(crate) const fn discussion(&self) -> Option<&Arc<Discussion>> {
        self.discussion.as_ref()
    }

    pub(crate) const fn commit(&self) -> &CommitState {
        &self.commit
    }

    /// Whether the chat does not answer this room, or is not heard.
    pub(crate) fn outage(&self) -> Option<Outage> {
        let chat = &self.active.as_ref()?.chat;
        let (reply_of, given_up_at) = (self.waiting_reply(), self.reply_given_up_at());
        let (since, gateway) = match chat.silent_since() {
            Some(since) => (since, false),
            None => (chat.deaf_since()?, true),
        };
        Some(Outage { since, gateway, reply_of, given_up_at })
    }

    /// Whose reply is made, and waits until the chat takes it.
    pub(crate) fn waiting_reply(&self) -> Option<AgentKey> {
        let reply = self.active.as_ref()?.reply.as_ref()?.stored();
        reply.waiting_since.map(|_| reply.agent)
    }

    /// Whether people said something that is still to be handed to an agent.
    pub(crate) fn has_word(&self) -> bool {
        let (view, active) = (self.machine.view(), self.active.as_ref());
        let is_unheard =
            view.is_wake_unserved() && active.is_none_or(|active| !active.calls.has_begun());
        let is_kept = view.is_wake_pending() || view.held().is_some();
        is_unheard || is_kept || active.is_some_and(|active| active.inbox.ungiven().is_some())
    }

    /// Whether a permitted run waits for a place among the calls of all channels.
    pub(crate) fn waits_for_call(&self) -> bool {
        self.active.as_ref().is_some_and(|active| {
            active.calls.is_waiting() && active.claims.waits(claims::Lane::Call)
        })
    }

    fn active(&mut self) -> &mut Active {
        self.active.get_or_insert_default()
    }

    /// When the reply is given up, while it waits for a chat that is away. Not before the machine has given
    /// the chat up: it would grant the next turn.
    fn reply_given_up_at(&self) -> Option<Timestamp> {
        let reply = self.active.as_ref()?.reply.as_ref()?;
        let since = reply.stored().waiting_since?;
        let away = self.machine.view().chat_away_since().unwrap_or(since);
        Some(since.max(away) + self.machine.config().outage_max)
    }

    /// An instant action, to be performed at once by the caller.
    pub(crate) fn next_signal(&mut self) -> Option<Signal> {
        if self.commit.publishes() {
            let dropped = self.commit.take_dropped().map(Signal::PublishGap);
            return dropped.or_else(|| self.commit.next_published().map(Signal::Publish));
        }
        self.active.as_mut()?.signals.pop_front()
    }

    /// Takes an input in. `for_good`: it must be on the disk before the caller is answered. The stamp is
    /// that of the state after it.
    pub(crate) fn input(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        input: &Input,
        for_good: bool,
    ) -> (Result<Answer, Refusal>, Stamp) {
        self.reach(now);
        let answer = self.submit(cx, now, input);
        if for_good && answer.is_ok() {
            self.commit.change_for_good();
        }
        self.settle(cx, now);
        (answer, self.commit.newest())
    }

    /// Lets expire what is due.
    pub(crate) fn tick(&mut self, cx: &Context<'_>, now: Timestamp) {
        let is_set_back = now < self.at;
        self.reach(now);
        let due = self.machine.next_deadline().filter(|deadline| deadline.at <= now);
        if is_set_back || due.is_some() {
            let _ = self.submit(cx, now, &Input::Tick);
        }
        if due.is_some_and(|due| due.reason == DeadlineReason::Forget) {
            self.backfill_before_rest(cx);
        }
        self.settle(cx, now);
    }

    /// Time is now this. Where it went back, what remained of every wait still remains.
    fn reach(&mut self, now: Timestamp) {
        if now < self.at {
            let by = self.at.since(now);
            self.marks.move_back(by);
            self.commit.move_back(by);
            if let Some(active) = &mut self.active {
                active.move_back(by);
            }
        }
        self.at = now;
    }

    /// Gives the machine an input and takes its effects.
    fn submit(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        input: &Input,
    ) -> Result<Answer, Refusal> {
        self.settle_begun(cx, now);
        let mut effects = match &mut self.active {
            Some(active) => std::mem::take(&mut active.effects),
            None => Vec::new(),
        };
        let (mode, rested) = (self.machine.view().mode(), self.machine.view().pause().is_some());
        let answer = self.machine.handle(now, input, &mut effects);
        if let Some(record) = cx.record {
            record(self.id, now, input);
        }
        let is_moved = self.machine.view().mode() != mode;
        let is_resumed = rested && self.machine.view().pause().is_none();
        self.commit.observe(self.machine.revision());
        for effect in effects.drain(..) {
            self.take_effect(cx, now, effect);
        }
        match &mut self.active {
            Some(active) => active.effects = effects,
            None if effects.capacity() == 0 => {}
            None => self.active().effects = effects,
        }
        if is_resumed {
            self.resume_reply(now);
        }
        let commands = matches!(input, Input::Stop | Input::Hold | Input::Resume | Input::Finish);
        // A command that changes nothing is obeyed all the same; one that is refused, or a mode that the
        // channel has already, says nothing about what people said before.
        if answer.is_ok() && (commands || is_moved) {
            self.active().commanded_at = Some(now);
            self.commit.change();
        }
        if is_moved {
            // What was said under another mode is nothing that was missed.
            let newest = self.machine.view().newest();
            let begins = newest.or_else(|| cx.chat.id_before(now.saturating_sub(CLOCKS_APART)));
            self.marks.begin(begins, now);
            if let Some(active) = &mut self.active {
                active.inbox.forget_pending();
            }
        }
        answer
    }

    fn take_effect(&mut self, cx: &Context<'_>, now: Timestamp, effect: Effect) {
        let stamp = self.commit.newest();
        match effect {
            Effect::Transition(transition) => self.take_transition(cx, now, transition),
            Effect::FetchMembers { ticket } => {
                self.active().reads.want(Read::Members(ticket), stamp);
            }
            Effect::Poll { ticket, after } => {
                self.active().reads.want(Read::Poll { ticket, after }, stamp);
            }
            Effect::Delete { ticket, message } => {
                self.active().cleanup.push(Some(ticket), message, stamp);
            }
            Effect::Trigger { .. } | Effect::Notice { .. } | Effect::Reminder { .. } => {
                if !matches!(effect, Effect::Notice { .. }) {
                    self.active().reads.skip_context = false;
                }
                self.active().voice.push(VoiceItem::Effect(effect, stamp));
            }
            Effect::Consult { ticket, agent, turn, first, last } => {
                self.drop_consult();
                let since = now;
                self.active().consult = Some(Box::new(Consult {
                    ticket,
                    agent,
                    turn,
                    first,
                    last,
                    stamp,
                    under_way: None,
                    since,
                    parts: Vec::new(),
                    posted: 0,
                    answer: None,
                }));
            }
            Effect::Inject { agent, turn, message } => {
                self.hand_over(Held { agent, turn, first: message, last: message });
            }
            Effect::Deliver { agent, turn, first, last } => {
                self.hand_over(Held { agent, turn, first, last });
            }
            Effect::CancelRun { agent, run, .. } => self.cancel_call(now, agent, run),
        }
    }

    fn take_transition(&mut self, cx: &Context<'_>, now: Timestamp, transition: Transition) {
        self.commit.record(transition);
        let Transition { from, to, cause, agent, .. } = transition;
        if to == PhaseKind::Archived && from != PhaseKind::Archived {
            self.owe_result(cx, now, cause);
        }
        let (was, rests) = (from == PhaseKind::Waiting, to == PhaseKind::Waiting);
        if was && !rests {
            self.drop_consult();
        }
        let Some(active) = &mut self.active else {
            return;
        };
        if cause == Cause::RunStarted {
            active.calls.run_started();
        }
        let Some(&Call { agent: called, under_way: Some(id), .. }) = active.calls.current() else {
            return;
        };
        if was != rests {
            active.signals.push_back(Signal::Pause { id, rests });
        }
        if cause == Cause::RunSlow && agent == Some(called) {
            active.signals.push_back(Signal::Slow(id));
        }
    }

    /// Says what became of an effect. That its ticket is unknown means that it does not matter any more.
    fn settled(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        ticket: Ticket,
        settlement: Settlement,
    ) {
        let is_known = matches!(settlement, Settlement::Done { message: Some(_) });
        let cleanup = self.active.as_mut().map(|active| &mut active.cleanup);
        match cleanup.and_then(|cleanup| cleanup.take_restored(ticket)).filter(|_| !is_known) {
            None => {
                let _ = self.submit(cx, now, &Input::Settled { ticket, settlement });
            }
            // An earlier process posted it: the machine has it removed.
            Some((_, Some(message))) => {
                let settlement = Settlement::Done { message: Some(message) };
                if self.submit(cx, now, &Input::Settled { ticket, settlement }).is_err() {
                    let stamp = self.commit.newest();
                    self.active().cleanup.push(None, message, stamp);
                }
            }
            Some((nonce, None)) => {
                let _ = self.submit(cx, now, &Input::Settled { ticket, settlement });
                self.active().cleanup.look_for(nonce, None);
                self.backfill();
            }
        }
    }

    /// People's messages are handed to the agent of this turn: now if the library has called it, else
    /// with its next call. Where the host runs it, they stand in the channel.
    fn hand_over(&mut self, held: Held) {
        self.commit.change();
        let active = self.active();
        active.inbox.hold(held);
        if active.calls.under_way().is_some() {
            active.calls.inject = Some(held);
        }
    }

    /// Takes the permission from the call under way. Its agent is told at once, and the call is dropped if
    /// it goes on for longer than the grace.
    fn cancel_call(&mut self, now: Timestamp, agent: AgentKey, run: Option<RunId>) {
        let Some(active) = &mut self.active else {
            return;
        };
        if let Some(call) = active.calls.cancel(now, agent, run) {
            active.inbox.cancelled(agent, call.turn);
            match call.under_way {
                Some(id) => active.signals.push_back(Signal::Cancel(id)),
                None => active.claims.withdraw(claims::Lane::Call),
            }
        }
    }

    /// An agent that the library calls may ask at the gate itself, under another name: that run takes the
    /// place of the call.
    fn cancel_replaced(&mut self, now: Timestamp) {
        let call = self.active.as_ref().and_then(|active| active.calls.current());
        let Some((agent, run)) = call.map(|call| (call.agent, call.run)) else {
            return;
        };
        if self.machine.view().run().is_some_and(|current| current != run) {
            self.cancel_call(now, agent, Some(run));
        }
    }

    /// The question to the orchestrator is not waited for any more.
    fn drop_consult(&mut self) {
        let Some(active) = &mut self.active else {
            return;
        };
        if let Some(consult) = active.consult.take() {
            if let Some(id) = consult.under_way {
                active.signals.push_back(Signal::DropConsult(id));
            }
            active.claims.withdraw(claims::Lane::Consult);
            active.voice.withdraw(VoiceItem::Answer);
        }
    }

    /// Brings everything in line with what the machine says now. Called at the end of each event.
    fn settle(&mut self, cx: &Context<'_>, now: Timestamp) {
        self.cancel_replaced(now);
        // Each round either starts, ends or withdraws something; the bound is never reached.
        let mut goes_on = true;
        for _ in 0..64 {
            goes_on = self.tell_chat(cx, now)
                || self.ask_again(cx, now)
                || self.take_arrived(cx, now)
                || self.withdraw_reply(cx, now)
                || self.settle_replaced(cx, now)
                || self.settle_never_begun(cx, now)
                || self.drop_reads(cx, now)
                || self.withdraw_head(cx, now)
                || self.give_context_up(now)
                || self.start_head(cx, now)
                || self.step_aside()
                || self.end_kept_run(cx, now)
                || self.wake_for_pending(cx, now);
            if !goes_on {
                break;
            }
        }
        debug_assert!(!goes_on, "what is to be settled at {now:?} has no end: {self:?}");
        self.look_while_deaf(cx, now);
        self.count_outbox();
        self.clear_delivered();
        self.inject_pending(cx);
        self.tell_overrun(now);
        self.expire(now);
    }

    /// A read that a newer one has replaced before it was made is owed no more.
    fn settle_replaced(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let older = self.active.as_mut().and_then(|active| active.reads.replaced.pop());
        if let Some(ticket) = older {
            self.settled(cx, now, ticket, Settlement::Dropped);
        }
        older.is_some()
    }

    /// What was said of late could not be read in time: the turn begins without. Not while the chat is away.
    fn give_context_up(&mut self, now: Timestamp) -> bool {
        let Some(active) = &mut self.active else {
            return false;
        };
        let is_over = active.reads.context_until.is_some_and(|until| until <= now);
        let gives_up = is_over && active.gives_reads_up();
        if gives_up {
            active.reads.give_context_up();
        }
        gives_up
    }

    /// A notice that cannot be posted holds no turn back.
    fn step_aside(&mut self) -> bool {
        self.active.as_mut().is_some_and(|active| {
            let waits = active.claims.waits(claims::Lane::Voice);
            active.voice.step_aside(waits)
        })
    }

    /// The channel went to sleep, and what a person said to the agent that ran last was not taken: it wakes
    /// for that, once.
    fn wake_for_pending(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let Some(active) = &mut self.active else {
            return false;
        };
        let view = self.machine.view();
        let sleeps = view.phase() == PhaseKind::Dormant && view.mode().keeps_turns();
        // A wake would be refused, or be nothing.
        let waits =
            view.pause().is_some() || view.chat_away_since().is_some() || view.is_budget_spent();
        let last = active.inbox.ungiven().map(|held| held.last);
        if !sleeps || waits || last <= active.woken_for {
            return false;
        }
        active.woken_for = last;
        let wake = Input::Wake { first: None, cause: WakeCause::Operator };
        let _ = self.submit(cx, now, &wake);
        true
    }

    /// Tells the machine that the chat is away, or back, when that is due.
    fn tell_chat(&mut self, cx: &Context<'_>, now: Timestamp) -> bool {
        let due = self.active.as_mut().and_then(|active| active.chat.due(now));
        let Some(away) = due else {
            return false;
        };
        if !away {
            self.hurry();
            self.active().reads.chat_back(now);
        }
        let _ = self.submit(cx, now, &Input::Chat { away });
        true
    }

    /// The chat answers again: what waits for it may be tried at once.
    pub(crate) fn hurry(&mut self) {
        let Some(active) = &mut self.active else {
            return;
        };
        active.voice.attempts().hurry();
        active.outbox.chat_back();
        if let Some(reply) = &mut active.reply {
            reply.hurry();
        }
    }

    /// Forgets what was handed over with a turn that is over.
    fn clear_delivered(&mut self) {
        let view = self.machine.view();
        let (speaker, turn) = (view.speaker(), view.turn());
        let Some(active) = &mut self.active else {
            return;
        };
        let before = active.inbox.pending();
        if before.is_some() {
            active.inbox.clear_delivered(speaker, turn);
            if active.inbox.pending() != before {
                self.commit.change();
            }
        }
    }

    /// Lets expire what the machine does not know of.
    fn expire(&mut self, now: Timestamp) {
        self.marks.expire_hold(now);
        let is_idle = self.machine.view().speaker().is_none();
        let forget_after = self.machine.config().forget_after;
        let keeps_turns = self.machine.view().mode().keeps_turns();
        if !keeps_turns {
            self.marks.drop_gap();
        }
        let Some(active) = &mut self.active else {
            return;
        };
        let expired = active.deferrals.expire(now, is_idle, forget_after);
        if !expired.is_empty() {
            active.signals.push_back(Signal::DropDeferrals(expired));
        }
        while let Some(id) = active.calls.next_overdue(now) {
            active.signals.push_back(Signal::Drop(id));
        }
    }

    /// Puts the agent's run off until its turn comes, if it may not run now and that may change. `None`
    /// where it may run, or never may.
    pub(crate) fn defer(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        agent: AgentKey,
        key: DeferralKey,
    ) -> Option<(Reason, Option<DeferralKey>)> {
        self.tick(cx, now);
        let reason = self.machine.explain(agent);
        let never = matches!(reason, Reason::Dead | Reason::Archived | Reason::NotRegistered);
        if reason.allows() || never {
            return None;
        }
        let until = now + self.machine.config().forget_after;
        Some((reason, self.active().deferrals.defer(agent, key, until)))
    }

    /// The run that was permitted just now is guarded. Also returns whether this is its first guard: a call may
    /// be delivered twice.
    pub(crate) fn guard(
        &mut self,
        agent: AgentKey,
        turn: Option<TurnId>,
        run: Option<RunId>,
    ) -> (Guarded, bool) {
        let calls = &mut self.active().calls;
        let guarded = Guarded { agent, turn, run, starts: calls.starts() };
        (guarded, calls.guards_first(guarded))
    }

    /// Whether no other run has begun since this one did.
    pub(crate) fn is_newest_run(&self, guarded: Guarded) -> bool {
        let starts = self.active.as_ref().map(|active| active.calls.starts());
        starts == Some(guarded.starts)
            && guarded.turn.is_none_or(|turn| turn == self.machine.view().turn())
    }

    /// Gives the guard of this run up if the permission was taken away since it was given. Returns why.
    pub(crate) fn unguard_withdrawn(&mut self, guarded: Guarded) -> Option<Reason> {
        if self.is_permitted(guarded) {
            return None;
        }
        self.unguard(guarded);
        let why = self.machine.explain(guarded.agent);
        Some(if why.allows() { Reason::RunAlreadyEnded } else { why })
    }

    /// Whether this run has the permission, and may go on.
    fn is_permitted(&self, guarded: Guarded) -> bool {
        let Guarded { agent, turn, run, .. } = guarded;
        let view = self.machine.view();
        let has_floor = match turn {
            Some(_) => {
                let runs = matches!(view.phase(), PhaseKind::Running | PhaseKind::Waiting);
                runs && view.speaker() == Some(agent)
            }
            None => view.permit() == Some(agent),
        };
        let is_newest = self.is_newest_run(guarded);
        has_floor && is_newest && view.run() == run && !self.commit.is_taken_over()
    }

    /// The guard of this run says nothing more.
    pub(crate) fn unguard(&mut self, guarded: Guarded) {
        if let Some(active) = &mut self.active {
            active.calls.unguard(guarded);
        }
    }

    /// Another process has the channel: nothing is done here any more.
    pub(crate) fn abandon(&mut self) {
        self.commit.abandon();
        let Some(active) = &mut self.active else {
            return;
        };
        let Active { calls, consult, signals, voice, cleanup, claims, .. } = &mut **active;
        claims.withdraw_all();
        let (current, abandoned) = calls.abandon();
        signals.extend(current.map(Signal::Cancel));
        signals.extend(abandoned.into_iter().map(Signal::Drop));
        signals
            .extend(consult.take().and_then(|consult| consult.under_way).map(Signal::DropConsult));
        voice.clear();
        cleanup.clear();
        (active.reply, active.withdrawn) = (None, None);
    }

    /// The driver is about to end: a record that was refused is tried once more.
    pub(crate) const fn store_before_end(&mut self) {
        self.commit.hurry();
    }

    /// The driver ends: the agents that run are told.
    pub(crate) fn cancel_for_end(&mut self) {
        if let Some(active) = &mut self.active {
            active.signals.extend(active.calls.under_way().map(Signal::Cancel));
        }
    }

    /// When something is due, if nothing happens before.
    pub(crate) fn next_deadline(&self) -> Option<Timestamp> {
        let machine = self.machine.next_deadline().map(|deadline| deadline.at);
        let commit = self.commit.next_at();
        let hold = self.marks.hold_until();
        let own = self.active.as_ref().and_then(|active| active.next_deadline(self.at));
        let own =
            [commit, hold, own, self.reply_given_up_at(), self.overrun_at()].into_iter().flatten();
        // What is due already waits for something else: a commit, an answer, a resume.
        own.filter(|moment| *moment > self.at).chain(machine).min()
    }

    /// Whether a commit, or a reply that may go, is still to be finished by a driver that ends.
    pub(crate) fn is_finishing(&self) -> bool {
        let replies = self.active.as_ref().is_some_and(|active| active.reply.is_some());
        let is_due = !self.commit.is_clean() || (replies && self.reply_may_go());
        is_due && !self.commit.is_given_up()
    }

    /// Whether the room may have an action to offer.
    pub(crate) fn may_act(&self) -> bool {
        let commits = !self.commit.is_clean() && !self.commit.is_under_way();
        commits || self.active.as_ref().is_some_and(|active| active.may_act())
    }

    /// The record of this channel is damaged: by an operator's act the next commit takes its place.
    /// `sound`: its revision, where only the machine could not be restored from it.
    pub(crate) fn replace_damaged(&mut self, sound: Option<Revision>) {
        self.commit.replace_damaged(sound);
    }

    /// Whether the channel's record is damaged, and no operator has given the channel a mode yet.
    pub(crate) fn is_damaged(&self) -> bool {
        self.commit.is_damaged() && self.machine.view().mode() == Mode::None
    }

    /// Whether nothing is under way, so that the room may leave memory: its record says it all.
    pub(crate) fn is_at_rest(&self) -> bool {
        let idle = self.active.as_ref().is_none_or(|active| active.is_idle());
        idle && self.commit.is_clean()
            && !self.marks.has_gap()
            && self.next_deadline().is_none()
            && self.machine.pending().is_empty()
    }
}
