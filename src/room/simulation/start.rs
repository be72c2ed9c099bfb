//! Actions that start: what must hold then, and what becomes of them.

use std::time::Duration;

use dirigent_core::snapshot::{PermitRun, Phase, State, WaitingFrom};
use dirigent_core::{AgentKey, Effect, RunId, Snapshot, Timestamp};

use super::super::action::{Account, Action, Started};
use super::books::delivery;
use super::chat::{Answers, ROOM, user_of};
use super::flight::{Fate, Flight, What};
use super::world::{World, note};
use crate::MessageId;
use crate::ports::discord::{Mentions, Post};
use crate::values::error::ErrorKind;
use crate::values::message::Nonce;

/// What a post is, by what is stored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stored {
    Part,
    Outbox,
    Trigger,
    Reminder,
    Notice,
    Answer,
    Nothing,
}

impl World {
    pub(super) fn begin(&mut self, started: Started) {
        let Started { id, action, time_out, not_after } = started;
        note!(self, "start {} {}", id.0, told(&action));
        self.books.begun(id);
        self.check_start(&action);
        let mut flight = Flight {
            id,
            what: What::Members,
            fate: Fate::Done,
            began: self.now,
            ready_at: None,
            time_out,
            not_after,
            landed: None,
            stored: None,
            cancelled: None,
            took_all: true,
            taken: Vec::new(),
        };
        flight.what = self.take_apart(action);
        if self.is_exact {
            flight.ready_at = Some(self.now);
        } else {
            self.draw_fate(&mut flight);
            let may = matches!(flight.fate, Fate::Done | Fate::Unheard);
            if may && self.dice.chance(500) {
                self.take_effect(&mut flight);
            }
        }
        note!(self, "  {:?} ready {:?}", flight.fate, flight.ready_at.map(|at| at.since(self.now)));
        self.flights.push(flight);
        if self.flights.len() > 32 {
            self.books.fail("too many actions are under way".to_owned());
        }
    }

    pub(super) fn take_apart(&mut self, action: Action) -> What {
        match action {
            Action::Commit(commit) => What::Commit(Some(commit)),
            Action::ReadBack => What::ReadBack,
            Action::Post { account, post } => What::Post { account, post },
            Action::Wake(request) => What::Wake { agent: request.agent },
            Action::Delete { message, .. } => What::Delete(message),
            Action::Members => What::Members,
            Action::History { request, .. } => What::History(request),
            Action::Call(request) => {
                let messages = &request.brought.messages;
                self.books.handed(messages.iter().map(|message| message.id));
                let ids = messages.iter().map(|message| message.id);
                let words: Vec<_> = ids.filter(|id| self.ledger.is_word(*id)).collect();
                let (agent, turn) = (request.agent, request.turn.unwrap_or_default());
                let marks = &self.room.marks;
                let inbox = self.room.active.as_ref().map(|active| &active.inbox);
                let left_out = |word| {
                    is_judged(word)
                        && marks.is_known(word)
                        && inbox.is_some_and(|inbox| inbox.leaves_out(agent, word))
                };
                if let Err(why) = self.ledger.called((agent, turn), &words, left_out) {
                    self.books.fail(why);
                }
                if request.late.is_some() {
                    self.books.reply =
                        self.books.reply.filter(|reply| reply.agent != request.agent);
                }
                What::Call { agent, turn, run: request.run, words }
            }
            Action::Consult(request) => {
                self.books.handed(request.messages.iter().map(|message| message.id));
                What::Consult
            }
            Action::WakeRoom { .. } => What::WakeRoom,
        }
    }

    fn draw_fate(&mut self, flight: &mut Flight) {
        let now = self.now;
        let soon = |millis| Some(now + Duration::from_millis(millis));
        let quick = self.dice.below(300);
        flight.ready_at = soon(quick);
        match flight.what {
            What::Commit(_) | What::ReadBack if self.store.answers == Answers::Refused => {
                flight.fate = Fate::Refused(ErrorKind::Store);
            }
            What::Commit(_) | What::ReadBack if self.store.answers == Answers::Hanging => {
                flight.fate = if self.dice.chance(200) { Fate::Unheard } else { Fate::Lost };
                flight.ready_at = flight.time_out;
            }
            What::Commit(_) | What::ReadBack => {
                if !self.calm && self.dice.chance(60) {
                    flight.fate = match self.dice.below(4) {
                        0 => Fate::Unheard,
                        1 => Fate::Lost,
                        2 => Fate::Late,
                        _ => Fate::Refused(ErrorKind::Store),
                    };
                    if self.dice.chance(300) {
                        flight.ready_at = flight.time_out;
                    }
                }
            }
            What::Call { .. } | What::Consult => {
                flight.ready_at = match self.dice.below(100) {
                    _ if self.calm => soon(quick),
                    0..=4 => None,
                    5..=20 => soon(self.dice.below(120_000)),
                    _ => soon(self.dice.below(8_000)),
                };
            }
            What::WakeRoom | What::Wake { .. } => {
                if !self.calm && self.dice.chance(100) {
                    flight.fate = Fate::Lost;
                    flight.ready_at = flight.time_out;
                }
            }
            What::Post { .. } | What::Delete(_) | What::Members | What::History(_) => {
                self.draw_request(flight, quick);
            }
        }
    }

    fn draw_request(&mut self, flight: &mut Flight, quick: u64) {
        let soon = |by: u64| Some(flight.began + Duration::from_millis(by));
        let is_post = matches!(flight.what, What::Post { .. });
        if self.calm {
            return;
        }
        if self.chat.answers == Answers::Refused {
            flight.fate = Fate::Refused(ErrorKind::Unavailable);
            return;
        }
        if self.chat.answers == Answers::Hanging || (self.chat.reads_hang && !is_post) {
            flight.fate = match self.dice.below(4) {
                0 => Fate::Unheard,
                1 => Fate::Late,
                _ => Fate::Lost,
            };
            flight.ready_at = flight.time_out;
            return;
        }
        match self.dice.below(100) {
            0..=1 => {
                flight.fate = Fate::Unheard;
                flight.ready_at = flight.time_out;
            }
            2 => flight.fate = Fate::Unheard,
            3 => flight.fate = Fate::Lost,
            4 => {
                flight.fate = Fate::Late;
                flight.ready_at = flight.time_out;
            }
            5 => {
                let wait = if self.dice.chance(100) { 400_000 } else { self.dice.below(20_000) };
                flight.fate = Fate::Limited(Duration::from_millis(wait));
            }
            6 if self.dice.chance(200) => flight.fate = Fate::Refused(ErrorKind::Forbidden),
            7 => flight.fate = Fate::Refused(ErrorKind::Unavailable),
            8..=12 => flight.ready_at = soon(self.dice.below(9_500)),
            _ => flight.ready_at = soon(quick),
        }
    }

    pub(super) fn check_start(&mut self, action: &Action) {
        let view = self.room.look().machine().view();
        let keeps = view.mode().keeps_turns();
        let archived = view.phase() == dirigent_core::PhaseKind::Archived;
        let paused = view.pause().is_some() || !keeps || archived;
        let rest = view.pause();
        match action {
            Action::Post { account, post } => {
                let stored = self.stored_post(*account, post);
                if stored == Stored::Nothing {
                    self.books
                        .fail(format!("{account:?} posts {:?}, which no record holds", post.nonce));
                }
                let exempt = matches!(stored, Stored::Outbox | Stored::Notice);
                if paused && !exempt {
                    self.books.fail(format!("{stored:?} starts although the room rests: {rest:?}"));
                }
                if matches!(stored, Stored::Trigger | Stored::Part) {
                    self.check_voice(None, stored == Stored::Part);
                }
            }
            Action::Wake(request) => {
                let (agent, turn) = (request.agent, request.turn);
                let is_it = |effect: &Effect| matches!(effect, Effect::Trigger { agent: a, turn: t, .. } if *a == agent && *t == turn);
                if paused {
                    self.books.fail("an agent is woken although the room rests".to_owned());
                }
                self.check_pending("a wake", is_it);
                self.check_voice(None, false);
            }
            Action::Call(request) => {
                // A run that was permitted before a hold goes on.
                if paused && rest != Some(dirigent_core::view::Pause::Held) {
                    self.books
                        .fail(format!("an agent is called although the room rests: {rest:?}"));
                }
                let run = request.run;
                let snapshot = self.store.record.as_ref().map(|record| &record.snapshot);
                if !snapshot.is_some_and(|snapshot| runs(snapshot, run)) {
                    self.books.fail(format!("{run:?} is called, and no record says that it runs"));
                }
                self.check_voice(Some(run), false);
            }
            Action::Delete { message, is_own } => self.check_deletion(*message, *is_own),
            Action::Consult(request) => {
                let turn = request.turn;
                let is_it = |effect: &Effect| matches!(effect, Effect::Consult { turn: known, .. } if *known == turn);
                self.check_pending("a consultation", is_it);
            }
            Action::Commit(_)
            | Action::ReadBack
            | Action::Members
            | Action::History { .. }
            | Action::WakeRoom { .. } => {}
        }
    }

    /// What the record owes may be deleted, and a trigger that arrived after the record owed it no more.
    fn check_deletion(&mut self, message: MessageId, is_own: bool) {
        let Some(said) = self.chat.said.iter().find(|said| said.id == message) else {
            return;
        };
        if !is_own {
            let agents = (0..self.fixed.agents).map(AgentKey::new);
            let mut observed = agents.filter(|agent| self.is_observed(*agent));
            let is_by_one = observed.any(|agent| said.author == user_of(agent.get()));
            if !is_by_one || &*said.content != "[[pass]]" {
                self.books.fail(
                    "a message is removed that is no pass word of an observed agent".to_owned(),
                );
            }
            return;
        }
        if said.author != super::chat::MODERATOR {
            return self.books.fail("a message of another account is deleted".to_owned());
        }
        let owed = |pending: &dirigent_core::snapshot::PendingEffect| match pending.effect {
            Effect::Trigger { ticket, .. } => {
                let nonce = self.room.turns.nonce(ticket, pending.since);
                said.nonce == Some(nonce)
            }
            _ => false,
        };
        let record = self.store.record.as_ref();
        if record.is_some_and(|record| record.snapshot.pending.effects.iter().any(owed)) {
            self.books.fail("a trigger is deleted, and the record still owes it".to_owned());
        }
    }

    fn check_pending(&mut self, what: &str, is_it: impl Fn(&Effect) -> bool) {
        let record = self.store.record.as_ref();
        let owed = record.is_some_and(|record| {
            record.snapshot.pending.effects.iter().any(|pending| is_it(&pending.effect))
        });
        if !owed {
            self.books.fail(format!("{what} starts, and no record says that it is owed"));
        }
    }

    /// No other agent runs, and no other agent's reply is being delivered.
    fn check_voice(&mut self, run: Option<RunId>, is_part: bool) {
        let other = self.flights.iter().any(|flight| {
            let is_other =
                matches!(flight.what, What::Call { run: known, .. } if Some(known) != run);
            is_other && flight.cancelled.is_none() && !self.books.is_dropped(flight.id)
        });
        let has_reply = self.room.active.as_ref().is_some_and(|active| active.reply.is_some());
        let current = self.room.look().machine().view().run();
        if other || (has_reply && !is_part) {
            self.books
                .fail(format!("two voices: run {run:?} beside {current:?}, reply {has_reply}"));
        }
        let posting = self
            .flights
            .iter()
            .any(|flight| matches!(&flight.what, What::Post { account: Account::Agent(_), .. }));
        if posting {
            self.books.fail("something starts while a part is being posted".to_owned());
        }
    }

    /// What the record says that this post is.
    fn stored_post(&mut self, account: Account, post: &Post) -> Stored {
        let Some(record) = &self.store.record else {
            return Stored::Nothing;
        };
        let nonce = post.nonce.as_str();
        if let Account::Agent(agent) = account {
            let Some(outgoing) = record.outgoing.as_ref().filter(|out| out.agent == agent) else {
                return Stored::Nothing;
            };
            let at = outgoing.parts.iter().position(|part| part.nonce.as_str() == nonce);
            let Some(at) = at else {
                return Stored::Nothing;
            };
            if outgoing.parts[..at].iter().any(|part| part.posted.is_none()) {
                return Stored::Nothing;
            }
            self.books.part_leaves(nonce, delivery(&outgoing.parts), at);
            let is_last = at + 1 == outgoing.parts.len();
            let extras = outgoing.extras.as_deref().cloned().unwrap_or_default();
            let embeds = if is_last { extras.embeds.clone() } else { Vec::new() };
            // A reply that waited for three minutes shows what it followed.
            // The clock may have been set back since it was stored.
            let reply = self.room.active.as_ref().and_then(|active| active.reply.as_ref());
            let composed = reply.and_then(|reply| reply.stored().composed_at);
            let is_late = composed.is_some_and(|at| self.now.since(at) >= Duration::from_secs(180));
            let followed = outgoing.after.filter(|_| is_late);
            let answers = extras.reply_to.or(followed).filter(|_| at == 0);
            let pings = Mentions::from(&extras.mentions);
            // A chat may refuse them, and a process that died takes them with it.
            let has_files = is_last && !extras.files.is_empty();
            if !post.files.is_empty() && !has_files {
                self.books.fail(format!("part {at} brings files of another one"));
            }
            if post.content.is_empty() && post.embeds.is_empty() && post.files.is_empty() {
                self.books.fail(format!("part {at} is nothing"));
            }
            if (&*post.embeds, post.reply_to, &post.mentions) != (&*embeds, answers, &pings) {
                self.books.fail(format!("part {at} leaves without what its reply has: {extras:?}"));
            }
            return Stored::Part;
        }
        for message in &record.outbox {
            let at = message.parts.iter().position(|part| part.nonce.as_str() == nonce);
            if let Some(at) = at {
                self.books.part_leaves(nonce, delivery(&message.parts), at);
                let before = message.parts[..at].iter().all(|part| part.posted.is_some());
                return if message.tried && before { Stored::Outbox } else { Stored::Nothing };
            }
        }
        for pending in &record.snapshot.pending.effects {
            let Some(ticket) = pending.effect.ticket() else {
                continue;
            };
            let since = pending.since.as_millis();
            let named = |number| Nonce::from_parts(ROOM.get(), since, number);
            let is_answer = matches!(pending.effect, Effect::Consult { .. });
            let is_it = named(ticket.get()).as_str() == nonce
                || (is_answer
                    && (0..4).any(|part| {
                        named(ticket.get() & 0xff_ffff | part << 24).as_str() == nonce
                    }));
            if is_it {
                return match pending.effect {
                    Effect::Trigger { .. } => Stored::Trigger,
                    Effect::Reminder { .. } => Stored::Reminder,
                    Effect::Consult { .. } => Stored::Answer,
                    _ => Stored::Notice,
                };
            }
        }
        Stored::Nothing
    }
}

/// Whether the snapshot says that this run is permitted.
fn runs(snapshot: &Snapshot, run: RunId) -> bool {
    let State { floor, reminders, .. } = &snapshot.state;
    let permit = reminders.value().permit.map(|permit| permit.run);
    let permitted =
        matches!(permit, Some(PermitRun::Running { id: Some(known), .. }) if known == run);
    let running = matches!(floor.phase, Phase::Running { run: on, .. } if on.id == Some(run));
    let from = floor.waiting.as_ref().map(|waiting| waiting.from);
    let rests = matches!(from, Some(WaitingFrom::Running { run: Some(known), .. }) if known == run);
    permitted || running || rests
}

fn told(action: &Action) -> String {
    match action {
        Action::Commit(commit) => format!(
            "commit on {} {:?} outgoing {:?} handed {:?} unserved {:?} gap {:?}",
            commit.expected.get(),
            commit.record.snapshot.state.floor.phase,
            commit.record.outgoing.as_ref().map(|out| out.run),
            commit.record.handed,
            commit.record.unserved,
            commit.record.gap_from,
        ),
        Action::Post { account, post } => {
            let start: String = post.content.chars().take(24).collect();
            format!("post {account:?} {} {start:?}", post.nonce.as_str())
        }
        Action::Call(request) => format!(
            "call {:?} {:?} missed {:?} late {}",
            request.agent,
            request.run,
            request.brought.messages.iter().map(|message| message.id.get()).collect::<Vec<_>>(),
            request.late.is_some(),
        ),
        other => format!("{other:?}").chars().take(160).collect(),
    }
}

/// A time so far ahead.
pub(super) fn later(now: Timestamp, millis: u64) -> Timestamp {
    now + Duration::from_millis(millis)
}

/// Whether the word has an id of after the world's beginning. Before it there is one only where the clock was set back: what a
/// room reads begins later.
pub(super) fn is_judged(word: MessageId) -> bool {
    word.get() >> super::chat::SEQUENCE_BITS >= super::world::START
}
