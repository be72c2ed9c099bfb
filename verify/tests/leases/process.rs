//! A process with its leases, and what it has sent.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use dirigent::ports::{Standing, Timestamp};
use dirigent_cluster::lease::{LeaseAnswer, Leases, Terms};

use super::setting::{Rule, Setting};
use super::table::{SHARD, SentBeat, TTL};

const TICK: Duration = Duration::from_secs(1);
/// For so long before the end of a lease nothing new is to be started, in ticks.
pub(super) const QUIET: u8 = 1;

/// What is stored of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    pub(super) revision: u8,
    pub(super) turn: u8,
    /// The turn is to be announced.
    pub(super) is_pending: bool,
}

/// What was sent and may arrive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Sent {
    Heartbeat { by: u8, beat: Box<SentBeat> },
    Commit { by: u8, epoch: u8, expected: u8, turn: u8, is_pending: bool },
    Post { by: u8, turn: u8 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Life {
    Member,
    /// It has resigned, and drains.
    Leaving,
    /// It gives back what it has.
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    /// This start of it.
    pub(super) id: u8,
    pub(super) leases: Leases,
    /// By its own clock.
    pub(super) time: u8,
    pub(super) life: Life,
    pub(super) is_paused: bool,
    /// It reaches neither the table nor the record.
    pub(super) is_cut_off: bool,
    pub(super) room: Option<Record>,
    /// A beat that the table has had, and its answer.
    pub(super) beat: Option<(u64, LeaseAnswer)>,
    pub(super) commit: Option<Sent>,
    pub(super) post: Option<Sent>,
}

pub(super) fn at(ticks: u8) -> Timestamp {
    Timestamp::from_millis(1_000_000) + TICK * u32::from(ticks)
}

fn terms(setting: &Setting) -> Terms {
    let mut terms = Terms::of(TICK * u32::from(TTL));
    terms.margin = TICK * u32::from(setting.has(Rule::Margin));
    terms.quiet = TICK * u32::from(QUIET) * u32::from(setting.has(Rule::QuietEnd));
    (terms.renew_every, terms.look_every, terms.drain) = (TICK * 2, TICK, TICK);
    terms
}

impl Process {
    pub(super) fn new(setting: &Setting, id: u8, time: u8) -> Self {
        Self {
            id,
            leases: Leases::new(terms(setting), 1),
            time,
            life: Life::Member,
            is_paused: false,
            is_cut_off: false,
            room: None,
            beat: None,
            commit: None,
            post: None,
        }
    }

    pub(super) fn standing(&self) -> Standing {
        self.leases.standing(SHARD, at(self.time))
    }

    pub(super) fn is_trusting(&self) -> bool {
        self.standing() <= Standing::Quiet
    }

    /// A beat is due, and none is under way.
    pub(super) fn has_beat(&self) -> bool {
        let now = at(self.time);
        self.beat.is_none() && self.leases.next_deadline(now).is_some_and(|due| due <= now)
    }

    /// Nothing is under way, and nothing that is stored waits to be posted.
    pub(super) fn is_drained(&self) -> bool {
        !self.is_sending() && self.room.is_none_or(|room| !room.is_pending)
    }

    pub(super) fn is_sending(&self) -> bool {
        self.commit.is_some() || self.post.is_some()
    }

    /// A new turn may be decided.
    pub(super) fn may_decide(&self, setting: &Setting) -> bool {
        let Some(room) = self.room.filter(|_| self.commit.is_none()) else {
            return false;
        };
        let resigned = self.life != Life::Member && !setting.has(Rule::ResignFirst);
        let is_allowed = self.standing() == Standing::Held || (resigned && self.is_trusting());
        is_allowed && !room.is_pending && room.turn < setting.turns_max
    }

    /// Only what is stored, one post at a time, and while the lease is trusted.
    pub(super) fn may_post(&self, setting: &Setting) -> bool {
        let Some(room) = self.room.filter(|_| self.post.is_none() && self.life != Life::Gone)
        else {
            return false;
        };
        let is_decided = match &self.commit {
            Some(Sent::Commit { is_pending: true, .. }) => !setting.has(Rule::StoreBeforeEffect),
            Some(_) => false,
            None => room.is_pending,
        };
        is_decided && self.is_trusting()
    }

    /// A commit names the epoch that is held when it is sent.
    pub(super) fn commit_of(&self, room: Record, turn: u8, is_pending: bool) -> Option<Sent> {
        let epoch = u8::try_from(self.leases.epoch(SHARD)?.get()).unwrap();
        let expected = room.revision;
        Some(Sent::Commit { by: self.id, epoch, expected, turn, is_pending })
    }

    /// Sends the beat that is due.
    pub(super) fn send_beat(&mut self, setting: &Setting) -> SentBeat {
        let now = at(self.time);
        let sent = if setting.has(Rule::TrustFromTheStart) {
            self.leases.next_heartbeat(now)
        } else {
            self.leases.clone().next_heartbeat(now)
        };
        sent.unwrap().into()
    }

    pub(super) fn answered(&mut self, setting: &Setting) {
        let Some((beat, answer)) = self.beat.take() else { return };
        let now = at(self.time);
        if !setting.has(Rule::TrustFromTheStart) {
            // As if it had been sent only now.
            self.leases.next_heartbeat(now);
        }
        self.leases.answered(now, beat, &answer);
    }

    /// The post has arrived: that is to be stored.
    pub(super) fn posted(&mut self) {
        self.post = None;
        let settled = self.room.filter(|room| room.is_pending && self.commit.is_none());
        if let Some(room) = settled {
            self.commit = self.commit_of(room, room.turn, false);
        }
    }

    /// It is given another name.
    pub(super) fn rename(&mut self, name: impl Fn(u8) -> u8) {
        self.id = name(self.id);
        for sent in self.commit.iter_mut().chain(&mut self.post) {
            sent.rename(&name);
        }
    }

    /// The same for two processes that differ in their names alone.
    pub(super) fn outline(&self) -> u64 {
        let Self { id: _, leases, time, life, is_paused, is_cut_off, room, beat, commit, post } =
            self;
        let mut hasher = DefaultHasher::new();
        (leases, time, life, is_paused, is_cut_off, room, beat).hash(&mut hasher);
        for sent in [commit, post] {
            sent.as_ref().map(Sent::content).hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl Sent {
    pub(super) fn rename(&mut self, name: impl Fn(u8) -> u8) {
        match self {
            Self::Heartbeat { by, .. } | Self::Commit { by, .. } | Self::Post { by, .. } => {
                *by = name(*by);
            }
        }
    }

    pub(super) fn by(&self) -> u8 {
        match self {
            Self::Heartbeat { by, .. } | Self::Commit { by, .. } | Self::Post { by, .. } => *by,
        }
    }
    /// All but the sender, of what a process has under way but its beat.
    fn content(&self) -> Option<(u8, u8, u8, bool)> {
        match *self {
            Self::Heartbeat { .. } => None,
            Self::Commit { epoch, expected, turn, is_pending, .. } => {
                Some((epoch, expected, turn, is_pending))
            }
            Self::Post { turn, .. } => Some((0, 0, turn, true)),
        }
    }
}
