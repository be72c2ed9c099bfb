//! One session: what it was told, and by which connection.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dirigent::UserId;
use dirigent::ports::Timestamp;
use serde_json::Value;
use tokio::sync::Notify;

use super::close::Close;
use super::faults::{GatewayFault, GatewayFaults};
use super::frame;
use super::identify::Identify;
use super::intents::Intents;
use super::line::{Due, Line, News};
use super::replay::Replay;
use super::shard::Shard;
use dirigent_testkit::Random;
use dirigent_testkit::memory_discord::PushFault;

/// How long a session without a connection may be resumed. Discord says "a few minutes".
const RESUME_WINDOW: Duration = Duration::from_secs(180);

/// How many events a session keeps for a resume.
pub(super) const REPLAY_MAX: usize = 1_000;

/// How many events may wait for a client that takes none.
const UNSENT_MAX: u64 = 65_536;

/// The state of a session, which lives longer than its connections.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) user: UserId,
    pub(super) intents: Intents,
    pub(super) shard: Shard,
    /// Whether large payloads may come packed by themselves.
    pub(super) packed: bool,
    /// From how many members on a guild is not listed in full.
    pub(super) large_threshold: u64,
    /// The newest number given.
    seq: u64,
    replay: Replay,
    line: Line,
    faults: Arc<GatewayFaults>,
    dice: Random,
    /// Faults of the next events, soonest first.
    planned: VecDeque<PushFault>,
    /// What a test or the dice ordered for the connection, each behind the position that the replay had
    /// reached: later events come after it.
    orders: VecDeque<(u64, GatewayFault)>,
    /// The connection that it speaks through.
    holder: Option<Holder>,
    /// The place of the next entry to send.
    cursor: u64,
    /// When its connection was lost.
    left_at: Option<Timestamp>,
    is_over: bool,
}

/// A connection that has a session.
#[derive(Clone)]
pub(super) struct Holder {
    pub(super) number: u64,
    /// Tells the connection that there is something to do.
    pub(super) bell: Arc<Notify>,
}

/// What a connection has to do for its session.
pub(super) enum Errand {
    /// Nothing more: the session is over, or another connection has it.
    Leave,
    /// Send these, then let this happen.
    Send { texts: Vec<Arc<str>>, order: Option<GatewayFault> },
}

impl Session {
    pub(super) fn new(
        id: String,
        user: UserId,
        identify: &Identify,
        faults: Arc<GatewayFaults>,
        dice: Random,
        holder: Holder,
    ) -> Self {
        Self {
            id,
            user,
            intents: identify.intents,
            shard: identify.shard,
            packed: identify.packed,
            large_threshold: identify.large_threshold,
            seq: 0,
            replay: Replay::new(REPLAY_MAX),
            line: Line::default(),
            faults,
            dice,
            planned: VecDeque::new(),
            orders: VecDeque::new(),
            holder: Some(holder),
            cursor: 0,
            left_at: None,
            is_over: false,
        }
    }

    /// Tells an event that no fault touches: an answer to what the client asked for.
    pub(super) fn tell(&mut self, name: &'static str, data: Value) {
        self.send(&Due { news: News { name, data }, copies: 1 });
        self.trim();
        self.ring();
    }

    /// Tells what happened, as faults have it. One planned for this session comes before `fault`, and
    /// that before those by chance.
    pub(super) fn push(&mut self, news: News, fault: Option<PushFault>, now: Timestamp) {
        let (by_chance, order) = self.faults.draw(&mut self.dice);
        let fault = self.planned.pop_front().or(fault).or(by_chance);
        for due in self.line.put(news, fault, now) {
            self.send(&due);
        }
        self.orders.extend(order.map(|order| (self.replay.end(), order)));
        self.trim();
        self.ring();
    }

    /// Lets the next event go wrong, or the one after those already planned.
    pub(super) fn plan(&mut self, fault: PushFault) {
        self.planned.push_back(fault);
    }

    /// Lets this happen to the connection, now or when there is one.
    pub(super) fn order(&mut self, fault: GatewayFault) {
        self.orders.push_back((self.replay.end(), fault));
        self.ring();
    }

    /// Lets things go wrong by another plan. What was planned stays planned.
    pub(super) fn set_faults(&mut self, faults: Arc<GatewayFaults>, dice: Random) {
        self.faults = faults;
        self.dice = dice;
    }

    /// Ends all faults and lets what they held back arrive.
    pub(super) fn stop_faults(&mut self) {
        self.faults = Arc::default();
        self.planned.clear();
        self.orders.clear();
        self.flush();
    }

    /// Lets everything arrive that a fault holds back.
    pub(super) fn flush(&mut self) {
        for due in self.line.take_all() {
            self.send(&due);
        }
        self.ring();
    }

    /// What this connection has to do now.
    pub(super) fn errand(&mut self, connection: u64, now: Timestamp) -> Errand {
        for due in self.line.take_due(now) {
            self.send(&due);
        }
        if self.is_over || !self.is_held_by(connection) {
            return Errand::Leave;
        }
        let until = self.orders.front().map_or_else(|| self.replay.end(), |(place, _)| *place);
        let until = until.max(self.cursor);
        let Some(texts) = self.replay.between(self.cursor, until) else {
            return Errand::Leave;
        };
        let texts = texts.collect();
        self.cursor = until;
        self.trim();
        Errand::Send { texts, order: self.orders.pop_front().map(|(_, order)| order) }
    }

    /// When an event that is held back goes out.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.line.due()
    }

    /// Gives the session to another connection, and replays every event after this number to it.
    /// `Err` says with what the connection ends; `Ok(false)` that too much was missed.
    pub(super) fn resume(
        &mut self,
        connection: Holder,
        seq: u64,
        now: Timestamp,
    ) -> Result<bool, Close> {
        if seq > self.seq {
            self.is_over = true;
            return Err(Close::InvalidSeq);
        }
        let place = self.replay.place_after(seq).filter(|_| !self.is_gone(now));
        let Some(place) = place else {
            self.is_over = true;
            return Ok(false);
        };
        // A connection that still had it learns that it has it no more.
        self.ring();
        self.holder = Some(connection);
        self.left_at = None;
        self.cursor = place;
        self.tell("RESUMED", serde_json::json!({}));
        Ok(true)
    }

    /// The connection is lost, or leaves it with this code.
    pub(super) fn leave(&mut self, connection: u64, code: Option<u16>, now: Timestamp) {
        if !self.is_held_by(connection) {
            return;
        }
        self.holder = None;
        self.left_at = Some(now);
        if code.is_some_and(Close::ends_session) {
            self.is_over = true;
        }
    }

    /// Ends it for good.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.ring();
    }

    /// Whether it can no longer be resumed. A clock that stepped back keeps it.
    pub(super) fn is_gone(&self, now: Timestamp) -> bool {
        let is_late = |left: Timestamp| now > left && now.since(left) > RESUME_WINDOW;
        self.is_over || self.left_at.is_some_and(is_late)
    }

    /// Whether a connection has it.
    pub(super) const fn is_connected(&self) -> bool {
        self.holder.is_some()
    }

    /// The newest number given.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    fn is_held_by(&self, connection: u64) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.number == connection)
    }

    fn ring(&self) {
        if let Some(holder) = &self.holder {
            holder.bell.notify_one();
        }
    }

    fn send(&mut self, due: &Due) {
        self.seq += 1;
        let text: Arc<str> = frame::dispatch(self.seq, due.news.name, &due.news.data).into();
        for _ in 0..due.copies {
            self.replay.add(self.seq, Arc::clone(&text));
        }
    }

    /// Forgets what need not be told again. A client that takes nothing loses its session.
    fn trim(&mut self) {
        let is_held = self.holder.is_some();
        if is_held && self.replay.end().saturating_sub(self.cursor) > UNSENT_MAX {
            self.is_over = true;
        }
        self.replay.trim(if is_held { self.cursor } else { self.replay.end() });
    }
}
