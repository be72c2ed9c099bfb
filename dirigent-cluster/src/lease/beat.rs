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
///    it is removed.
/// 2. With [`renews`](Self::renews), each of [`held`](Self::held) that still has this owner *and* this epoch expires one TTL
///    from now.
/// 3. Each of [`release`](Self::release) that still has this owner and this epoch is free.
/// 4. At most [`take`](Self::take) shards that are free or expired, or that have this owner and are not in `held`, get this owner,
///    the next epoch, and expire one TTL from now.
/// 5. It says whether another process has this one's name, where it has one ([`Namesake`]).
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
}

impl LeaseHeartbeat {
    /// Whether the others are to look at once: the process begins, or gives something back, or leaves. While it leaves, no more
    /// often than it renews: it hears its own call as well, and looks then.
    pub const fn is_news(&self) -> bool {
        let leaves = !self.is_member && self.renews;
        !self.release.is_empty() || leaves || self.number == 1
    }
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
    /// Whether another process has this one's name.
    pub namesake: Option<Namesake>,
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
