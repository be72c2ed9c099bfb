//! Actions that end.

use std::sync::Arc;
use std::time::Duration;

use dirigent_core::{AgentKey, MessageId, Timestamp};

use super::super::action::{ActionId, AgentAnswer, ConsultAnswer, Outcome};
use super::super::attempts::Failure;
use super::chat::{MODERATOR, PERSON, ROOM, user_of};
use super::flight::{Fate, Flight, What};
use super::start::later;
use super::world::{Fixed, Plan, World, note};
use crate::ports::turn::Said;
use crate::ports::waker::WakeOutcome;
use crate::record::channel::ReplyEnd;
use crate::runtime::perform::report_of;
use crate::values::embed::Embed;
use crate::values::error::{Certainty, ErrorKind};
use crate::values::extras::{AllowedMentions, Extras};
use crate::values::reply_file::ReplyFile;

impl World {
    /// The request does what it asks for.
    pub(super) fn take_effect(&mut self, flight: &mut Flight) {
        match &mut flight.what {
            What::Post { account, post } if flight.landed.is_none() => {
                let at = flight.ready_at.map_or(self.now, |at| at.min(self.now));
                let (id, fresh) = self.chat.land(at, *account, post);
                if fresh {
                    self.books.part_landed(post.nonce.as_str());
                }
                note!(self, "  landed {} {fresh}", id.get());
                self.heed(post);
                flight.landed = Some(id);
            }
            What::Commit(commit) => {
                if let Some(commit) = commit.take() {
                    flight.stored = Some(self.store.commit(commit));
                }
            }
            What::Delete(message) => self.chat.delete(*message),
            _ => {}
        }
    }

    /// Ends one action.
    pub(super) fn finish(&mut self, at: usize) {
        let mut flight = self.flights.swap_remove(at);
        let outcome = self.outcome(&mut flight);
        note!(self, "end {} {}", flight.id.0, told(&outcome));
        let (read, report) = (self.unknown_of(&outcome), report_of(&outcome, self.now));
        if let Some(admitted) = self.room.done(&self.fixed.context(), self.now, flight.id, outcome)
        {
            self.admission.report(self.now, &admitted, report);
        }
        self.note_heard(&read);
        self.after();
    }

    /// What of a page the room has not heard.
    fn unknown_of(&self, outcome: &Outcome) -> Vec<MessageId> {
        let Outcome::Page(page) = outcome else {
            return Vec::new();
        };
        let ids = page.iter().map(|message| message.id);
        ids.filter(|id| !self.room.marks.is_known(*id)).collect()
    }

    /// Of these messages the room heard those that it knows now: a page in which it looks for a reply of its own is not heard.
    fn note_heard(&mut self, read: &[MessageId]) {
        let Fixed { settings, config, up_since, .. } = &self.fixed;
        let wake_max = settings.time_limits.missed_wake_max;
        let is_recent = |sent: Timestamp| {
            let most = if sent >= up_since.at() {
                wake_max.max(config.deadlines.outage_max)
            } else {
                wake_max
            };
            self.now.since(sent) < most
        };
        for id in read.iter().filter(|id| self.room.marks.is_known(**id)) {
            self.books.read(*id, is_recent);
        }
    }

    fn outcome(&mut self, flight: &mut Flight) -> Outcome {
        let began = flight.began;
        let failed = |kind, certainty, retry_after| {
            Outcome::Failed(Failure { kind, code: None, certainty, retry_after, began })
        };
        let is_answer = matches!(flight.what, What::Call { .. } | What::Consult);
        if is_answer {
            return self.answer(flight);
        }
        let timed_out = flight.time_out.is_some_and(|at| at <= self.now)
            || flight.not_after.is_some_and(|at| at <= self.now);
        match flight.fate {
            Fate::Done => {
                self.take_effect(flight);
                if timed_out {
                    return failed(ErrorKind::NoAnswer, Certainty::Unknown, None);
                }
                self.success(flight)
            }
            Fate::Unheard => {
                self.take_effect(flight);
                let kind = if timed_out { ErrorKind::NoAnswer } else { ErrorKind::Unavailable };
                failed(kind, Certainty::Unknown, None)
            }
            Fate::Lost => {
                let kind = if timed_out { ErrorKind::NoAnswer } else { ErrorKind::Unavailable };
                failed(kind, Certainty::Unknown, None)
            }
            Fate::Late => {
                match &mut flight.what {
                    What::Post { account, post } => {
                        let given_up = flight.ready_at.map_or(self.now, |at| at.min(self.now));
                        let at = later(given_up, self.dice.below(20_000));
                        self.chat.late.push((at, *account, post.clone()));
                    }
                    What::Commit(commit) => self.store.late = commit.take(),
                    _ => {}
                }
                failed(ErrorKind::NoAnswer, Certainty::Unknown, None)
            }
            Fate::Refused(kind) => failed(kind, Certainty::NotDone, None),
            Fate::Limited(wait) => {
                if matches!(flight.what, What::History(_)) {
                    let until = &mut self.books.reads_limited_until;
                    *until = (self.now + wait).max(*until);
                }
                failed(ErrorKind::RateLimited, Certainty::NotDone, Some(wait))
            }
        }
    }

    fn success(&mut self, flight: &Flight) -> Outcome {
        match &flight.what {
            What::Commit(_) => match flight.stored {
                Some(Ok(revision)) => Outcome::Committed(revision),
                Some(Err(_)) | None => Outcome::Conflict,
            },
            What::ReadBack => Outcome::Record(self.store.load().map(Box::new)),
            What::Post { .. } => Outcome::Posted(flight.landed.unwrap_or_default()),
            What::Wake { agent } => {
                if self.dice.chance(300) {
                    return Outcome::WakeOutcome(WakeOutcome::PostTrigger);
                }
                let at = later(self.now, self.dice.below(5_000));
                self.plans.push((at, Plan::Ask(*agent)));
                Outcome::WakeOutcome(WakeOutcome::Delivered)
            }
            What::Delete(_) => Outcome::Deleted,
            What::Members => {
                let sees = |agent: &u32| !self.absent.contains(&AgentKey::new(*agent));
                let agents = (0..self.fixed.agents).filter(sees).map(user_of);
                Outcome::Members(agents.chain([MODERATOR, PERSON]).collect())
            }
            What::History(request) => {
                let page = self.chat.page(request.channel, request.after, request.limit);
                if request.channel == ROOM {
                    for message in &page {
                        self.ledger.tell(message.id);
                    }
                }
                Outcome::Page(page)
            }
            What::WakeRoom => Outcome::RoomWoken,
            What::Call { .. } | What::Consult => Outcome::Deleted,
        }
    }

    fn answer(&mut self, flight: &Flight) -> Outcome {
        let is_dropped = flight.fate != Fate::Done;
        if self.is_exact {
            self.call_ended(flight, true);
            return self.answer_exactly();
        }
        let drawn = self.dice.below(100);
        let says = !is_dropped && !self.calm && drawn < 70;
        if matches!(flight.what, What::Consult) {
            return Outcome::Consulted(match drawn {
                _ if is_dropped => ConsultAnswer::Failed,
                0..=49 => ConsultAnswer::Say { text: "answer".to_owned(), extras: None },
                50..=79 => ConsultAnswer::Pass,
                _ => ConsultAnswer::Failed,
            });
        }
        let answer = if says {
            let end = match self.dice.below(20) {
                0 => ReplyEnd::AwaitsHuman,
                1 => ReplyEnd::Unfinished,
                _ => ReplyEnd::Finished,
            };
            AgentAnswer::Say { said: self.said(), end }
        } else if is_dropped || drawn > 92 {
            AgentAnswer::Failed
        } else {
            AgentAnswer::Pass
        };
        self.call_ended(flight, !matches!(answer, AgentAnswer::Failed));
        Outcome::Answered { answer, took_all: flight.took_all }
    }

    /// A call was taken away. Unless that is because the channel was stopped, it counts as a failure.
    pub(super) fn call_cancelled(&mut self, id: ActionId) {
        let is_stopped = self.room.look().machine().view().pause().is_some();
        let flight =
            self.flights.iter().find(|flight| flight.id == id && flight.cancelled.is_none());
        let Some(What::Call { agent, turn, words, .. }) = flight.map(|flight| &flight.what) else {
            return;
        };
        if !is_stopped {
            if let Err(why) = self.ledger.ended((*agent, *turn), words, false) {
                self.books.fail(why);
            }
        }
    }

    /// What an agent was called with is done with, unless its turn was taken away before.
    pub(super) fn call_ended(&mut self, flight: &Flight, is_well: bool) {
        let What::Call { agent, turn, run, words } = &flight.what else {
            return;
        };
        let calls = self.room.active.as_ref().map(|active| &active.calls);
        let current = calls.and_then(|calls| calls.current()).map(|call| call.run);
        if flight.cancelled.is_some() || current != Some(*run) {
            return;
        }
        let mut words = words.clone();
        if is_well && flight.took_all {
            words.extend(&flight.taken);
        }
        if let Err(why) = self.ledger.ended((*agent, *turn), &words, is_well) {
            self.books.fail(why);
        }
    }

    /// What a hosted agent says: of four replies one has more than words, or nothing but an embed or a file.
    fn said(&mut self) -> Said {
        let words = self.text();
        // No number is drawn: other worlds go as they went.
        let kind = self.number % 16;
        let reply_to = self.chat.said.last().map(|message| message.id);
        let embeds = vec![Embed::new().title(format!("e{}", self.number))];
        let mentions = AllowedMentions::new().user(PERSON);
        let files = vec![ReplyFile::new(format!("f{}", self.number), *b"bytes")];
        let extras = match kind {
            1 => Extras { files, ..Extras::default() },
            9 => Extras { embeds, files, ..Extras::default() },
            13 => {
                let extras = Some(Arc::new(Extras { files, ..Extras::default() }));
                return Said { words: Arc::default(), extras };
            }
            0 => Extras { embeds, ..Extras::default() },
            4 => Extras { reply_to, mentions, ..Extras::default() },
            8 => Extras { embeds, reply_to, mentions, ..Extras::default() },
            2 | 6 | 10 if self.hands_over => {
                let next = Some(format!("agent-{}", self.number / 16 % 5).into());
                Extras { next, ..Extras::default() }
            }
            12 => {
                let extras = Extras { embeds, reply_to, ..Extras::default() };
                return Said { words: Arc::default(), extras: Some(Arc::new(extras)) };
            }
            _ => return Said::words(&words),
        };
        Said { words: words.into(), extras: Some(Arc::new(extras)) }
    }

    /// The words of a hosted agent: seldom more than one part, sometimes with equal parts.
    fn text(&mut self) -> String {
        self.number += 1;
        let number = self.number;
        if !self.dice.chance(60) {
            return format!("r{number}");
        }
        let parts = 2 + self.dice.below(3);
        let equal = self.dice.chance(300);
        let mut text = String::with_capacity(2_000 * 4);
        for part in 0..parts {
            let shown = if equal { 0 } else { part };
            let head = format!("r{number}p{shown} ");
            text.push_str(&head);
            text.push_str(&"x".repeat(1_990 - head.len()));
            text.push_str("\n\n");
        }
        text
    }

    /// What was in flight when the process died took effect, or did not, or will.
    pub(super) fn settle_flights(&mut self) {
        for mut flight in std::mem::take(&mut self.flights) {
            let may = matches!(flight.fate, Fate::Done | Fate::Unheard | Fate::Late);
            if !may || !self.dice.chance(500) {
                continue;
            }
            match &flight.what {
                What::Post { account, post }
                    if self.dice.chance(300) && flight.landed.is_none() =>
                {
                    let ended = flight.ready_at.map_or(self.now, |at| at.min(self.now));
                    let at = later(ended, self.dice.below(10_000));
                    self.chat.late.push((at, *account, post.clone()));
                }
                _ => self.take_effect(&mut flight),
            }
        }
        if let Some(late) = self.store.late.take() {
            if self.dice.chance(500) {
                let _ = self.store.commit(late);
            }
        }
    }

    /// Posts that arrive long after they were given up.
    pub(super) fn land_late(&mut self) {
        let now = self.now;
        // Requests under way arrive in their time, although no process waits for them.
        let mut flights = std::mem::take(&mut self.flights);
        for flight in &mut flights {
            let arrives = matches!(flight.fate, Fate::Done | Fate::Unheard);
            if arrives && flight.is_ready(now) && matches!(flight.what, What::Post { .. }) {
                self.take_effect(flight);
            }
        }
        self.flights = flights;
        while let Some(place) = self.chat.late.iter().position(|(at, ..)| *at <= now) {
            let (at, account, post) = self.chat.late.swap_remove(place);
            let (id, fresh) = self.chat.land(at, account, &post);
            note!(self, "landed late {} {fresh} {}", id.get(), post.nonce.as_str());
            if fresh {
                self.books.part_landed(post.nonce.as_str());
            }
            self.heed(&post);
        }
        if self.store.late.is_some() && self.dice.chance(100) {
            if let Some(late) = self.store.late.take() {
                let _ = self.store.commit(late);
            }
        }
    }

    pub(super) fn soon(&mut self, most_millis: u64) -> Timestamp {
        self.now + Duration::from_millis(self.dice.below(most_millis))
    }
}

fn told(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Page(messages) => {
            format!("page {:?}", messages.iter().map(|m| m.id.get()).collect::<Vec<_>>())
        }
        Outcome::Record(_) => "record".to_owned(),
        other => format!("{other:?}").chars().take(120).collect(),
    }
}
