//! The role that Discord creates for each bot of a guild, and that only the bot has.

use dirigent::UserId;
use dirigent::ports::{AuthorKind, GuildId};

use super::LoopbackDiscord;
use dirigent_testkit::memory_discord::places::Guild;
use dirigent_testkit::memory_discord::role::RoleId;
use dirigent_testkit::memory_discord::world::World;

/// The bits of an id below its time.
const NUMBER: u64 = (1 << 22) - 1;

/// The highest of these bits, which no other id here has.
const MARK: u64 = 1 << 21;

/// Returns the role of a bot in a guild. Its id follows from theirs, so that it is the same after every start.
pub(crate) fn managed_role(guild: GuildId, bot: UserId) -> RoleId {
    let spread = guild.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 43;
    let number = (bot.get() ^ spread) & (MARK - 1);
    RoleId::new(bot.get() & !NUMBER | MARK | number)
}

/// Returns the bots of a guild with their roles.
pub(crate) fn managed_roles(
    world: &World,
    id: GuildId,
    guild: &Guild,
) -> impl Iterator<Item = (RoleId, UserId)> {
    let bots = guild.members.keys().copied().filter(|user| is_bot(world, *user));
    bots.map(move |bot| (managed_role(id, bot), bot))
}

pub(crate) fn is_bot(world: &World, user: UserId) -> bool {
    world.accounts.get(user).is_some_and(|account| account.kind == AuthorKind::Bot)
}

impl LoopbackDiscord {
    /// Returns the role that Discord manages for a bot of a guild. People can mention the bot by it, as `<@&id>`.
    /// It has the bot's name and no permissions, and no other account can have it.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use dirigent_loopback::LoopbackDiscord;
    /// use dirigent_testkit::{ManualClock, MemoryDiscord};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
    /// let (person, bot) = (discord.add_human(), discord.add_bot());
    /// let guild = discord.add_guild(person);
    /// let channel = discord.add_channel(guild, "round-table", &[bot]);
    /// let loopback = LoopbackDiscord::start(discord).await?;
    /// loopback.say(channel, person, format!("<@&{}> please", loopback.managed_role(guild, bot)))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn managed_role(&self, guild: GuildId, bot: UserId) -> RoleId {
        managed_role(guild, bot)
    }
}
