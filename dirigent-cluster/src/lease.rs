//! Which shards of channels a process may act for: beats go to a table that all processes share, answers come back.
//!
//! [`Leases`] is a value without clock, chance or I/O. The shell that owns it asks for the next [`LeaseHeartbeat`], carries it to
//! the table as one atomic step, and hands back the [`LeaseAnswer`]; the time is an argument everywhere.
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

pub use self::beat::{AheadRow, HeldShard, LeaseAnswer, LeaseHeartbeat, LeaseRow, Namesake};
pub use self::shard::{Epoch, Shard, shard_of};
pub use self::terms::Terms;

/// The leases of one process, as a value.
///
/// * A lease is trusted until *start of the attempt that took or renewed it* + TTL − margin, on the clock of the caller. The
///   table lets it expire no earlier than start of the attempt + TTL on the clock of the database; the margin is for two
///   clocks that do not run alike.
/// * In the last part of that time ([`Terms::quiet`]) nothing new is started: [`Standing::Quiet`].
/// * A lease whose trust has ended is not forgotten ([`Standing::Lapsed`]): where no other process has taken the shard, a
///   renewal makes it trusted again, with the same epoch.
/// * A renewal and a resignation name shard and epoch. An answer counts only for the attempt that it answers.
/// * One attempt is under way at a time. What a lost answer may have taken is not held.
/// * A process whose name an earlier one has ([`Namesake::Earlier`]) is no member until that one is gone: it takes nothing, and
///   gives back what it holds as if it were another's share.
/// * A row that lasts for longer than TTL and margin was written before the clock of the database was set back. Its time says
///   nothing. It has expired when this process saw it unchanged for TTL and margin on its own clock ([`AheadRow`]): its
///   holder renewed it last before that, and has trusted it for less.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Leases {
    terms: Terms,
    /// How many shards there are.
    shards: u16,
    held: BTreeMap<Shard, Lease>,
    stage: LeaseMembership,
    attempt: Option<Attempt>,
    attempts: u64,
    /// How many processes there were by the last answer; 0 before the first.
    members: u16,
    /// Its place among them.
    rank: u16,
    /// When the next beat is due; at once where there is none.
    next_at: Option<Timestamp>,
    /// A look was asked for while an attempt was under way, which may have been too early for it.
    looks_again: bool,
    /// When the leases were renewed last: the start of that attempt.
    renewed_at: Option<Timestamp>,
    /// Another process of this one's name, by the last answer.
    namesake: Option<Namesake>,
    /// Rows of others that last for longer than they can, and since when each is seen.
    ahead: BTreeMap<AheadRow, Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Lease {
    epoch: Epoch,
    trusted_until: Timestamp,
    /// When it is given back.
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
    /// Takes no more, and starts nothing new.
    Leaving,
    /// Gives everything back.
    Gone,
}

impl Leases {
    /// A process that holds nothing yet, among `shards` shards.
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

    /// How this process stands to a shard.
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

    /// The epoch under which this process holds a shard, which each commit names.
    pub fn epoch(&self, shard: Shard) -> Option<Epoch> {
        self.held.get(&shard).map(|lease| lease.epoch)
    }

    /// What is held, trusted or not, in ascending order.
    pub fn held(&self) -> impl Iterator<Item = HeldShard> + '_ {
        self.held.iter().map(|(shard, lease)| HeldShard { shard: *shard, epoch: lease.epoch })
    }

    /// How many processes there were by the last answer; 0 before the first.
    pub const fn members(&self) -> u16 {
        self.members
    }

    /// Whether another process has this one's name, by the last answer.
    pub const fn namesake(&self) -> Option<Namesake> {
        self.namesake
    }

    /// How many rows of others last for longer than they can, by the last answer: the clock of the database was set back.
    pub fn ahead(&self) -> usize {
        self.ahead.len()
    }

    /// Whether an earlier process has the name: this one waits until that one is gone.
    fn stands_aside(&self) -> bool {
        self.namesake == Some(Namesake::Earlier)
    }

    /// When [`next_heartbeat`](Self::next_heartbeat) may have one; `None` while an attempt is under way, and after the end.
    pub fn next_deadline(&self, now: Timestamp) -> Option<Timestamp> {
        let is_over =
            self.stage == LeaseMembership::Gone && self.held.is_empty() && self.attempts > 0;
        (self.attempt.is_none() && !is_over).then(|| self.next_at.unwrap_or(now))
    }

    /// The next beat, if one is due and none is under way. What it gives back is not held any more from now on, whatever comes
    /// of the attempt.
    pub fn next_heartbeat(&mut self, now: Timestamp) -> Option<LeaseHeartbeat> {
        if self.next_deadline(now).is_none_or(|at| at > now) {
            return None;
        }
        self.attempts += 1;
        let release = self.release(now);
        let is_member = self.stage == LeaseMembership::Member && !self.stands_aside();
        // While it waits with nothing in hand there is nothing to renew, and no one to call.
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

    /// Takes what is to be given back now.
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

    /// How many shards this process holds at most: all hold alike, and what is left goes to the first, one to each. So no process
    /// holds none where there are enough.
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

    /// The table answered. `false`, and nothing changes, where the answer is not that of the attempt under way.
    pub fn answered(&mut self, now: Timestamp, number: u64, answer: &LeaseAnswer) -> bool {
        let Some(attempt) = self.attempt.take_if(|attempt| attempt.number == number) else {
            return false;
        };
        let trusted_until = attempt.began + self.terms.trust();
        if attempt.renews {
            self.renewed_at = Some(attempt.began);
            // What was not renewed is another process's, or was given back.
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
        // The table had each of them before now: it is seen for no longer than that.
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

    /// The attempt failed, or its answer is lost: whatever it did, nothing of it is held.
    pub fn failed(&mut self, now: Timestamp, number: u64) {
        if self.attempt.take_if(|attempt| attempt.number == number).is_some() {
            self.next_at = Some(now + self.terms.look_every);
        }
    }

    /// The next look at the table, or earlier where something is to be given back.
    fn next_look(&self, now: Timestamp) -> Timestamp {
        let leaves = self.held.values().filter_map(|lease| lease.leaves_at).min();
        leaves.into_iter().fold(now + self.terms.look_every, Timestamp::min).max(now)
    }

    /// What is beyond the share of this process leaves it, once what is under way there had time to end; what was to leave and
    /// is wanted again stays.
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

    /// Another process gave shards back, or came or left: the next beat is due now, or as soon as the attempt under way is
    /// answered.
    pub const fn look_now(&mut self) {
        self.next_at = None;
        self.looks_again = self.attempt.is_some();
    }

    /// The process will end: the others learn so, nothing new is started here, and what is under way may end.
    pub fn resign(&mut self) {
        self.stage = self.stage.max(LeaseMembership::Leaving);
        // With a renewal, so that what is under way has its whole time, and the others learn of it.
        self.renewed_at = None;
        self.look_now();
    }

    /// The process has ended: all that it holds is given back with the next beat.
    pub fn end(&mut self) {
        self.stage = LeaseMembership::Gone;
        self.look_now();
    }

    /// Nothing is renewed any more, and nothing given back: what was held is left to expire.
    pub fn abandon(&mut self) {
        self.stage = LeaseMembership::Gone;
        self.held.clear();
        self.attempt = None;
    }

    /// Whether the process has ended, and at most gives back what it holds.
    pub fn is_ending(&self) -> bool {
        self.stage == LeaseMembership::Gone
    }

    /// Whether everything was given back.
    pub fn is_over(&self) -> bool {
        self.stage == LeaseMembership::Gone && self.held.is_empty() && self.attempt.is_none()
    }
}

#[cfg(test)]
mod tests;
