//! 10,000 channels on five processes, whose clocks run differently, and which are killed, paused and cut off from the table.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use dirigent::ChannelId;
use dirigent::ports::{Standing, Timestamp};
use dirigent_cluster::lease::{
    AheadRow, Epoch, HeldShard, LeaseAnswer, LeaseHeartbeat, LeaseRow, Leases, Shard, Terms,
    shard_of,
};
use dirigent_testkit::Random;

const SHARDS: u16 = 256;
const TTL_MS: u64 = 10_000;
const HOUR_MS: u64 = 3_600_000;
/// What the table's clock shows in the beginning.
const TABLE_AHEAD: u64 = 100 * HOUR_MS;

#[derive(Clone, Copy)]
struct Row {
    owner: Option<u64>,
    epoch: u64,
    /// By the table's clock.
    expires: u64,
    /// When it was written, in truth.
    written: u64,
}

struct Process {
    /// This start of it.
    id: u64,
    leases: Leases,
    /// How many thousandths of a second go by on its clock in one.
    rate: u64,
    /// It does nothing before this moment, and its connection neither brings nor takes anything.
    paused_until: u64,
    cut_off_until: u64,
}

impl Process {
    /// What its clock shows.
    fn time(&self, now: u64) -> Timestamp {
        Timestamp::from_millis(1_000_000 + now * self.rate / 1_000)
    }

    fn standing(&self, shard: Shard, now: u64) -> Standing {
        self.leases.standing(shard, self.time(now))
    }
}

/// A channel: what is stored, and what was announced of it.
#[derive(Clone, Copy, Default)]
struct Channel {
    turn: u64,
    announced: u64,
    last_at: u64,
    /// A commit is under way.
    is_busy: bool,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Look(usize),
    BeatArrives(usize, u64, BeatKey),
    BeatAnswered(usize, u64, AnswerKey),
    BeatFailed(usize, u64, u64),
    Talk(usize),
    CommitArrives { process: usize, id: u64, channel: usize, epoch: u64, turn: u64 },
    CommitAnswered { process: usize, id: u64, channel: usize, turn: u64, is_made: bool },
    Fault,
}

type Pairs = Vec<(u16, u64)>;
/// A beat as numbers: its number, whether it is a member's, whether it renews, what is held, what is given back, what is wanted,
/// and what is watched.
type BeatKey = (u64, bool, bool, Pairs, Pairs, u16, [Vec<AheadRow>; 2]);
type AnswerKey = (u64, Pairs, Pairs, [u16; 2], Vec<AheadRow>);

struct Fleet {
    now: u64,
    /// By how much the table's clock was set back.
    set_back: u64,
    random: Random,
    terms: Terms,
    rows: Vec<Row>,
    /// Which, until when, and when that was written.
    members: Vec<(u64, u64, u64)>,
    processes: Vec<Process>,
    channels: Vec<Channel>,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    count: u64,
    starts: u64,
    made: u64,
    refused: u64,
    longest_gap: u64,
    faults: u64,
}

fn pairs(held: impl IntoIterator<Item = HeldShard>) -> Pairs {
    held.into_iter().map(|held| (held.shard.get(), held.epoch.get())).collect()
}

fn held(pairs: &Pairs) -> Vec<HeldShard> {
    let held = |(shard, epoch): &(u16, u64)| HeldShard {
        shard: Shard::new(*shard),
        epoch: Epoch::new(*epoch),
    };
    pairs.iter().map(held).collect()
}

impl Fleet {
    fn new(seed: u64, processes: usize, channels: usize) -> Self {
        let terms = Terms::of(Duration::from_millis(TTL_MS));
        let mut fleet = Self {
            now: 0,
            set_back: 0,
            random: Random::new(seed),
            terms,
            rows: vec![Row { owner: None, epoch: 0, expires: 0, written: 0 }; usize::from(SHARDS)],
            members: Vec::new(),
            processes: Vec::new(),
            channels: vec![Channel::default(); channels],
            events: BinaryHeap::new(),
            count: 0,
            starts: 0,
            made: 0,
            refused: 0,
            longest_gap: 0,
            faults: 0,
        };
        for place in 0..processes {
            let process = fleet.started();
            fleet.processes.push(process);
            fleet.after(0, Event::Look(place));
        }
        for channel in 0..channels {
            let at = fleet.draw(2_000);
            fleet.after(at, Event::Talk(channel));
        }
        fleet.after(10_000, Event::Fault);
        fleet
    }

    fn draw(&mut self, below: u64) -> u64 {
        self.random.draw() % below
    }

    fn started(&mut self) -> Process {
        self.starts += 1;
        // The margin is a tenth of the TTL.
        let rate = 950 + self.draw(101);
        let leases = Leases::new(self.terms, SHARDS);
        Process { id: self.starts, leases, rate, paused_until: 0, cut_off_until: 0 }
    }

    fn after(&mut self, wait: u64, event: Event) {
        self.count += 1;
        self.events.push(Reverse((self.now + wait, self.count, event)));
    }

    fn latency(&mut self) -> u64 {
        1 + self.draw(40)
    }

    /// Lives until this moment; faults happen where `is_hostile`.
    fn run(&mut self, until: u64, is_hostile: bool) {
        while let Some(Reverse((at, _, event))) = self.events.pop() {
            self.now = at;
            if at >= until {
                self.events.push(Reverse((at, 0, event)));
                return;
            }
            self.happen(event, is_hostile);
        }
    }

    fn happen(&mut self, event: Event, is_hostile: bool) {
        match event {
            Event::Look(place) => self.look(place),
            Event::BeatArrives(place, id, beat) => self.beat_arrives(place, id, &beat),
            Event::BeatAnswered(place, id, answer) => self.beat_answered(place, id, &answer),
            Event::BeatFailed(place, id, number) => {
                let now = self.now;
                let process = &mut self.processes[place];
                if process.id == id {
                    let time = process.time(now);
                    process.leases.failed(time, number);
                }
            }
            Event::Talk(channel) => self.talk(channel),
            Event::CommitArrives { process, id, channel, epoch, turn } => {
                let row = self.rows[usize::from(shard_of_channel(channel).get())];
                let is_owner = row.owner == Some(id) && row.epoch == epoch;
                let is_made = is_owner && self.channels[channel].turn + 1 == turn;
                if is_made {
                    self.channels[channel].turn = turn;
                }
                let wait = self.latency();
                let answered = Event::CommitAnswered { process, id, channel, turn, is_made };
                self.after(wait, answered);
            }
            Event::CommitAnswered { process, id, channel, turn, is_made } => {
                self.commit_answered((process, id), channel, turn, is_made);
            }
            Event::Fault if is_hostile => self.fault(),
            Event::Fault => {}
        }
    }

    fn look(&mut self, place: usize) {
        let (now, wait) = (self.now, self.latency());
        let process = &mut self.processes[place];
        let id = process.id;
        if process.paused_until > now {
            let wait = process.paused_until - now;
            return self.after(wait, Event::Look(place));
        }
        if let Some(beat) = process.leases.next_heartbeat(process.time(now)) {
            let number = beat.number;
            if process.cut_off_until > now {
                // It is given up after half a TTL.
                self.after(TTL_MS / 2, Event::BeatFailed(place, id, number));
            } else {
                let LeaseHeartbeat { is_member, renews, held, release, take, .. } = beat;
                let watched = [beat.ahead, beat.expired];
                let beat = (number, is_member, renews, pairs(held), pairs(release), take, watched);
                self.after(wait, Event::BeatArrives(place, id, beat));
            }
        }
        self.after(100, Event::Look(place));
    }

    fn beat_arrives(&mut self, place: usize, id: u64, beat: &BeatKey) {
        let now = self.now + TABLE_AHEAD - self.set_back;
        let longest = now + u64::try_from(self.terms.patience().as_millis()).unwrap();
        let (number, is_member, renews, held, release, take, [watched, expired]) = beat;
        let row_of = |row, written: u64| AheadRow { row, version: written.try_into().unwrap() };
        let of_member = |(member, _, written): &(u64, u64, u64)| {
            row_of(LeaseRow::Member((*member).try_into().unwrap()), *written)
        };
        self.members.retain(|member| {
            member.0 != id && member.1 > now && !expired.contains(&of_member(member))
        });
        let is_ahead = |until: u64, row: &AheadRow| until > longest || watched.contains(row);
        let rows = self.members.iter().map(|member| (member.1, of_member(member)));
        let mut ahead: Vec<_> = rows.filter(|(until, row)| is_ahead(*until, row)).collect();
        if *is_member {
            self.members.push((id, now + TTL_MS, self.now));
        }
        let count = |is_counted: &dyn Fn(u64) -> bool| {
            self.members
                .iter()
                .filter(|(member, ..)| is_counted(*member))
                .count()
                .try_into()
                .unwrap()
        };
        let members = [count(&|_| true), count(&|member| member < id)];
        let (mut renewed, mut taken) = (Vec::new(), Vec::new());
        for (shard, row) in (0..SHARDS).zip(&mut self.rows) {
            let is_own = row.owner == Some(id);
            let pair = (shard, row.epoch);
            let lasting = row_of(LeaseRow::Shard(Shard::new(shard)), row.written);
            if !is_own && row.owner.is_some() && is_ahead(row.expires, &lasting) {
                ahead.push((row.expires, lasting));
            }
            let is_named = held.iter().chain(release).any(|named| named.0 == shard);
            if is_own && *renews && held.contains(&pair) {
                (row.expires, row.written) = (now + TTL_MS, self.now);
                renewed.push(pair);
            } else if is_own && release.contains(&pair) {
                (row.owner, row.expires, row.written) = (None, now, self.now);
            } else if !is_named
                && taken.len() < usize::from(*take)
                && (is_own
                    || row.owner.is_none()
                    || row.expires < now
                    || expired.contains(&lasting))
            {
                *row = Row {
                    owner: Some(id),
                    epoch: row.epoch + 1,
                    expires: now + TTL_MS,
                    written: self.now,
                };
                taken.push((shard, row.epoch));
            }
        }
        let ahead = ahead.into_iter().map(|(_, row)| row).collect();
        let wait = self.latency();
        if self.processes[place].id == id {
            let answer = (*number, renewed, taken, members, ahead);
            self.after(wait, Event::BeatAnswered(place, id, answer));
        }
    }

    fn beat_answered(&mut self, place: usize, id: u64, answer: &AnswerKey) {
        let now = self.now;
        let process = &mut self.processes[place];
        if process.id != id {
            return;
        }
        if process.paused_until > now {
            let wait = process.paused_until - now;
            return self.after(wait, Event::BeatAnswered(place, id, answer.clone()));
        }
        let (number, renewed, taken, [members, rank], ahead) = answer.clone();
        let (renewed, taken) = (held(&renewed), held(&taken));
        let answer = LeaseAnswer { renewed, taken, members, rank, namesake: None, ahead };
        let time = process.time(now);
        process.leases.answered(time, number, &answer);
    }

    /// Something is said in a channel: who acts for it takes a turn.
    fn talk(&mut self, number: usize) {
        let (now, wait, next) = (self.now, self.latency(), 1_500 + self.draw(1_000));
        let shard = shard_of_channel(number);
        let trusting = |process: &Process| process.standing(shard, now) <= Standing::Quiet;
        let trusting = self.processes.iter().filter(|process| trusting(process)).count();
        assert!(trusting <= 1, "{trusting} processes trust a lease of shard {shard} at {now} ms");
        let acts = |process: &Process| {
            process.paused_until <= now && process.standing(shard, now) == Standing::Held
        };
        let owner = self.processes.iter().position(acts);
        let channel = &mut self.channels[number];
        match owner {
            Some(place) if !channel.is_busy => {
                channel.is_busy = true;
                let process = &self.processes[place];
                let epoch = process.leases.epoch(shard).unwrap().get();
                let (id, turn) = (process.id, channel.turn + 1);
                // One in a thousand is held up on its way.
                let wait = if self.draw(1_000) == 0 { self.draw(20_000) } else { wait };
                let commit =
                    Event::CommitArrives { process: place, id, channel: number, epoch, turn };
                self.after(wait, commit);
            }
            Some(_) | None => {}
        }
        self.after(next, Event::Talk(number));
    }

    fn commit_answered(
        &mut self,
        (place, id): (usize, u64),
        number: usize,
        turn: u64,
        is_made: bool,
    ) {
        let now = self.now;
        let process = &self.processes[place];
        if process.id == id && process.paused_until > now {
            let wait = process.paused_until - now;
            return self.after(
                wait,
                Event::CommitAnswered { process: place, id, channel: number, turn, is_made },
            );
        }
        let may_post =
            process.id == id && process.standing(shard_of_channel(number), now) <= Standing::Quiet;
        let channel = &mut self.channels[number];
        channel.is_busy = false;
        if !is_made {
            self.refused += 1;
            return;
        }
        self.made += 1;
        if may_post {
            assert!(channel.announced < turn, "turn {turn} of channel {number} is announced twice");
            channel.announced = turn;
            self.longest_gap = self.longest_gap.max(now - channel.last_at);
            channel.last_at = now;
        }
    }

    fn fault(&mut self) {
        self.faults += 1;
        let place = usize::try_from(self.draw(self.processes.len() as u64)).unwrap();
        let now = self.now;
        // Each of them may come with a clock that goes back, as where a machine of the database is replaced.
        if self.draw(3) == 0 {
            self.set_back += HOUR_MS;
        }
        match self.draw(3) {
            0 => self.processes[place] = self.started(),
            1 => self.processes[place].paused_until = now + 2_000 + self.draw(20_000),
            _ => self.processes[place].cut_off_until = now + 2_000 + self.draw(20_000),
        }
        let next = 3_000 + self.draw(15_000);
        self.after(next, Event::Fault);
    }
}

fn shard_of_channel(number: usize) -> Shard {
    shard_of(ChannelId::new(100_000_000_000_000_000 + ((number as u64) << 22)), SHARDS)
}

/// Every channel has turns, each once, one process at a time trusts a lease, and in the end all shards are shared alike.
#[test]
fn ten_thousand_channels_on_five_processes_live_through_kills_pauses_and_partitions() {
    for seed in 0..2 {
        let mut fleet = Fleet::new(seed, 5, 10_000);
        fleet.run(90_000, true);
        fleet.run(150_000, false);
        let Fleet { now, made, refused, longest_gap, faults, .. } = fleet;
        println!(
            "seed {seed}: {made} turns, {refused} refused, {faults} faults, longest silence {longest_gap} ms"
        );
        assert!(made > 300_000 && faults > 4 && refused > 0);
        for process in &fleet.processes {
            let shards = process.leases.held().count();
            assert!((51..=52).contains(&shards), "a process holds {shards} shards");
        }
        for channel in &fleet.channels {
            assert!(now - channel.last_at < 25_000, "a channel was forgotten");
        }
    }
}

/// With 256 shards each of a hundred has two or three of them, whoever comes and goes, and no one waits without any.
#[test]
fn each_of_a_hundred_processes_has_its_part_of_256_shards() {
    let mut fleet = Fleet::new(3, 100, 1_000);
    fleet.run(60_000, true);
    fleet.run(100_000, false);
    let mut shares: Vec<_> =
        fleet.processes.iter().map(|process| process.leases.held().count()).collect();
    shares.sort_unstable();
    println!("{} faults, from {} to {} shards a process", fleet.faults, shares[0], shares[99]);
    assert_eq!((shares[0], shares[99]), (2, 3), "{shares:?}");
    assert_eq!(shares.iter().sum::<usize>(), usize::from(SHARDS));
}
