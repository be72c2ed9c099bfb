//! One channel as a value. Events go in, and actions come out.
//!
//! A room decides everything about its channel that the turn machine leaves open. It decides what is stored and when,
//! what is posted and retried, what was heard and what is read, and which agent is called. It has no clock, lock, task
//! or I/O. The runtime gives it events with their time, performs its signals at once and its actions as futures, and
//! returns their outcomes.
//!
//! Each event makes a [`Step`], which borrows the whole room. Its methods stand in a file for each topic. At the end of
//! the event the step puts the turn machine's effects into the lanes, and brings all lanes in line with the machine.
//!
//! A *lane* is the state of one topic. It is a value with its own tests.
//!
//! | topic | lanes | methods of the step |
//! | --- | --- | --- |
//! | the machine and what is stored | `turns`, `commit`, `restored`, `refused`, `record` | |
//! | posts in the channel: triggers, notices, reminders | `voice`, `words` | `speaking` |
//! | a hosted reply, part by part | `reply`, `delivery` | `replying` |
//! | calls of hosted agents, runs of hosts | `calls`, `deferrals`, `overrun` | `calling`, `guards` |
//! | bots that run without asking | `observed` | `observed` |
//! | questions to the orchestrator | `calls` | `consulting` |
//! | messages, and what each agent was handed | `inbox`, `texts`, `marks`, `talk` | `hearing`, `handing`, `recollection` |
//! | reads of the chat's history and members | `reads` | `pages` |
//! | whether the chat answers, and can be heard | `chat_health` | `connection` |
//! | a discussion's guide and result | `outbox`, `delivery` | |
//! | deletions | `cleanup` | |
//! | requests: under way, repeated | `requests`, `attempts` | |
//!
//! `step` is one event from its start to its end, `settling` brings all lanes in line with the machine, `offer` and
//! `doorway` choose the next action, and `done` takes its outcome. `action` is the vocabulary, `active` has the lanes
//! of an active channel, and `look` is the view from outside. `context` and `directory` are the things that a room sees
//! and does not own, and `closing` is its end.

pub(crate) mod action;
mod active;
pub(crate) mod addressing;
pub(crate) mod attempts;
mod beside;
mod calling;
pub(crate) mod calls;
pub(crate) mod chat_health;
mod cleanup;
mod closing;
mod commands;
pub(crate) mod commit;
pub(crate) mod connection;
mod consulting;
pub(crate) mod context;
mod deferrals;
mod delivery;
pub(crate) mod directory;
mod done;
pub(crate) mod doorway;
pub(crate) mod guards;
mod handing;
mod hearing;
pub(crate) mod inbox;
pub(crate) mod look;
mod marks;
pub(crate) mod observed;
mod offer;
pub(crate) mod outbox;
mod overrun;
mod pages;
mod reads;
mod recollection;
pub(crate) mod record;
pub(crate) mod refused;
mod reply;
mod replying;
mod requests;
mod restored;
mod settling;
mod speaking;
mod step;
mod talk;
pub(crate) mod texts;
mod turns;
mod voice;
mod words;

#[cfg(test)]
mod simulation;

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{
    AgentKey, Answer, Author, DeadlineReason, Input, MessageId, MessageKind, Reason, Refusal,
    Timestamp,
};

use self::action::{ActionId, Outcome, Signal};
use self::active::Active;
use self::commit::Stamp;
use self::commit::news::Announcement;
use self::connection::Gateway;
use self::context::Context;
use self::doorway::Doorway;
use self::guards::Guards;
use self::hearing::{digest, tail_of};
use self::inbox::{Inbox, Leftovers};
use self::look::Look;
use self::marks::Marks;
use self::outbox::Undelivered;
use self::step::Step;
use self::turns::Turns;
use crate::admission::Admitted;
use crate::record::discussion::Discussion;
use crate::values::deferral_key::DeferralKey;
use crate::values::summary::Summary;
use crate::{ChannelId, ChatMessage};

/// One channel: its turn machine, and everything that carries out the machine's decisions.
#[derive(Debug)]
pub(crate) struct Room {
    /// The time of the last event.
    at: Timestamp,
    turns: Turns,
    marks: Marks,
    /// The terms of the discussion, from when it was opened.
    discussion: Option<Arc<Discussion>>,
    /// The state that only an active channel has.
    active: Option<Box<Active>>,
}

impl Room {
    pub(crate) const fn id(&self) -> ChannelId {
        self.turns.channel
    }

    pub(crate) fn look(&self) -> Look<'_> {
        let Self { at, turns, marks, discussion, active, .. } = self;
        let (discussion, active) = (discussion.as_ref(), active.as_deref());
        Look { at: *at, turns, marks, discussion, active }
    }

    /// Returns the recent messages, with the agents that got them. An idle room has none.
    pub(crate) fn inbox(&mut self) -> Option<&mut Inbox> {
        Some(&mut self.active.as_mut()?.inbox)
    }

    /// Takes back the leftovers for agents' next turns, because this room was in memory before.
    pub(crate) fn keep_leftovers(&mut self, leftovers: Leftovers) {
        self.active.get_or_insert_default().inbox.keep_leftovers(leftovers);
    }

    pub(crate) fn guards(&mut self) -> Guards<'_> {
        let Active { calls, inbox, .. } = &mut **self.active.get_or_insert_default();
        Guards { turns: &self.turns, calls, inbox }
    }
}

impl Room {
    /// Sets the room's clock. If `now` is earlier than the last event, every deadline shifts back by the difference, so
    /// that the remaining waits are unchanged.
    #[inline]
    fn reach(&mut self, now: Timestamp) {
        if now < self.at {
            self.move_back(self.at.since(now));
        }
        self.at = now;
    }

    #[cold]
    fn move_back(&mut self, by: Duration) {
        self.marks.move_back(by);
        self.turns.commit.move_back(by);
        if let Some(active) = &mut self.active {
            active.move_back(by);
        }
    }

    fn step<'a>(&'a mut self, cx: &'a Context<'_>, now: Timestamp) -> Step<'a> {
        let Self { turns, marks, discussion, active, .. } = self;
        let lanes = match active {
            Some(active) => active,
            None => active.insert(Box::default()),
        };
        Step { cx, now, turns, marks, discussion: discussion.as_ref(), lanes }
    }

    /// Brings everything in line with the machine's current state. A channel without activity gets no lanes for that.
    fn settle(&mut self, cx: &Context<'_>, now: Timestamp) {
        if self.active.is_some() || self.turns.has_follows() {
            return self.step(cx, now).settle();
        }
        self.marks.expire_hold(now);
        if !self.turns.keeps_turns() {
            self.marks.drop_gap();
        }
    }

    /// Handles an event that the lanes see.
    fn event(&mut self, cx: &Context<'_>, now: Timestamp, event: impl FnOnce(&mut Step<'_>)) {
        self.reach(now);
        let mut step = self.step(cx, now);
        event(&mut step);
        step.settle();
    }
}

impl Room {
    /// Feeds an input to the turn machine. With `for_good`, the caller is answered only after the new state is on the
    /// disk. The stamp is that of the state after the input.
    pub(crate) fn input(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        input: &Input,
        for_good: bool,
    ) -> (Result<Answer, Refusal>, Stamp) {
        self.reach(now);
        let answer = self.turns.submit(cx, now, input);
        if for_good && answer.is_ok() {
            self.turns.commit.change_for_good();
        }
        self.settle(cx, now);
        (answer, self.turns.commit.newest())
    }

    /// Fires every deadline that has passed.
    pub(crate) fn tick(&mut self, cx: &Context<'_>, now: Timestamp) {
        // The machine moves its own deadlines only with an input. Without one, a clock that stepped back once hid that
        // an agent had fallen silent.
        let is_set_back = now < self.at;
        self.reach(now);
        let due = self.turns.machine.next_deadline().filter(|deadline| deadline.at <= now);
        if is_set_back || due.is_some() {
            let _ = self.turns.submit(cx, now, &Input::Tick);
        }
        if due.is_some_and(|due| due.reason == DeadlineReason::Forget) {
            // The turn machine forgets the messages that it has seen, and the channel leaves memory. Afterwards an
            // event that was lost unnoticed could no longer be distinguished from those that were heard, so the room
            // looks for it now, once.
            let looks = cx.settings.time_limits.backfill.is_some();
            if looks && self.marks.is_unverified() {
                self.backfill();
            }
        }
        self.settle(cx, now);
    }

    pub(crate) fn pushed(&mut self, cx: &Context<'_>, now: Timestamp, message: ChatMessage) {
        self.event(cx, now, |step| step.pushed(message));
    }

    pub(crate) fn edited(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        mut message: ChatMessage,
    ) -> Result<Answer, Refusal> {
        let author = cx.directory.author(&message);
        cx.directory.name_author(&mut message, author);
        if let Author::Agent(agent) = author {
            // Bots that stream edit one message until the reply is whole, so each edit says that the run goes on.
            if cx.directory.observed(agent).is_some() {
                self.reach(now);
                self.step(cx, now).observe_edit(&message, agent);
            }
        }
        let tail = tail_of(cx, &message);
        let digest = digest(cx, &message, author, false);
        let edited = Input::MessageEdited { id: message.id, author, tail };
        if let Some(active) = &mut self.active {
            active.inbox.changed(message);
        }
        let answer = self.input(cx, now, &edited, false).0;
        let was_stop = |active: &Active| active.commands.stops.contains(&digest.id);
        // An edit away from a stop word is heard, too, so that a later edit back to it stops the channel again.
        if digest.kind == MessageKind::StopWord || self.active.as_deref().is_some_and(was_stop) {
            self.event(cx, now, |step| {
                step.hear_edit(&digest);
                step.sort();
            });
        }
        answer
    }

    pub(crate) fn deleted(&mut self, cx: &Context<'_>, now: Timestamp, message: MessageId) {
        if self.active.as_ref().is_some_and(|active| active.observed.is_some()) {
            self.event(cx, now, |step| step.observe_deletion(message));
        }
        if self.turns.machine.config().people.withdraw_deleted {
            self.event(cx, now, |step| {
                step.hear_deletion(message);
                step.sort();
            });
        } else if let Some(active) = &mut self.active {
            active.inbox.deleted(message);
        }
    }

    pub(crate) fn typing(&mut self, cx: &Context<'_>, now: Timestamp, agent: AgentKey) {
        self.event(cx, now, |step| step.observe_typing(agent));
    }

    pub(crate) fn gateway(&mut self, cx: &Context<'_>, now: Timestamp, news: Gateway) {
        self.event(cx, now, |step| {
            if step.gateway_tells(news) {
                step.hear_again();
            }
        });
    }

    /// Looks for messages that were lost unnoticed.
    pub(crate) fn backfill(&mut self) {
        if self.turns.keeps_turns() {
            let reads = &mut self.active.get_or_insert_default().reads;
            reads.want_backfill(&self.turns, &self.marks);
        }
    }

    /// Records a channel that was just created, with the guide to post in it.
    pub(crate) fn create(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        input: &Input,
        terms: Option<Discussion>,
    ) -> Result<Stamp, Refusal> {
        self.reach(now);
        self.turns.submit(cx, now, input)?;
        self.step(cx, now).sort();
        if let Some(terms) = terms {
            let outbox = self.active.get_or_insert_default().outbox.get_or_insert_default();
            let of = (self.turns.channel, now);
            outbox.owe_guide(cx, of, &mut self.turns.commit, &terms);
            self.discussion = Some(Arc::new(terms));
        }
        self.turns.commit.change_for_good();
        self.settle(cx, now);
        Ok(self.turns.commit.newest())
    }

    /// Concludes the discussion for its initiator.
    pub(crate) fn conclude(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        by: AgentKey,
        summary: Option<&Summary>,
    ) -> Result<Stamp, Refusal> {
        self.reach(now);
        let (channel, is_discussion) = (self.turns.channel, self.discussion.is_some());
        let mut step = self.step(cx, now);
        // The machine archives the channel in this step, and the outbox then takes its text from here.
        if is_discussion {
            let result = cx.settings.texts.result(channel, summary);
            step.lanes.outbox.get_or_insert_default().result = Some(result);
        }
        let answer = step.submit(&Input::Conclude { by });
        // A refused conclusion must leave no text behind for a later archive.
        if let Some(outbox) = &mut step.lanes.outbox {
            outbox.result = None;
        }
        answer?;
        step.turns.commit.change_for_good();
        step.settle();
        Ok(self.turns.commit.newest())
    }

    /// Handles an operator's decision about the undelivered part of the discussion.
    pub(crate) fn redress(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        what: Undelivered,
    ) -> Result<Stamp, Refusal> {
        self.reach(now);
        let outbox = self.active.as_mut().and_then(|active| active.outbox.as_mut());
        let (of, commit) = ((self.turns.channel, now), &mut self.turns.commit);
        let is_done = outbox.is_some_and(|outbox| outbox.redress(of, commit, what));
        if !is_done {
            return Err(Refusal::UnknownTicket);
        }
        self.turns.commit.change_for_good();
        self.settle(cx, now);
        Ok(self.turns.commit.newest())
    }

    /// Defers the agent's run until its turn comes, if it may not run now and that may change. `None` if it may run, or
    /// never may.
    pub(crate) fn defer(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        agent: AgentKey,
        key: DeferralKey,
    ) -> Option<(Reason, Option<DeferralKey>)> {
        self.tick(cx, now);
        let machine = &self.turns.machine;
        let reason = machine.explain(agent);
        // Waiting would not help these agents.
        let never = matches!(reason, Reason::Dead | Reason::Archived | Reason::NotRegistered);
        if reason.allows() || never {
            return None;
        }
        let until = now + machine.config().members.forget_after;
        let deferrals = &mut self.active.get_or_insert_default().deferrals;
        Some((reason, deferrals.get_or_insert_default().defer(agent, key, until)))
    }

    /// Records that the host of a deferred run learned of the turn, or that its caller no longer waited.
    pub(crate) fn deferral_told(&mut self, cx: &Context<'_>, now: Timestamp, told: bool) {
        self.event(cx, now, |step| {
            if told {
                step.deferral_told();
            }
        });
    }
}

impl Room {
    /// Returns the next event for listeners. The caller publishes it at once.
    pub(crate) fn next_news(&mut self) -> Option<Announcement> {
        self.turns.commit.next_news()
    }

    /// Returns the next signal. The caller performs it at once.
    pub(crate) fn next_signal(&mut self) -> Option<Signal> {
        self.active.as_mut()?.signals.pop_front()
    }

    /// Starts the next action that may start now, and puts it into the doorway. Returns whether there was one. Only the
    /// driver's loop calls it, until there is none.
    pub(crate) fn next_action(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        door: &mut Doorway<'_>,
    ) -> bool {
        // Other rooms may use memory that no commit of this room needs.
        if let Some(spare) = self.turns.commit.returned.take() {
            door.buffers.put(spare);
        }
        if !self.look().may_act() {
            return false;
        }
        self.reach(now);
        self.step(cx, now).next_action(door)
    }

    /// Handles the end of an action. Returns what it was admitted for, if it needed that. An action that is no longer
    /// in progress is ignored.
    pub(crate) fn done(
        &mut self,
        cx: &Context<'_>,
        now: Timestamp,
        id: ActionId,
        outcome: Outcome,
    ) -> Option<Admitted> {
        self.reach(now);
        let mut step = self.step(cx, now);
        let ended = step.lanes.requests.end(id)?;
        let admitted = ended.1;
        step.conclude(id, ended, outcome);
        // From here on runs and posts are the new owner's, so even a reply in progress ends here.
        if step.turns.commit.is_taken_over() {
            step.turns.abandon();
            step.lanes.abandon(now);
        }
        step.settle();
        admitted
    }

    /// Retries at once, because the chat answers again, or because it is this room's turn to ask whether it does.
    pub(crate) fn retry_now(&mut self) {
        if let Some(active) = &mut self.active {
            active.retry_now();
        }
    }
}
