//! One session: its events, and its connection.

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

/// The longest time that a session without a connection can be resumed. Discord says "a few minutes".
const RESUME_WINDOW: Duration = Duration::from_secs(180);

/// The most events that a session stores for a resume.
pub(super) const REPLAY_MAX: usize = 1_000;

/// The most events that may wait for a client that reads none.
const UNSENT_MAX: u64 = 65_536;

/// The state of a session, which outlives its connections.
pub(super) struct Session {
    pub(super) id: String,
    pub(super) user: UserId,
    pub(super) intents: Intents,
    pub(super) shard: Shard,
    /// True if large payloads may be packed one by one.
    pub(super) packed: bool,
    /// The number of members that makes a guild too large to be listed in full.
    pub(super) large_threshold: u64,
    /// The number of the newest event.
    seq: u64,
    replay: Replay,
    line: Line,
    faults: Arc<GatewayFaults>,
    dice: Random,
    /// Faults of the next events, in order.
    planned: VecDeque<PushFault>,
    /// Faults for the connection, ordered by a test or by the dice. Each has the end of the replay at
    /// that time, because later events follow it.
    orders: VecDeque<(u64, GatewayFault)>,
    /// The connection of the session.
    holder: Option<Holder>,
    /// The place of the next entry to send.
    cursor: u64,
    /// The time at which its connection was lost.
    left_at: Option<Timestamp>,
    is_over: bool,
}

/// A connection that has a session.
#[derive(Clone)]
pub(super) struct Holder {
    pub(super) number: u64,
    /// Rings when the connection has something to do.
    pub(super) bell: Arc<Notify>,
}

/// The next task of a connection for its session.
pub(super) enum Errand {
    /// Leave, because the session is over or another connection has it.
    Leave,
    /// Send these texts, then perform the order.
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

    /// Sends an event without faults, because it answers the client's request.
    pub(super) fn tell(&mut self, name: &'static str, data: Value) {
        self.send(&Due { news: News { name, data }, copies: 1 });
        self.trim();
        self.ring();
    }

    /// Sends an event with its faults. A fault planned for this session comes before `fault`, which
    /// comes before random ones.
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

    /// Plans a fault for the next event, after those already planned.
    pub(super) fn plan(&mut self, fault: PushFault) {
        self.planned.push_back(fault);
    }

    /// Orders a fault of the connection, now or as soon as there is one.
    pub(super) fn order(&mut self, fault: GatewayFault) {
        self.orders.push_back((self.replay.end(), fault));
        self.ring();
    }

    /// Replaces the plan of random faults. Planned ones stay.
    pub(super) fn set_faults(&mut self, faults: Arc<GatewayFaults>, dice: Random) {
        self.faults = faults;
        self.dice = dice;
    }

    /// Ends all faults, and sends the events that they held back.
    pub(super) fn stop_faults(&mut self) {
        self.faults = Arc::default();
        self.planned.clear();
        self.orders.clear();
        self.flush();
    }

    /// Sends every event that a fault holds back.
    pub(super) fn flush(&mut self) {
        for due in self.line.take_all() {
            self.send(&due);
        }
        self.ring();
    }

    /// Returns the next task of this connection.
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

    /// Returns the time at which an event that is held back goes out.
    pub(super) fn due(&self) -> Option<Timestamp> {
        self.line.due()
    }

    /// Gives the session to another connection, and replays every event after this number. `Err` ends
    /// the connection. `Ok(false)` means that too much was missed.
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
        // If an old connection still has the session, it learns that it lost it.
        self.ring();
        self.holder = Some(connection);
        self.left_at = None;
        self.cursor = place;
        self.tell("RESUMED", serde_json::json!({}));
        Ok(true)
    }

    /// Called when the connection is lost, or closes with this code.
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

    /// Ends the session for good.
    pub(super) fn end(&mut self) {
        self.is_over = true;
        self.ring();
    }

    /// Returns true if the session can no longer be resumed. If the clock stepped back, it can.
    pub(super) fn is_gone(&self, now: Timestamp) -> bool {
        let is_late = |left: Timestamp| now > left && now.since(left) > RESUME_WINDOW;
        self.is_over || self.left_at.is_some_and(is_late)
    }

    /// Returns true if the session has a connection.
    pub(super) const fn is_connected(&self) -> bool {
        self.holder.is_some()
    }

    /// Returns the number of the newest event.
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

    /// Forgets events that are no longer needed. A client that never reads loses its session.
    fn trim(&mut self) {
        let is_held = self.holder.is_some();
        if is_held && self.replay.end().saturating_sub(self.cursor) > UNSENT_MAX {
            self.is_over = true;
        }
        self.replay.trim(if is_held { self.cursor } else { self.replay.end() });
    }
}
