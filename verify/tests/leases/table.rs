//! The table of leases, of one row.

use dirigent_cluster::lease::{
    AheadRow, Epoch, HeldShard, LeaseAnswer, LeaseHeartbeat, LeaseRow, Shard,
};

use super::setting::{Rule, Setting};

pub(super) const SHARD: Shard = Shard::new(0);
/// How long a lease lasts, in ticks.
pub(super) const TTL: u8 = 4;
/// By how much the table's clock is set back.
const BACK: u8 = 2 * TTL;
/// What it shows in the beginning.
const START: u8 = BACK;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Table {
    pub(super) owner: Option<u8>,
    pub(super) epoch: u8,
    /// By its own clock.
    expires: u8,
    /// How often that was set back.
    backs: u8,
    /// Until when the lease lasts in truth, whatever the clock shows.
    pub(super) until: u8,
    /// Until when each start of a process counts.
    pub(super) members: Vec<(u8, u8)>,
}

/// A beat on its way, and the answer that it will have.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct SentBeat {
    pub(super) number: u64,
    is_member: bool,
    renews: bool,
    held: Vec<HeldShard>,
    release: Vec<HeldShard>,
    take: u16,
    ahead: Vec<AheadRow>,
    expired: Vec<AheadRow>,
}

impl From<LeaseHeartbeat> for SentBeat {
    fn from(beat: LeaseHeartbeat) -> Self {
        let LeaseHeartbeat {
            number, is_member, renews, held, release, take, ahead, expired, ..
        } = beat;
        Self { number, is_member, renews, held, release, take, ahead, expired }
    }
}

fn held(epoch: u8) -> HeldShard {
    HeldShard { shard: SHARD, epoch: Epoch::new(epoch.into()) }
}

impl Table {
    pub(super) fn new() -> Self {
        Self { owner: None, epoch: 0, expires: 0, backs: 0, until: 0, members: Vec::new() }
    }

    /// Its clock is set back: what stands there lasts for longer than it can.
    pub(super) fn set_back(&mut self) {
        self.backs += 1;
    }

    fn last(&mut self, time: u8, now: u8, ticks: u8) {
        (self.expires, self.until) = (now + ticks, time + ticks);
    }

    /// The four steps of a beat, as one.
    pub(super) fn beat(
        &mut self,
        setting: &Setting,
        by: u8,
        time: u8,
        beat: &SentBeat,
    ) -> LeaseAnswer {
        let now = START + time - BACK * self.backs;
        let longest = now + TTL + 1;
        // One shard is no less with more members: rows of those that are gone need not be watched here.
        let lasts = |until: u8| until > now && until <= longest;
        self.members.retain(|(member, until)| *member != by && lasts(*until));
        let mut answer = LeaseAnswer::default();
        if beat.is_member {
            self.members.push((by, now + TTL));
            self.members.sort_unstable();
        }
        answer.members = u16::try_from(self.members.len()).unwrap();
        let is_own = self.owner == Some(by);
        let row = held(self.epoch);
        let is_of_term = |rule, named: &[HeldShard]| {
            let is_same = is_own && named.contains(&row);
            !named.is_empty() && (is_same || !setting.has(rule))
        };
        let is_old = is_own && !setting.has(Rule::RenewalNamesTheEpoch) && !beat.held.is_empty();
        if beat.renews && (is_old || is_of_term(Rule::RenewalNamesTheTerm, &beat.held)) {
            self.last(time, now, TTL);
            answer.renewed.clone_from(&beat.held);
        }
        if is_of_term(Rule::ResignationNamesTheTerm, &beat.release) {
            self.owner = None;
            self.last(time, now, 0);
        }
        let is_named = !beat.held.is_empty() || !beat.release.is_empty();
        let early = u8::from(!setting.has(Rule::TakeOverAfterTheEnd));
        let watched = AheadRow { row: LeaseRow::Shard(SHARD), version: self.until.into() };
        let is_same = |one: &AheadRow| *one == watched || !setting.has(Rule::ExpiredNamesTheRow);
        let is_ahead = self.owner.is_some() && !is_own && self.expires > longest;
        let is_judged =
            beat.expired.iter().any(is_same) || (is_ahead && !setting.has(Rule::AheadIsWatched));
        if is_ahead || beat.ahead.contains(&watched) {
            answer.ahead.push(watched);
        }
        let is_free = self.owner.is_none() || is_own || self.expires <= now + early || is_judged;
        if beat.take > 0 && !is_named && is_free {
            self.epoch += u8::from(setting.has(Rule::NextEpoch));
            self.owner = Some(by);
            self.last(time, now, TTL);
            answer.taken.push(held(self.epoch));
        }
        answer
    }

    /// Whether this process holds the shard in this epoch.
    pub(super) fn is_of(&self, owner: u8, epoch: u8) -> bool {
        self.owner == Some(owner) && self.epoch == epoch
    }

    /// Each process is given another name.
    pub(super) fn rename(&mut self, name: impl Fn(u8) -> u8) {
        self.owner = self.owner.map(&name);
        for (member, _) in &mut self.members {
            *member = name(*member);
        }
        self.members.sort_unstable();
    }
}

impl SentBeat {
    /// Whether the sender held the shard in this epoch, or gives it back.
    pub(super) fn names(&self, epoch: u8) -> bool {
        self.held.contains(&held(epoch)) || self.release.contains(&held(epoch))
    }

    /// Whether the sender wants a shard, and has none.
    pub(super) fn takes(&self) -> bool {
        self.take > 0 && self.held.is_empty() && self.release.is_empty()
    }
}
