//! Which part of the guilds a session hears (docs: events/gateway, sharding).

use dirigent::ports::GuildId;

/// The most guilds that one shard may carry.
const GUILDS_MAX: usize = 2_500;

/// One of several connections that share a bot's guilds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    id: u64,
    count: u64,
}

impl Shard {
    /// The only one.
    pub(super) const ONLY: Self = Self { id: 0, count: 1 };

    /// None where there is no such shard.
    pub(super) const fn new(id: u64, count: u64) -> Option<Self> {
        if id < count { Some(Self { id, count }) } else { None }
    }

    /// Its number and how many there are.
    pub(super) const fn pair(self) -> [u64; 2] {
        [self.id, self.count]
    }

    /// Whether events from here go to this shard. Direct messages go to the first.
    pub(super) fn hears(self, guild: Option<GuildId>) -> bool {
        guild.map_or(self.id == 0, |guild| (guild.get() >> 22) % self.count == self.id)
    }

    /// Whether these are more guilds than a shard may carry.
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
