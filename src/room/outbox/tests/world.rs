//! An outbox with its chat and store, and time.

use std::collections::VecDeque;

use super::chat::{Answer, Chat};
use super::*;

/// How long a request without an answer lasts.
const TIME_OUT: Duration = Duration::from_secs(10);

struct Flight {
    ends: Timestamp,
    began: Timestamp,
    kind: OutboxKind,
    answer: Answer,
}

struct Commit {
    ends: Timestamp,
    messages: Vec<OutboxMessage>,
}

pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) outbox: Bench,
    pub(super) chat: Chat,
    /// The messages that are stored.
    pub(super) record: Vec<OutboxMessage>,
    /// What happens to the next posts; afterwards they succeed.
    pub(super) post_faults: VecDeque<Fault>,
    /// What happens to the next reads.
    pub(super) read_faults: VecDeque<Fault>,
    /// The requests that were made.
    pub(super) requests: Vec<OutboxAction>,
    /// What arrived: wake-ups of the room itself, and of the callback room.
    pub(super) arrived: Vec<OutboxKind>,
    /// How often a message was stored.
    pub(super) commits: usize,
    flights: Vec<Flight>,
    commit: Option<Commit>,
}

impl World {
    pub(super) fn new(messages: Vec<OutboxMessage>) -> Self {
        let mut outbox = Bench::new(Outbox::default());
        for message in messages {
            outbox.write(message);
        }
        Self {
            now: at(0),
            outbox,
            chat: Chat::new(),
            record: Vec::new(),
            post_faults: VecDeque::new(),
            read_faults: VecDeque::new(),
            requests: Vec::new(),
            arrived: Vec::new(),
            commits: 0,
            flights: Vec::new(),
            commit: None,
        }
    }

    /// A world in which the messages are stored.
    pub(super) fn stored(messages: Vec<OutboxMessage>) -> Self {
        let mut world = Self::new(messages);
        world.record = world.outbox.messages();
        world.outbox.store(at(0));
        world
    }

    /// Does one thing that can be done now, or lets the next one come. Returns whether there is one.
    pub(super) fn step(&mut self) -> bool {
        if let Some(kind) = self.outbox.take_arrived() {
            self.arrived.push(kind);
            return true;
        }
        if self.commit.is_none() && self.outbox.needs_commit() {
            self.start_commit();
            return true;
        }
        if let Some((kind, action)) = self.outbox.next(self.now) {
            self.start(kind, action);
            return true;
        }
        if let Some(index) = self.flights.iter().position(|flight| flight.ends <= self.now) {
            self.end(index);
            return true;
        }
        if let Some(commit) = self.commit.take_if(|commit| commit.ends <= self.now) {
            self.record = commit.messages;
            self.outbox.committed();
            return true;
        }
        if self.commit.is_none() && self.flights.is_empty() && self.outbox.is_changed() {
            self.start_commit();
            return true;
        }
        let times = self.flights.iter().map(|flight| flight.ends);
        let times = times.chain(self.commit.as_ref().map(|commit| commit.ends));
        let moments = self.outbox.outbox.moments().filter(|at| *at > self.now);
        let Some(next) = times.chain(moments).min() else {
            return false;
        };
        self.now = self.now.max(next);
        self.chat.settle(self.now);
        true
    }

    pub(super) fn start_commit(&mut self) {
        if self.commit.is_none() {
            let messages = self.outbox.messages();
            let ends = self.now + Duration::from_millis(5);
            self.outbox.begin_commit(self.now);
            self.commit = Some(Commit { ends, messages });
            self.commits += 1;
        }
    }

    fn start(&mut self, kind: OutboxKind, action: OutboxAction) {
        let stored = self.record.iter().find(|message| message.kind == kind);
        let stored = stored.expect("a request starts only when its message is stored");
        let faults = match &action {
            OutboxAction::Post { part, to, content, not_after, .. } => {
                assert!(stored.tried, "a part is tried only when that is stored");
                assert!(stored.parts[..*part].iter().all(|part| part.posted.is_some()));
                assert_eq!((stored.to, &stored.parts[*part].content), (*to, content));
                assert!(self.now < *not_after);
                &mut self.post_faults
            }
            OutboxAction::NewestIn { .. } | OutboxAction::FindPage { .. } => &mut self.read_faults,
            OutboxAction::WakeRoom { .. } => {
                assert!(stored.parts.iter().all(|part| part.posted.is_some()));
                &mut self.read_faults
            }
        };
        let fault = faults.pop_front().unwrap_or(Fault::None);
        assert!(self.flights.iter().all(|flight| flight.kind != kind), "one at a time");
        let answer = self.chat.request(self.now, &action, fault);
        let is_silent = matches!(fault, Fault::Lost(_) | Fault::NotDelivered);
        let lasts = if is_silent { TIME_OUT } else { Duration::from_millis(50) };
        self.flights.push(Flight { ends: self.now + lasts, began: self.now, kind, answer });
        self.requests.push(action);
    }

    fn end(&mut self, index: usize) {
        let Flight { began, kind, answer, .. } = self.flights.remove(index);
        let mut facts = FACTS;
        let outcome = match answer {
            Answer::Page(page, is_readable) => {
                facts.may_be_hidden = !is_readable;
                Outcome::Page(page)
            }
            Answer::Posted(id) => Outcome::Posted(id),
            Answer::Failed(kind, certainty, retry_after) => {
                Outcome::Failed(Failure { kind, code: None, certainty, retry_after, began })
            }
            Answer::RoomWoken => Outcome::RoomWoken,
        };
        // Of the callback channel nothing is heard here.
        facts.is_heard = kind == OutboxKind::Guide;
        self.outbox.told(self.now, kind, outcome, Some(MODERATOR), &facts);
    }

    /// Goes on until nothing is left to do.
    pub(super) fn run(&mut self) {
        self.run_until(at(u64::MAX / 4));
    }

    /// Goes on until this time, or until nothing is left to do.
    pub(super) fn run_until(&mut self, end: Timestamp) {
        for _ in 0..100_000 {
            if self.now >= end || !self.step() {
                return;
            }
        }
        panic!("it does not come to an end");
    }

    /// The process ends, and another starts after this time. A commit that is under way is stored or
    /// not.
    pub(super) fn kill(&mut self, away: Duration, is_commit_stored: bool) {
        if let Some(commit) = self.commit.take().filter(|_| is_commit_stored) {
            self.record = commit.messages;
        }
        self.flights.clear();
        self.now = self.now + away;
        self.chat.settle(self.now);
        self.outbox = Bench::restore(self.now, self.record.clone());
    }

    /// Every part is in its channel, once and in order, and nothing is left to do.
    pub(super) fn assert_posted_once(&self, messages: &[OutboxMessage]) {
        for message in messages {
            let parts: Vec<_> = message.parts.iter().map(|part| &*part.content).collect();
            assert_eq!(self.chat.posted(message.to), parts, "{:?}", message.kind);
            assert!(self.arrived.contains(&message.kind));
        }
        assert!(self.outbox.outbox.is_empty() && self.record.is_empty());
        assert!(self.outbox.outbox.is_at_rest() && !self.outbox.is_changed());
    }

    pub(super) fn posts(&self) -> usize {
        let posts = self.requests.iter();
        posts.filter(|action| matches!(action, OutboxAction::Post { .. })).count()
    }
}
