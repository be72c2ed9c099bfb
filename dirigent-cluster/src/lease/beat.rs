//! What goes to the table, and what comes back.

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
    /// Which shard.
    pub shard: Shard,
    /// The number of the term in which it is held.
    pub epoch: Epoch,
}

impl std::fmt::Display for HeldShard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shard {} in epoch {}", self.shard, self.epoch)
    }
}

/// What a process asks of the table, as one atomic step. The table does, in this order:
///
/// 1. The process's own row among the members lives for another TTL from now; where [`is_member`](Self::is_member) is not set
///    it is removed. So are the rows of others that have expired or stand in [`expired`](Self::expired).
/// 2. With [`renews`](Self::renews), each of [`held`](Self::held) that still has this owner *and* this epoch expires one TTL
///    from now.
/// 3. Each of [`release`](Self::release) that still has this owner and this epoch is free.
/// 4. At most [`take`](Self::take) shards that are free or expired or stand in `expired`, or that have this owner and are not in
///    `held`, get this owner, the next epoch, and expire one TTL from now.
/// 5. It says whether another process has this one's name, where it has one ([`Namesake`]).
/// 6. It says which rows of others last for longer than TTL and margin from now, or stand in [`ahead`](Self::ahead).
///
/// *Now* is the time of the database when the row is in hand, never that of the process.
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
    /// Which attempt it is, for the answer.
    pub number: u64,
    /// Whether the process counts among those that share the shards.
    pub is_member: bool,
    /// What the process holds.
    pub held: Vec<HeldShard>,
    /// Whether that is to be renewed.
    pub renews: bool,
    /// What the process gives back.
    pub release: Vec<HeldShard>,
    /// How many more shards the process wants.
    pub take: u16,
    /// What is watched: rows of others that the table named with the answer before. None of them is a namesake.
    pub ahead: Vec<AheadRow>,
    /// Those of them that have expired: they did not change for TTL and margin by this process's clock.
    pub expired: Vec<AheadRow>,
}

impl LeaseHeartbeat {
    /// Whether the others are to look at once: the process begins, or gives something back, or leaves. While it leaves, no more
    /// often than it renews: it hears its own call as well, and looks then.
    pub const fn is_news(&self) -> bool {
        let leaves = !self.is_member && self.renews;
        !self.release.is_empty() || leaves || self.number == 1
    }
}

/// A row of another process that lasts for longer than it can: the clock of the database was set back after it was written. Who
/// waits for it takes it for expired when it has seen it unchanged for TTL and margin by a clock of its own.
///
/// ```
/// use dirigent_cluster::lease::{AheadRow, LeaseRow, Shard};
/// let row = AheadRow { row: LeaseRow::Shard(Shard::new(3)), version: 1_024 };
/// assert!(row < AheadRow { row: LeaseRow::Member(-7), ..row });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a pair that tables take apart and put together")]
pub struct AheadRow {
    /// Which row.
    pub row: LeaseRow,
    /// A number that changes whenever the row is written. By its time alone it cannot be known again: after the clock was set back, a
    /// renewal may write the same one once more.
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
    /// That of a shard.
    Shard(Shard),
    /// That of a start of a process.
    Member(i64),
}

/// What the table did.
///
/// ```
/// use dirigent_cluster::lease::LeaseAnswer;
/// assert_eq!(LeaseAnswer::default().members, 0);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an answer that tables put together")]
pub struct LeaseAnswer {
    /// What was renewed, where that was asked for.
    pub renewed: Vec<HeldShard>,
    /// What was taken, each with its new epoch.
    pub taken: Vec<HeldShard>,
    /// How many processes there are, this one included where it is a member.
    pub members: u16,
    /// How many of the others come before this process in an order that all agree on: what is left when the shards are divided
    /// goes to the first.
    pub rank: u16,
    /// Whether another process has this one's name.
    pub namesake: Option<Namesake>,
    /// Rows of others that last for longer than they can, and those that were watched and have not changed.
    pub ahead: Vec<AheadRow>,
}

/// Another process with the name of this one, which runs at the same time. Two processes of one name are a mistake: what others
/// ask of the name reaches one of them only.
///
/// ```
/// use dirigent_cluster::lease::{LeaseAnswer, Leases, Namesake, Terms};
/// use dirigent::ports::Timestamp;
///
/// let now = Timestamp::from_millis(1_000_000);
/// let mut leases = Leases::new(Terms::default(), 4);
/// let beat = leases.next_heartbeat(now).unwrap();
/// let answer = LeaseAnswer { members: 2, namesake: Some(Namesake::Earlier), ..LeaseAnswer::default() };
/// leases.answered(now, beat.number, &answer);
/// // It looks whether the other one is still there, and takes nothing.
/// let beat = leases.next_heartbeat(now + Terms::default().look_every).unwrap();
/// assert!(!beat.is_member && beat.take == 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "one of two processes is the earlier one")]
pub enum Namesake {
    /// It was a member before this process became one, and has renewed since; or, while this process is no member, it is one. A
    /// process that was killed and left its row behind does not renew, and is none.
    Earlier,
    /// It became a member after this process.
    Later,
}
