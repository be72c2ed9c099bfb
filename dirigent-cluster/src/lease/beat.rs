//! The heartbeat that goes to the table, and the answer that comes back.

use super::shard::{Epoch, Shard};

/// A shard, and the epoch under which it is held.
///
/// ```
/// use dirigent_cluster::lease::{Epoch, HeldShard, Shard};
/// let held = HeldShard { shard: Shard::new(3), epoch: Epoch::new(9) };
/// assert_eq!(held.to_string(), "shard 3 in epoch 9");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a pair that tables take apart and put together")]
pub struct HeldShard {
    /// The shard.
    pub shard: Shard,
    /// The term in which it is held.
    pub epoch: Epoch,
}

impl std::fmt::Display for HeldShard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shard {} in epoch {}", self.shard, self.epoch)
    }
}

/// One atomic step that a process asks of the table. The table does, in this order:
///
/// 1. It extends the process's own row among the members to one TTL from now, or removes it if
///    [`is_member`](Self::is_member) is not set. It also removes others' rows that have expired or are listed in
///    [`expired`](Self::expired).
/// 2. With [`renews`](Self::renews), each of [`held`](Self::held) that still has this owner *and* this epoch expires
///    one TTL from now.
/// 3. It frees each of [`release`](Self::release) that still has this owner and this epoch.
/// 4. It gives at most [`take`](Self::take) shards this owner and their next epoch, for one TTL from now. These are
///    shards that are free, expired or listed in `expired`, and shards that have this owner but are not in `held`.
/// 5. If the process has a name, it says whether another process has it, too ([`SameName`]).
/// 6. It lists others' rows that expire later than now + TTL + margin, or are listed in [`ahead`](Self::ahead).
///
/// *Now* is the database's time once the row is locked, never the process's time.
///
/// ```
/// use std::time::Duration;
/// use dirigent::ports::Timestamp;
/// use dirigent_cluster::lease::{Leases, Terms};
///
/// let mut leases = Leases::new(Terms::of(Duration::from_secs(10)), 256);
/// let beat = leases.next_heartbeat(Timestamp::from_millis(0)).unwrap();
/// assert!(beat.is_member && beat.held.is_empty() && beat.take == 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct LeaseHeartbeat {
    /// The number of the attempt, which the answer must name.
    pub number: u64,
    /// `true` if the process counts among those that share the shards.
    pub is_member: bool,
    /// The shards that the process holds.
    pub held: Vec<HeldShard>,
    /// `true` if these are to be renewed.
    pub renews: bool,
    /// The shards that the process gives back.
    pub release: Vec<HeldShard>,
    /// The number of further shards that the process wants.
    pub take: u16,
    /// Others' rows that are watched, because the table's last answer listed them. None counts as a namesake.
    pub ahead: Vec<AheadRow>,
    /// The watched rows that have expired, because they did not change for TTL + margin by this process's clock.
    pub expired: Vec<AheadRow>,
}

impl LeaseHeartbeat {
    /// Returns whether the others must look at once, because this process begins, gives a shard back, or leaves. While
    /// it leaves, it calls only with a renewal: it hears its own call, too, and would look again after each.
    pub const fn is_news(&self) -> bool {
        let leaves = !self.is_member && self.renews;
        !self.release.is_empty() || leaves || self.number == 1
    }
}

/// A row of another process that expires later than a lease can, because the database's clock was set back after it was
/// written. A process takes it for expired once it saw it unchanged for TTL + margin by its own clock.
///
/// ```
/// use dirigent_cluster::lease::{AheadRow, LeaseRow, Shard};
/// let row = AheadRow { row: LeaseRow::Shard(Shard::new(3)), version: 1_024 };
/// assert!(row < AheadRow { row: LeaseRow::Member(-7), ..row });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a pair that tables take apart and put together")]
pub struct AheadRow {
    /// The row of the table.
    pub row: LeaseRow,
    /// A number that changes whenever the row is written. The row's time is not enough: after the clock was set back, a
    /// renewal may write the same time again.
    pub version: i64,
}

/// A row of the table.
///
/// ```
/// use dirigent_cluster::lease::{LeaseRow, Shard};
/// assert_ne!(LeaseRow::Shard(Shard::new(7)), LeaseRow::Member(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the table has rows of two kinds")]
pub enum LeaseRow {
    /// The row of a shard.
    Shard(Shard),
    /// The row of one start of a process.
    Member(i64),
}

/// The table's answer to a [`LeaseHeartbeat`].
///
/// ```
/// use dirigent_cluster::lease::LeaseAnswer;
/// assert_eq!(LeaseAnswer::default().members, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an answer that tables put together")]
pub struct LeaseAnswer {
    /// The renewed shards, if the heartbeat asked for that.
    pub renewed: Vec<HeldShard>,
    /// The shards that were taken, each with its new epoch.
    pub taken: Vec<HeldShard>,
    /// The number of processes, including this one if it is a member.
    pub members: u16,
    /// The number of other processes before this one, in an order that all agree on. If the shards do not divide
    /// evenly, the first processes get one more.
    pub rank: u16,
    /// Set if another process has this one's name.
    pub namesake: Option<SameName>,
    /// Others' rows that expire later than a lease can, and watched rows that have not changed.
    pub ahead: Vec<AheadRow>,
}

/// Another process with this one's name that runs at the same time. Two processes of one name are a mistake, because a
/// question to the name reaches only one of them.
///
/// ```
/// use dirigent_cluster::lease::{LeaseAnswer, Leases, SameName, Terms};
/// use dirigent::ports::Timestamp;
///
/// let now = Timestamp::from_millis(1_000_000);
/// let mut leases = Leases::new(Terms::default(), 4);
/// let beat = leases.next_heartbeat(now).unwrap();
/// let answer = LeaseAnswer { members: 2, namesake: Some(SameName::Earlier), ..LeaseAnswer::default() };
/// leases.answered(now, beat.number, &answer);
/// // It looks whether the other one is still there, and takes nothing.
/// let beat = leases.next_heartbeat(now + Terms::default().look_every).unwrap();
/// assert!(!beat.is_member && beat.take == 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one of two processes is the earlier one")]
pub enum SameName {
    /// It was a member before this process became one, and has renewed since; so the row that a killed process left
    /// does not count. While this process is no member, every member of the name counts.
    Earlier,
    /// It became a member after this process.
    Later,
}
