//! The guild that there is at the start.

use dirigent::{ChannelId, GuildId, UserId};
use dirigent_testkit::MemoryDiscord;

/// Who is in the guild, and where.
#[derive(Clone, Debug)]
pub(crate) struct Town {
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    /// The person at the terminal, who owns the guild.
    pub(crate) person: UserId,
    /// The bots by name, the moderator first.
    pub(crate) bots: Vec<(&'static str, UserId)>,
}

impl Town {
    pub(crate) fn new(discord: &MemoryDiscord) -> Self {
        let person = discord.add_human();
        discord.account(person).set_name("you");
        let guild = discord.add_guild(person);
        let names = ["moderator", "developer", "reviewer", "tester"];
        let bots: Vec<_> = names.into_iter().map(|name| (name, discord.add_bot())).collect();
        for (number, (name, bot)) in bots.iter().enumerate() {
            discord.account(*bot).set_name(*name);
            discord.guild(guild).set_channel_manager(*bot, number == 0);
        }
        let members: Vec<_> = bots.iter().map(|(_, bot)| *bot).chain([person]).collect();
        let channel = discord.add_channel(guild, "round-table", &members);
        Self { guild, channel, person, bots }
    }
}
