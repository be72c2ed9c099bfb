//! One shard with one channel, and everything around it. Time goes by in ticks.

use std::collections::BTreeSet;
use std::time::Duration;

use dirigent::ports::{Standing, Timestamp};
use dirigent_store::lease::{Answer, Epoch, Heartbeat, HeldShard, Leases, Shard, Terms};

use super::setting::Setting;

const SHARD: Shard = Shard::new(0);
const TICK: Duration = Duration::from_secs(1);
/// How long a lease lasts, in ticks.
const TTL: u8 = 4;

/// The table of leases, of one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Table {
    owner: Option<u8>,
    epoch: u8,
    expires: u8,
    /// Until when each start of a process counts.
    members: Vec<(u8, u8)>,
}

/// What is stored of the channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Record {
    revision: u8,
    turn: u8,
    /// The turn is to be announced.
    is_pending: bool,
}

/// What was sent and may arrive.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Sent {
    Heartbeat(u8, Box<SentBeat>),
    Commit { by: u8, epoch: u8, expected: u8, turn: u8, is_pending: bool },
    Post { by: u8, turn: u8 },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct SentBeat {
    number: u64,
    is_member: bool,
    renews: bool,
    held: Vec<HeldShard>,
    release: Vec<HeldShard>,
    take: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Process {
    /// This start of it.
    id: u8,
    leases: Leases,
    /// By its own clock.
    time: u8,
    is_paused: bool,
    room: Option<Record>,
    /// A beat that the table has had, and its answer.
    beat: Option<(u64, Answer)>,
    commit: Option<Sent>,
    post: Option<Sent>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    time: u8,
    table: Table,
    record: Record,
    processes: Vec<Process>,
    late: Vec<Sent>,
    /// The turns that were announced, as they stand in the channel: the same nonce again is the same message.
    pub(super) chat: Vec<u8>,
    pub(super) authors: BTreeSet<u8>,
    crashes: u8,
    pauses: u8,
    cuts: u8,
    pub(super) lag: u8,
    pub(super) posted_unstored: bool,
    pub(super) changed_behind: bool,
    pub(super) refused: bool,
}

/// What may happen next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Time goes by; the clock of one process may miss it.
    Tick(Option<u8>),
    /// The table has it at once; the answer takes its time.
    Heartbeat(u8),
    /// It is cut off from the table: the beat may still arrive.
    BeatCutOff(u8),
    BeatAnswered(u8),
    BeatLost(u8),
    Decide(u8),
    CommitArrives(u8),
    /// It is given up; it may still arrive.
    CommitLost(u8),
    Post(u8),
    PostArrives(u8),
    Crash(u8),
    Pause(u8),
    Resume(u8),
    LateArrives,
}

fn terms(setting: &Setting) -> Terms {
    let mut terms = Terms::of(TICK * u32::from(TTL));
    (terms.margin, terms.quiet) = (TICK * u32::from(setting.margin), TICK);
    (terms.renew_every, terms.look_every, terms.drain) = (TICK * 2, TICK, TICK);
    terms
}

fn at(ticks: u8) -> Timestamp {
    Timestamp::from_millis(1_000_000) + TICK * u32::from(ticks)
}

impl Process {
    fn new(setting: &Setting, id: u8, time: u8) -> Self {
        let leases = Leases::new(terms(setting), 1);
        Self {
            id,
            leases,
            time,
            is_paused: false,
            room: None,
            beat: None,
            commit: None,
            post: None,
        }
    }

    fn standing(&self) -> Standing {
        self.leases.standing(SHARD, at(self.time))
    }

    fn has_beat(&self) -> bool {
        self.beat.is_none() && self.leases.clone().next_heartbeat(at(self.time)).is_some()
    }

    /// The post has arrived: that is to be stored.
    fn posted(&mut self) {
        self.post = None;
        let settled = self.room.filter(|room| room.is_pending && self.commit.is_none());
        if let Some(room) = settled {
            let sent = self.commit_of(room, (room.turn, false));
            self.commit = sent;
        }
    }

    fn is_trusting(&self) -> bool {
        self.standing() <= Standing::Quiet
    }
}

impl World {
    /// The first process holds the shard, and the others wait for it.
    pub(super) fn begin(setting: &Setting) -> Self {
        let mut world = Self::empty(setting);
        let Self { table, processes, record, .. } = &mut world;
        for _ in 0..2 {
            for process in &mut *processes {
                if let Some(beat) = process.leases.next_heartbeat(at(0)) {
                    let answer = table.beat(process.id, 0, &SentBeat::from(beat.clone()));
                    process.leases.answered(at(0), beat.number, &answer);
                }
            }
        }
        processes[0].room = Some(*record);
        world
    }

    fn empty(setting: &Setting) -> Self {
        Self {
            time: 0,
            table: Table { owner: None, epoch: 0, expires: 0, members: Vec::new() },
            record: Record { revision: 0, turn: 0, is_pending: false },
            processes: (0..setting.processes).map(|id| Process::new(setting, id, 0)).collect(),
            late: Vec::new(),
            chat: Vec::new(),
            authors: BTreeSet::new(),
            crashes: 0,
            pauses: 0,
            cuts: 0,
            lag: 0,
            posted_unstored: false,
            changed_behind: false,
            refused: false,
        }
    }

    pub(super) fn trusting(&self) -> usize {
        self.processes.iter().filter(|process| process.is_trusting()).count()
    }

    pub(super) fn epoch(&self) -> u8 {
        self.table.epoch
    }

    pub(super) fn events(&self, setting: &Setting, events: &mut Vec<Event>) {
        // A process that stands still or is cut off may be late; others are not.
        let is_due = |process: &Process| !process.is_paused && process.has_beat();
        if self.time < setting.ticks_max && !self.processes.iter().any(is_due) {
            events.push(Event::Tick(None));
            if self.lag < setting.lags_max {
                events.extend((0..setting.processes).map(|number| Event::Tick(Some(number))));
            }
        }
        if !self.late.is_empty() {
            events.push(Event::LateArrives);
        }
        for (number, process) in (0..).zip(&self.processes) {
            network_events(number, process, events);
            if process.is_paused {
                events.push(Event::Resume(number));
            } else {
                self.own_events(setting, number, process, events);
            }
        }
    }

    fn own_events(
        &self,
        setting: &Setting,
        number: u8,
        process: &Process,
        events: &mut Vec<Event>,
    ) {
        let may_be_late = self.late.len() < setting.late_max;
        let may_be_cut = self.cuts < setting.cuts_max;
        match &process.beat {
            Some(_) => {
                events.push(Event::BeatAnswered(number));
                if may_be_cut {
                    events.push(Event::BeatLost(number));
                }
            }
            None if process.has_beat() => {
                events.push(Event::Heartbeat(number));
                if may_be_cut && may_be_late {
                    events.push(Event::BeatCutOff(number));
                }
            }
            None => {}
        }
        match (&process.commit, &process.room) {
            (Some(_), _) if may_be_late && may_be_cut => events.push(Event::CommitLost(number)),
            (Some(_), _) | (None, None) => {}
            (None, Some(room)) => {
                let may_decide = !room.is_pending && room.turn < setting.turns_max;
                if may_decide && process.standing() == Standing::Held {
                    events.push(Event::Decide(number));
                }
            }
        }
        // Only what is stored, one post at a time, and while the lease is trusted.
        if let (None, Some(room)) = (&process.post, &process.room) {
            let is_decided = match &process.commit {
                Some(Sent::Commit { is_pending: true, .. }) => !setting.stores_first,
                Some(_) => false,
                None => room.is_pending,
            };
            if is_decided && process.is_trusting() {
                events.push(Event::Post(number));
            }
        }
        if self.crashes < setting.crashes_max {
            events.push(Event::Crash(number));
        }
        if self.pauses < setting.pauses_max {
            events.push(Event::Pause(number));
        }
    }

    pub(super) fn apply(&mut self, setting: &Setting, event: Event) {
        match event {
            Event::Tick(lagging) => {
                self.time += 1;
                self.lag += u8::from(lagging.is_some());
                for (number, process) in (0..).zip(&mut self.processes) {
                    process.time += u8::from(lagging != Some(number));
                }
            }
            Event::LateArrives => {
                let sent = self.late.remove(0);
                self.arrives(setting, &sent);
            }
            Event::Crash(number) => self.crash(setting, number),
            Event::Pause(number) => {
                self.pauses += 1;
                self.processes[usize::from(number)].is_paused = true;
            }
            Event::Resume(number) => self.processes[usize::from(number)].is_paused = false,
            Event::CommitArrives(number) => {
                let commit = self.processes[usize::from(number)].commit.take();
                let Some(sent) = commit else { return };
                let is_made = self.arrives(setting, &sent) == Arrived::Commit(true);
                self.refused |= !is_made;
                let process = &mut self.processes[usize::from(number)];
                // A refused commit is the end of the room; what the record says is loaded anew.
                process.room = process.room.and(is_made.then_some(self.record));
            }
            Event::PostArrives(number) => {
                let post = self.processes[usize::from(number)].post.take();
                let Some(sent) = post else { return };
                self.arrives(setting, &sent);
                self.processes[usize::from(number)].posted();
            }
            Event::Heartbeat(number) => {
                let process = &mut self.processes[usize::from(number)];
                let beat = process.leases.next_heartbeat(at(process.time)).unwrap();
                let (id, beat) = (process.id, SentBeat::from(beat));
                let answer = self.table.beat(id, self.time, &beat);
                self.processes[usize::from(number)].beat = Some((beat.number, answer));
            }
            Event::BeatAnswered(_)
            | Event::BeatLost(_)
            | Event::BeatCutOff(_)
            | Event::Decide(_)
            | Event::CommitLost(_)
            | Event::Post(_) => self.acts(event),
        }
        // A room whose shard is elsewhere is abandoned before anything else happens.
        for process in &mut self.processes {
            if process.standing() == Standing::Elsewhere {
                process.room = None;
            } else if process.room.is_none() && process.commit.is_none() && !process.is_paused {
                process.room = Some(self.record);
            }
        }
    }

    /// What a process does, or what it learns.
    fn acts(&mut self, event: Event) {
        let Self { processes, record, late, posted_unstored, cuts, .. } = self;
        match event {
            Event::BeatAnswered(number) => {
                let process = &mut processes[usize::from(number)];
                let Some((beat, answer)) = process.beat.take() else { return };
                process.leases.answered(at(process.time), beat, &answer);
            }
            Event::BeatLost(number) => {
                let process = &mut processes[usize::from(number)];
                let Some((beat, _)) = process.beat.take() else { return };
                process.leases.failed(at(process.time), beat);
                *cuts += 1;
            }
            Event::BeatCutOff(number) => {
                let process = &mut processes[usize::from(number)];
                let now = at(process.time);
                let beat = process.leases.next_heartbeat(now).unwrap();
                process.leases.failed(now, beat.number);
                late.push(Sent::Heartbeat(process.id, Box::new(SentBeat::from(beat))));
                *cuts += 1;
            }
            Event::Decide(number) => {
                let process = &mut processes[usize::from(number)];
                let room = process.room.unwrap();
                process.commit = process.commit_of(room, (room.turn + 1, true));
            }
            Event::CommitLost(number) => {
                let process = &mut processes[usize::from(number)];
                // Whose record is stored is read back.
                process.room = None;
                late.extend(process.commit.take());
                *cuts += 1;
            }
            Event::Post(number) => {
                let process = &mut processes[usize::from(number)];
                let room = process.room.unwrap();
                let turn = if room.is_pending { room.turn } else { room.turn + 1 };
                *posted_unstored |= record.turn < turn;
                process.post = Some(Sent::Post { by: process.id, turn });
            }
            Event::Tick(_)
            | Event::Heartbeat(_)
            | Event::CommitArrives(_)
            | Event::PostArrives(_)
            | Event::Crash(_)
            | Event::Pause(_)
            | Event::Resume(_)
            | Event::LateArrives => {}
        }
    }

    /// All that the process knew is gone; what it sent may still arrive.
    fn crash(&mut self, setting: &Setting, number: u8) {
        self.crashes += 1;
        let process = &mut self.processes[usize::from(number)];
        let fresh = Process::new(setting, process.id + setting.processes, process.time);
        let dead = std::mem::replace(process, fresh);
        self.late.extend(dead.commit.into_iter().chain(dead.post));
    }

    fn arrives(&mut self, setting: &Setting, sent: &Sent) -> Arrived {
        match sent {
            Sent::Heartbeat(by, beat) => {
                self.table.beat(*by, self.time, beat);
                Arrived::Other
            }
            Sent::Commit { by, epoch, expected, turn, is_pending } => {
                let is_owner = self.table.owner == Some(*by) && self.table.epoch == *epoch;
                let is_made = (is_owner || !setting.fences) && self.record.revision == *expected;
                if is_made {
                    self.changed_behind |= !is_owner && self.table.owner.is_some();
                    let revision = expected + 1;
                    self.record = Record { revision, turn: *turn, is_pending: *is_pending };
                }
                Arrived::Commit(is_made)
            }
            Sent::Post { by, turn } => {
                // The chat knows the nonce.
                if !self.chat.contains(turn) {
                    self.chat.push(*turn);
                    self.authors.insert(by % setting.processes);
                }
                Arrived::Other
            }
        }
    }
}

/// What happens to what was sent, whether its sender stands still or not.
fn network_events(number: u8, process: &Process, events: &mut Vec<Event>) {
    if process.commit.is_some() {
        events.push(Event::CommitArrives(number));
    }
    if process.post.is_some() {
        events.push(Event::PostArrives(number));
    }
}

#[derive(PartialEq, Eq)]
enum Arrived {
    Commit(bool),
    Other,
}

impl From<Heartbeat> for SentBeat {
    fn from(beat: Heartbeat) -> Self {
        let Heartbeat { number, is_member, renews, held, release, take, .. } = beat;
        Self { number, is_member, renews, held, release, take }
    }
}

impl Process {
    /// A commit names the epoch that is held when it is sent.
    fn commit_of(&self, room: Record, (turn, is_pending): (u8, bool)) -> Option<Sent> {
        let epoch = u8::try_from(self.leases.epoch(SHARD)?.get()).unwrap();
        let expected = room.revision;
        Some(Sent::Commit { by: self.id, epoch, expected, turn, is_pending })
    }
}

impl Table {
    /// The four steps of a beat, as one.
    fn beat(&mut self, by: u8, now: u8, beat: &SentBeat) -> Answer {
        self.members.retain(|(member, until)| *member != by && *until > now);
        let mut answer = Answer::default();
        if beat.is_member {
            self.members.push((by, now + TTL));
            self.members.sort_unstable();
        }
        answer.members = u16::try_from(self.members.len()).unwrap();
        let row = HeldShard { shard: SHARD, epoch: Epoch::new(self.epoch.into()) };
        let is_own = self.owner == Some(by);
        if beat.renews && is_own && beat.held.contains(&row) {
            self.expires = now + TTL;
            answer.renewed.push(row);
        }
        if is_own && beat.release.contains(&row) {
            (self.owner, self.expires) = (None, now);
        }
        let named = beat.held.iter().chain(&beat.release).any(|held| held.shard == SHARD);
        if beat.take > 0 && !named && (self.owner.is_none() || is_own || self.expires <= now) {
            self.epoch += 1;
            (self.owner, self.expires) = (Some(by), now + TTL);
            answer.taken.push(HeldShard { shard: SHARD, epoch: Epoch::new(self.epoch.into()) });
        }
        answer
    }
}
