//! One shard with one channel, and everything around it. Time goes by in ticks.

use dirigent::ports::Standing;
use dirigent_cluster::lease::LeaseAnswer;

use super::events::Event;
use super::process::{Life, Process, QUIET, Record, Sent, at};
use super::promises::Promise;
use super::setting::{Rule, Setting};
use super::table::{SentBeat, TTL, Table};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) time: u8,
    pub(super) table: Table,
    pub(super) record: Record,
    pub(super) processes: Vec<Process>,
    /// What was given up, or sent by a process that has died since, and may still arrive.
    pub(super) late: Vec<Sent>,
    /// The turns that were announced, as they stand in the channel: the same nonce again is the same message.
    pub(super) chat: Vec<u8>,
    pub(super) spent: Spent,
    /// The first promise that did not hold.
    pub(super) broken: Option<Promise>,
}

/// How much of what the setting allows has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Spent {
    pub(super) crashes: u8,
    pub(super) pauses: u8,
    pub(super) partitions: u8,
    pub(super) resigns: u8,
    pub(super) cuts: u8,
    pub(super) lag: u8,
    pub(super) backs: u8,
}

impl World {
    /// The first process holds the shard, and the others wait for it.
    pub(super) fn begin(setting: &Setting) -> Self {
        let mut world = Self {
            time: 0,
            table: Table::new(),
            record: Record { revision: 0, turn: 0, is_pending: false },
            processes: (0..setting.processes).map(|id| Process::new(setting, id, 0)).collect(),
            late: Vec::new(),
            chat: Vec::new(),
            spent: Spent::default(),
            broken: None,
        };
        for number in (0..world.processes.len()).cycle().take(2 * world.processes.len()) {
            if world.processes[number].has_beat() {
                world.heartbeat(setting, number);
                world.processes[number].answered(setting);
            }
        }
        world.processes[0].room = Some(world.record);
        world
    }

    fn tick(&mut self, lagging: Option<usize>) {
        self.time += 1;
        self.spent.lag += u8::from(lagging.is_some());
        for (number, process) in self.processes.iter_mut().enumerate() {
            process.time += u8::from(lagging != Some(number));
        }
    }

    pub(super) fn trusting(&self) -> usize {
        self.processes.iter().filter(|process| process.is_trusting()).count()
    }

    pub(super) fn apply(&mut self, setting: &Setting, event: Event) {
        match event {
            Event::Tick(lagging) => self.tick(lagging),
            Event::LateArrives(place) => {
                let sent = self.late.remove(place);
                self.arrives(setting, &sent);
            }
            Event::Heartbeat(number) => {
                self.heartbeat(setting, number);
                self.processes[number].answered(setting);
            }
            Event::BeatSlow(number) => {
                self.spent.cuts += 1;
                self.heartbeat(setting, number);
            }
            Event::BeatAnswered(number) => self.processes[number].answered(setting),
            Event::BeatLost(number) | Event::BeatCutOff(number) => {
                self.beat_lost(setting, number, event);
            }
            Event::Decide(number) => self.decide(setting, number),
            Event::CommitArrives(number) => self.commit_arrives(setting, number),
            Event::CommitLost(number) => self.commit_lost(setting, number),
            Event::Post(number) => self.post(number),
            Event::PostArrives(number) => {
                let process = &mut self.processes[number];
                if let Some(sent) = process.post.clone() {
                    process.posted();
                    self.arrives(setting, &sent);
                }
            }
            Event::SetBack => {
                self.spent.backs += 1;
                self.table.set_back();
            }
            Event::Crash(number) => self.crash(setting, number),
            Event::Pause(number) => {
                self.spent.pauses += 1;
                self.processes[number].is_paused = true;
            }
            Event::Resume(number) => self.processes[number].is_paused = false,
            Event::CutOff(number) => {
                self.spent.partitions += 1;
                self.processes[number].is_cut_off = true;
            }
            Event::Reconnect(number) => self.processes[number].is_cut_off = false,
            Event::Resign(number) => {
                self.spent.resigns += 1;
                self.processes[number].life = Life::Leaving;
                self.processes[number].leases.resign();
            }
            Event::End(number) => {
                self.processes[number].life = Life::Gone;
                self.processes[number].leases.end();
            }
        }
        // A room whose shard is elsewhere is abandoned before anything else happens.
        for process in &mut self.processes {
            if process.standing() == Standing::Elsewhere {
                process.room = None;
            } else if process.room.is_none()
                && process.commit.is_none()
                && !process.is_paused
                && !process.is_cut_off
                && process.life != Life::Gone
            {
                process.room = Some(self.record);
            }
        }
        self.sort_processes();
    }

    /// The table has it, and the answer is on its way; a process that is cut off learns that it failed.
    fn heartbeat(&mut self, setting: &Setting, number: usize) {
        let process = &mut self.processes[number];
        let beat = process.send_beat(setting);
        if process.is_cut_off {
            process.leases.failed(at(process.time), beat.number);
            return;
        }
        let id = process.id;
        let answer = self.beat_arrives(setting, id, &beat);
        self.processes[number].beat = Some((beat.number, answer));
    }

    fn beat_arrives(&mut self, setting: &Setting, by: u8, beat: &SentBeat) -> LeaseAnswer {
        let before = self.table.clone();
        let answer = self.table.beat(setting, by, self.time, beat);
        let after = &self.table;
        let row = |table: &Table| (table.owner, table.epoch, table.until);
        // Its own, that it does not know of.
        let is_known = before.owner == Some(by) && (beat.names(before.epoch) || beat.takes());
        let lasts = before.owner.is_some() && before.until > self.time;
        if row(after) != row(&before) && lasts && !is_known {
            self.breaks(Promise::OnlyTheHolderChangesALease);
        }
        if !answer.taken.is_empty() && self.table.epoch <= before.epoch {
            self.breaks(Promise::EachOwnerHasANewEpoch);
        }
        let is_given_back = before.owner == Some(by) && self.table.owner.is_none();
        let sender = self.processes.iter().find(|process| process.id == by);
        if is_given_back && sender.is_some_and(Process::is_sending) {
            self.breaks(Promise::WhatIsGivenBackIsNotInUse);
        }
        answer
    }

    fn beat_lost(&mut self, setting: &Setting, number: usize, event: Event) {
        let process = &mut self.processes[number];
        let (id, now) = (process.id, at(process.time));
        if event == Event::BeatCutOff(number) {
            self.spent.cuts += 1;
            let beat = process.send_beat(setting);
            process.leases.failed(now, beat.number);
            self.late.push(Sent::Heartbeat { by: id, beat: Box::new(beat) });
        } else if let Some((beat, _)) = process.beat.take() {
            process.leases.failed(now, beat);
        }
    }

    fn decide(&mut self, setting: &Setting, number: usize) {
        let process = &mut self.processes[number];
        let Some(room) = process.room else { return };
        process.commit = process.commit_of(room, room.turn + 1, true);
        // So long it must still be this process's: what the margin is for, and the quiet end.
        let least = self.time + QUIET + 1_u8.saturating_sub(self.spent.lag);
        let is_held = self.table.owner == Some(process.id) && self.table.until > least;
        // A clock that lags by more than the margin is not promised anything but the fence.
        if !is_held && self.spent.lag <= setting.lag_promised {
            self.breaks(Promise::ATurnBeginsWhileTheLeaseLasts);
        }
    }

    fn commit_arrives(&mut self, setting: &Setting, number: usize) {
        let Some(sent) = self.processes[number].commit.take() else { return };
        let is_made = self.arrives(setting, &sent);
        // A refused commit is the end of the room; what the record says is loaded anew.
        let room = is_made.then_some(self.record);
        let process = &mut self.processes[number];
        process.room = process.room.and(room.or_else(|| believed(setting, &sent)));
    }

    /// It is given up: whether it is stored is not known, and the record is read.
    fn commit_lost(&mut self, setting: &Setting, number: usize) {
        let process = &mut self.processes[number];
        let Some(sent) = process.commit.take() else { return };
        process.room = believed(setting, &sent);
        self.spent.cuts += u8::from(!process.is_cut_off);
        if self.late.len() < setting.late_max {
            self.late.push(sent);
        }
    }

    fn post(&mut self, number: usize) {
        let process = &mut self.processes[number];
        let Some(room) = process.room else { return };
        let turn = if room.is_pending { room.turn } else { room.turn + 1 };
        process.post = Some(Sent::Post { by: process.id, turn });
        if self.record.turn < turn {
            self.breaks(Promise::WhatIsPostedWasStored);
        }
    }

    /// All that the process knew is gone; what it sent may still arrive. Its next start has its number, and it another.
    fn crash(&mut self, setting: &Setting, number: usize) {
        let dead = setting.processes + self.spent.crashes;
        self.spent.crashes += 1;
        let id = self.processes[number].id;
        self.rename(|name| if name == id { dead } else { name });
        let fresh = Process::new(setting, id, self.processes[number].time);
        let dead = std::mem::replace(&mut self.processes[number], fresh);
        self.late.extend(dead.commit.into_iter().chain(dead.post));
    }

    /// Returns whether a commit was made.
    fn arrives(&mut self, setting: &Setting, sent: &Sent) -> bool {
        match sent {
            Sent::Heartbeat { by, beat } => {
                self.beat_arrives(setting, *by, beat);
                false
            }
            Sent::Commit { by, epoch, expected, turn, is_pending } => {
                let is_owner = self.table.owner == Some(*by);
                let is_epoch = self.table.epoch == *epoch;
                let is_made = (is_owner || !setting.has(Rule::CommitNamesTheOwner))
                    && (is_epoch || !setting.has(Rule::CommitNamesTheEpoch))
                    && self.record.revision == *expected;
                if is_made {
                    let revision = expected + 1;
                    self.record = Record { revision, turn: *turn, is_pending: *is_pending };
                }
                if is_made && !(is_owner && is_epoch) {
                    self.breaks(Promise::OnlyTheHolderChangesTheRecord);
                }
                is_made
            }
            Sent::Post { turn, .. } => {
                // The chat knows the nonce.
                if !self.chat.contains(turn) {
                    self.chat.push(*turn);
                }
                false
            }
        }
    }

    pub(super) fn breaks(&mut self, promise: Promise) {
        self.broken.get_or_insert(promise);
    }

    fn rename(&mut self, name: impl Fn(u8) -> u8) {
        self.table.rename(&name);
        for process in &mut self.processes {
            process.rename(&name);
        }
        for sent in &mut self.late {
            sent.rename(&name);
        }
    }

    /// Which of the processes is which makes no difference: worlds that differ in nothing else become one.
    fn sort_processes(&mut self) {
        let key = |process: &Process| {
            let id = process.id;
            let until = self.table.members.iter().find(|(member, _)| *member == id);
            let late =
                (0..).zip(&self.late).map(|(place, sent)| u8::from(sent.by() == id) << place);
            let is_owner = self.table.owner == Some(id);
            (process.outline(), is_owner, until.map(|(_, until)| *until), late.sum::<u8>())
        };
        let mut keys: Vec<_> =
            self.processes.iter().map(|process| (key(process), process.id)).collect();
        if keys.is_sorted_by(|one, other| one.0 <= other.0) {
            return;
        }
        keys.sort_unstable();
        let place = |id: u8| (0..).zip(&keys).find(|(_, (_, old))| *old == id).map(|(new, _)| new);
        self.rename(|id| place(id).unwrap_or(id));
        self.processes.sort_unstable_by_key(|process| process.id);
    }

    /// A shard that was given back has another owner, before its lease would have expired.
    pub(super) fn is_taken_early(&self) -> bool {
        self.time < TTL && self.table.epoch > 1 && self.table.owner.is_some()
    }

    /// An owner that took the shard over has posted.
    pub(super) fn is_posted_by_a_successor(&self) -> bool {
        let posts = |process: &Process| process.post.is_some() && process.is_trusting();
        self.table.epoch > 1 && !self.chat.is_empty() && self.processes.iter().any(posts)
    }

    /// A commit is under way that will be refused.
    pub(super) fn has_commit_of_an_earlier_term(&self) -> bool {
        let sent = self.processes.iter().filter_map(|process| process.commit.as_ref());
        sent.chain(&self.late).any(
            |sent| matches!(sent, Sent::Commit { by, epoch, .. } if !self.table.is_of(*by, *epoch)),
        )
    }
}

/// What a process would go on from that takes a commit for made whose end it does not know.
fn believed(setting: &Setting, sent: &Sent) -> Option<Record> {
    match sent {
        Sent::Commit { expected, turn, is_pending, .. } if !setting.has(Rule::LoadAfterRefusal) => {
            Some(Record { revision: expected + 1, turn: *turn, is_pending: *is_pending })
        }
        Sent::Commit { .. } | Sent::Heartbeat { .. } | Sent::Post { .. } => None,
    }
}
