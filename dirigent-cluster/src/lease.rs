//! Decides which shards of channels a process may act for, by heartbeats to a table that all processes share.
//!
//! [`Leases`] is a value without clock, chance or I/O. You ask it for the next [`LeaseHeartbeat`], carry that to the
//! table as one atomic step, and give back the [`LeaseAnswer`]. The current time is always an argument.
//!
//! ```
//! use std::time::Duration;
//! use dirigent::ports::{Standing, Timestamp};
//! use dirigent_cluster::lease::{LeaseAnswer, Epoch, HeldShard, Leases, Shard, Terms};
//!
//! let start = Timestamp::from_millis(1_000_000);
//! let mut leases = Leases::new(Terms::of(Duration::from_secs(10)), 4);
//! // The first beat only asks who else is there; the next one takes the share of one of one.
//! let beat = leases.next_heartbeat(start).unwrap();
//! leases.answered(start, beat.number, &LeaseAnswer { members: 1, ..LeaseAnswer::default() });
//! let beat = leases.next_heartbeat(start).unwrap();
//! assert_eq!(beat.take, 4);
//! let taken = vec![HeldShard { shard: Shard::new(2), epoch: Epoch::new(7) }];
//! leases.answered(start, beat.number, &LeaseAnswer { members: 1, taken, ..LeaseAnswer::default() });
//!
//! assert_eq!(leases.standing(Shard::new(2), start), Standing::Held);
//! assert_eq!(leases.standing(Shard::new(0), start), Standing::Elsewhere);
//! // Trusted for 9 of the 10 seconds, of which the last 2 start nothing new.
//! let later = |seconds| start + Duration::from_secs(seconds);
//! assert_eq!(leases.standing(Shard::new(2), later(6)), Standing::Held);
//! assert_eq!(leases.standing(Shard::new(2), later(8)), Standing::Quiet);
//! assert_eq!(leases.standing(Shard::new(2), later(9)), Standing::Lapsed);
//! ```

mod beat;
mod shard;
mod terms;

use std::collections::BTreeMap;

use dirigent::ports::{Standing, Timestamp};

pub use self::beat::{AheadRow, HeldShard, LeaseAnswer, LeaseHeartbeat, LeaseRow, SameName};
pub use self::shard::{Epoch, Shard, shard_of};
pub use self::terms::Terms;

/// The leases of one process, as a value.
///
/// * A lease is trusted until *start of the attempt that took or renewed it* + TTL − margin, by the caller's clock. The
///   table lets it expire no earlier than start of the attempt + TTL, by the database's clock. The margin allows for
///   two clocks that run at different speeds.
/// * In the last part of that time ([`Terms::quiet`]) the process starts no new turn: [`Standing::Quiet`].
/// * A lease is remembered after its trust has ended: [`Standing::Lapsed`]. If no other process took the shard, a
///   renewal makes it trusted again, in the same epoch.
/// * A renewal and a release name shard and epoch. An answer counts only for the attempt that it answers.
/// * One attempt runs at a time. If its answer is lost, shards that it may have taken do not count as held.
/// * A process with the name of an earlier one ([`SameName::Earlier`]) is no member until that one is gone. It takes no
///   shard, and gives back its own as if they were another's share.
/// * A row that expires later than now + TTL + margin was written before the database's clock was set back. Its time is
///   useless, so it has expired when this process saw it unchanged for TTL + margin by its own clock ([`AheadRow`]). By
///   then its holder trusts it no longer, because it renewed it last before that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Leases {
    terms: Terms,
    shards: u16,
    held: BTreeMap<Shard, Lease>,
    stage: LeaseMembership,
    attempt: Option<Attempt>,
    attempts: u64,
    /// The number of processes in the last answer; 0 before the first.
    members: u16,
    /// This process's place among them.
    rank: u16,
    /// When the next heartbeat is due; `None` means at once.
    next_at: Option<Timestamp>,
    /// Set if a look was requested during an attempt, which may have read the table too early for it.
    looks_again: bool,
    /// The start of the attempt that renewed the leases last.
    renewed_at: Option<Timestamp>,
    /// Set if another process has this name, by the last answer.
    namesake: Option<SameName>,
    /// Others' rows that expire later than a lease can, and when this process first saw each.
    ahead: BTreeMap<AheadRow, Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lease {
    epoch: Epoch,
    trusted_until: Timestamp,
    /// When it is given back, if it is another's share.
    leaves_at: Option<Timestamp>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Attempt {
    number: u64,
    began: Timestamp,
    renews: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum LeaseMembership {
    /// Holds its share.
    Member,
    /// Takes no more shards, and starts no new turn.
    Leaving,
    /// Gives every shard back.
    Gone,
}

impl Leases {
    /// Creates the leases of a process that holds no shard yet. `shards` is the number of all shards.
    pub const fn new(terms: Terms, shards: u16) -> Self {
        Self {
            terms,
            shards,
            held: BTreeMap::new(),
            stage: LeaseMembership::Member,
            attempt: None,
            attempts: 0,
            members: 0,
            rank: 0,
            next_at: None,
            looks_again: false,
            renewed_at: None,
            namesake: None,
            ahead: BTreeMap::new(),
        }
    }

    /// Returns this process's standing to a shard.
    pub fn standing(&self, shard: Shard, now: Timestamp) -> Standing {
        let Some(lease) = self.held.get(&shard) else {
            return Standing::Elsewhere;
        };
        if now >= lease.trusted_until {
            Standing::Lapsed
        } else if lease.leaves_at.is_some()
            || self.stage != LeaseMembership::Member
            || now + self.terms.quiet >= lease.trusted_until
        {
            Standing::Quiet
        } else {
            Standing::Held
        }
    }

    /// Returns the epoch in which this process holds a shard, if it does. Each commit names it.
    pub fn epoch(&self, shard: Shard) -> Option<Epoch> {
        self.held.get(&shard).map(|lease| lease.epoch)
    }

    /// Returns all held shards in ascending order, trusted or not.
    pub fn held(&self) -> impl Iterator<Item = HeldShard> + '_ {
        self.held.iter().map(|(shard, lease)| HeldShard { shard: *shard, epoch: lease.epoch })
    }

    /// Returns the number of processes in the last answer; 0 before the first.
    pub const fn members(&self) -> u16 {
        self.members
    }

    /// Returns whether another process had this name in the last answer, and which of the two came first.
    pub const fn namesake(&self) -> Option<SameName> {
        self.namesake
    }

    /// Returns how many rows of others expire later than any lease. Above 0, the database's clock was set back.
    pub fn ahead(&self) -> usize {
        self.ahead.len()
    }

    /// Returns whether this process waits until an earlier one of its name is gone.
    fn stands_aside(&self) -> bool {
        self.namesake == Some(SameName::Earlier)
    }

    /// Returns when to call [`next_heartbeat`](Self::next_heartbeat). `None` while an attempt runs, and after the end.
    pub fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let is_over =
            self.stage == LeaseMembership::Gone && self.held.is_empty() && self.attempts > 0;
        (self.attempt.is_none() && !is_over).then(|| self.next_at.unwrap_or(now))
    }

    /// Returns the next heartbeat, if one is due and no attempt runs. Shards that it gives back count as not held from
    /// now on, even if the attempt fails.
    pub fn next_heartbeat(&mut self, now: Timestamp) -> Option<LeaseHeartbeat> {
        if self.next_deadline(now).is_none_or(|at| at > now) {
            return None;
        }
        self.attempts += 1;
        let release = self.release(now);
        let is_member = self.stage == LeaseMembership::Member && !self.stands_aside();
        // While it waits without a shard, it has no lease to renew, and no reason to call the others.
        let has_lease = is_member || self.stage != LeaseMembership::Member || !self.held.is_empty();
        let renews =
            has_lease && self.renewed_at.is_none_or(|at| now >= at + self.terms.renew_every);
        let take = self.wanted();
        let is_over = |since: &Timestamp| now.since(*since) >= self.terms.patience();
        let ahead = self.ahead.keys().copied().collect();
        let expired = self.ahead.iter().filter(|(_, since)| is_over(since));
        let expired = expired.map(|(row, _)| *row).collect();
        self.attempt = Some(Attempt { number: self.attempts, began: now, renews });
        Some(LeaseHeartbeat {
            number: self.attempts,
            is_member,
            held: self.held().collect(),
            renews,
            release,
            take,
            ahead,
            expired,
        })
    }

    /// Takes the shards that must be given back now.
    fn release(&mut self, now: Timestamp) -> Vec<HeldShard> {
        let is_gone = self.stage == LeaseMembership::Gone;
        let is_due = |lease: &Lease| is_gone || lease.leaves_at.is_some_and(|at| at <= now);
        let mut released = Vec::new();
        self.held.retain(|shard, lease| {
            let leaves = is_due(lease);
            if leaves {
                released.push(HeldShard { shard: *shard, epoch: lease.epoch });
            }
            !leaves
        });
        released
    }

    /// Returns how many shards this process may hold. All get the same number, and the first ones get one more until
    /// none is left. So no process is without a shard if there are enough.
    fn share(&self) -> usize {
        if self.stands_aside() {
            return 0;
        }
        let members = self.members.max(1);
        usize::from(self.shards / members + u16::from(self.rank < self.shards % members))
    }

    fn wanted(&self) -> u16 {
        if self.stage != LeaseMembership::Member || self.members == 0 {
            return 0;
        }
        u16::try_from(self.share().saturating_sub(self.held.len())).unwrap_or(self.shards)
    }

    /// Takes the table's answer. Returns `false`, and changes no state, if it does not answer the current attempt.
    pub fn answered(&mut self, now: Timestamp, number: u64, answer: &LeaseAnswer) -> bool {
        let Some(attempt) = self.attempt.take_if(|attempt| attempt.number == number) else {
            return false;
        };
        let trusted_until = attempt.began + self.terms.trust();
        if attempt.renews {
            self.renewed_at = Some(attempt.began);
            // A shard that was not renewed belongs to another process, or was given back.
            self.held.retain(|shard, lease| {
                let held = HeldShard { shard: *shard, epoch: lease.epoch };
                let is_kept = answer.renewed.contains(&held);
                if is_kept {
                    lease.trusted_until = lease.trusted_until.max(trusted_until);
                }
                is_kept
            });
        }
        for HeldShard { shard, epoch } in &answer.taken {
            let lease = Lease { epoch: *epoch, trusted_until, leaves_at: None };
            self.held.insert(*shard, lease);
        }
        // Counted from the answer: the table had the row before now, so the wait is never too short.
        let seen = answer.ahead.iter().map(|row| (*row, *self.ahead.get(row).unwrap_or(&now)));
        self.ahead = seen.collect();
        let stood_aside = self.stands_aside();
        self.namesake = answer.namesake.filter(|_| self.stage == LeaseMembership::Member);
        let may_return = stood_aside && !self.stands_aside();
        let is_first = self.members == 0;
        (self.members, self.rank) = (answer.members, answer.rank);
        self.balance(now);
        let has_more = !answer.taken.is_empty() || is_first;
        let looks_again = std::mem::take(&mut self.looks_again);
        let at_once = looks_again
            || may_return
            || self.stage == LeaseMembership::Gone
            || (has_more && self.wanted() > 0);
        self.next_at = (!at_once).then(|| self.next_look(now));
        true
    }

    /// Reports that the attempt failed, or that its answer is lost. Shards that it may have taken do not count as held.
    pub fn failed(&mut self, now: Timestamp, number: u64) {
        if self.attempt.take_if(|attempt| attempt.number == number).is_some() {
            self.next_at = Some(now + self.terms.look_every);
        }
    }

    /// Returns the time of the next look at the table: earlier if a shard must be given back before.
    fn next_look(&self, now: Timestamp) -> Timestamp {
        let leaves = self.held.values().filter_map(|lease| lease.leaves_at).min();
        leaves.into_iter().fold(now + self.terms.look_every, Timestamp::min).max(now)
    }

    /// Lets shards beyond this process's share leave once running work had time to end. One that is needed again stays.
    fn balance(&mut self, now: Timestamp) {
        if self.stage != LeaseMembership::Member {
            return;
        }
        let share = self.share();
        let leaves_at = now + self.terms.drain;
        for (number, lease) in self.held.values_mut().enumerate() {
            if number < share {
                lease.leaves_at = None;
            } else {
                lease.leaves_at.get_or_insert(leaves_at);
            }
        }
    }

    /// Makes the next heartbeat due now, or when the current attempt is answered. Call it when another process gave
    /// shards back, came or left.
    pub const fn look_now(&mut self) {
        self.next_at = None;
        self.looks_again = self.attempt.is_some();
    }

    /// Announces that the process will end. The others learn of it, no new turn starts here, and running work may end.
    pub fn resign(&mut self) {
        self.stage = self.stage.max(LeaseMembership::Leaving);
        // Renew at once, so that running work has the whole TTL, and the others learn of it.
        self.renewed_at = None;
        self.look_now();
    }

    /// Ends the process: the next heartbeat gives back all that it holds.
    pub fn end(&mut self) {
        self.stage = LeaseMembership::Gone;
        self.look_now();
    }

    /// Ends without a heartbeat: leases are neither renewed nor given back, so they expire.
    pub fn abandon(&mut self) {
        self.stage = LeaseMembership::Gone;
        self.held.clear();
        self.attempt = None;
    }

    /// Returns whether the process has ended. It then at most gives its shards back.
    pub fn is_ending(&self) -> bool {
        self.stage == LeaseMembership::Gone
    }

    /// Returns whether every shard was given back.
    pub fn is_over(&self) -> bool {
        self.stage == LeaseMembership::Gone && self.held.is_empty() && self.attempt.is_none()
    }
}

#[cfg(test)]
mod tests;
