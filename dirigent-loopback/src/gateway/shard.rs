//! The part of the guilds that a session serves (docs: events/gateway, sharding).

use dirigent::ports::GuildId;

/// The most guilds of one shard.
const GUILDS_MAX: usize = 2_500;

/// One of several connections that share a bot's guilds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    id: u64,
    count: u64,
}

impl Shard {
    /// The only shard.
    pub(super) const ONLY: Self = Self { id: 0, count: 1 };

    /// Returns `None` if there is no such shard.
    pub(super) const fn new(id: u64, count: u64) -> Option<Self> {
        if id < count { Some(Self { id, count }) } else { None }
    }

    /// Returns the number of the shard, and the number of all shards.
    pub(super) const fn pair(self) -> [u64; 2] {
        [self.id, self.count]
    }

    /// Returns true if this shard gets events of the guild. The first shard gets direct messages.
    pub(super) fn hears(self, guild: Option<GuildId>) -> bool {
        guild.map_or(self.id == 0, |guild| (guild.get() >> 22) % self.count == self.id)
    }

    /// Returns true if a shard may not have this many guilds.
    pub(super) const fn is_overloaded(guilds: usize) -> bool {
        guilds > GUILDS_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_guild_is_heard_by_exactly_one_shard() {
        let shards: Vec<Shard> = (0..3).map(|id| Shard::new(id, 3).unwrap()).collect();
        for time in 0..30_u64 {
            let guild = Some(GuildId::new((time << 22) + 5));
            let hearing = shards.iter().filter(|shard| shard.hears(guild)).count();
            assert_eq!(hearing, 1);
            assert!(shards[usize::try_from(time % 3).unwrap()].hears(guild));
        }
        assert!(Shard::ONLY.hears(Some(GuildId::new(7))));
    }

    #[test]
    fn direct_messages_go_to_the_first() {
        assert!(Shard::new(0, 2).unwrap().hears(None));
        assert!(!Shard::new(1, 2).unwrap().hears(None));
    }

    #[test]
    fn a_shard_beyond_the_count_is_none() {
        assert_eq!(Shard::new(2, 2), None);
        assert_eq!(Shard::new(0, 0), None);
    }
}
