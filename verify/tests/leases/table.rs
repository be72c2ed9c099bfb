//! The table of leases, of one row.

use dirigent_cluster::lease::{Epoch, HeldShard, LeaseAnswer, LeaseHeartbeat, Shard};

use super::setting::{Rule, Setting};

pub(super) const SHARD: Shard = Shard::new(0);
/// How long a lease lasts, in ticks.
pub(super) const TTL: u8 = 4;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Table {
    pub(super) owner: Option<u8>,
    pub(super) epoch: u8,
    pub(super) expires: u8,
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
}

impl From<LeaseHeartbeat> for SentBeat {
    fn from(beat: LeaseHeartbeat) -> Self {
        let LeaseHeartbeat { number, is_member, renews, held, release, take, .. } = beat;
        Self { number, is_member, renews, held, release, take }
    }
}

fn held(epoch: u8) -> HeldShard {
    HeldShard { shard: SHARD, epoch: Epoch::new(epoch.into()) }
}

impl Table {
    pub(super) fn new() -> Self {
        Self { owner: None, epoch: 0, expires: 0, members: Vec::new() }
    }

    /// The four steps of a beat, as one.
    pub(super) fn beat(
        &mut self,
        setting: &Setting,
        by: u8,
        now: u8,
        beat: &SentBeat,
    ) -> LeaseAnswer {
        self.members.retain(|(member, until)| *member != by && *until > now);
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
            self.expires = now + TTL;
            answer.renewed.clone_from(&beat.held);
        }
        if is_of_term(Rule::ResignationNamesTheTerm, &beat.release) {
            (self.owner, self.expires) = (None, now);
        }
        let is_named = !beat.held.is_empty() || !beat.release.is_empty();
        let early = u8::from(!setting.has(Rule::TakeOverAfterTheEnd));
        let is_free = self.owner.is_none() || is_own || self.expires <= now + early;
        if beat.take > 0 && !is_named && is_free {
            self.epoch += u8::from(setting.has(Rule::NextEpoch));
            (self.owner, self.expires) = (Some(by), now + TTL);
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
