//! The guild at the start.

use dirigent::ports::GuildId;
use dirigent::ports::Timestamp;
use dirigent::{ChannelId, UserId};
use dirigent_testkit::MemoryDiscord;
use dirigent_testkit::memory_discord::Permissions;
use serde::{Deserialize, Serialize};

/// The earliest time of seeded ids: the start of 2016, in Unix milliseconds.
const SEEDED_FROM_MS: u64 = 1_451_606_400_000;

/// The guild with its channel and its accounts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Numbers", into = "Numbers")]
pub(crate) struct SeededGuild {
    pub(crate) guild: GuildId,
    pub(crate) channel: ChannelId,
    /// The person at the terminal, who owns the guild.
    pub(crate) person: UserId,
    /// The bots by name, the moderator first.
    pub(crate) bots: Vec<(String, UserId)>,
}

impl SeededGuild {
    /// Creates the guild with this many agents. A seed always gives the same ids, and with them the same
    /// tokens.
    pub(crate) fn new(discord: &MemoryDiscord, seed: Option<u64>, agents: u8) -> Self {
        match seed {
            // 36 bits of milliseconds are a little more than two years, so all these times are in the past.
            Some(seed) => {
                let spread = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 28;
                let moment = Timestamp::from_millis(SEEDED_FROM_MS + spread);
                discord.with_ids_of(moment, |discord| Self::set(discord, agents))
            }
            None => Self::set(discord, agents),
        }
    }

    /// Returns the moderator.
    pub(crate) fn moderator(&self) -> UserId {
        self.bots.first().map_or(self.person, |(_, bot)| *bot)
    }

    fn set(discord: &MemoryDiscord, agents: u8) -> Self {
        let person = discord.add_human();
        discord.account(person).set_name("you");
        let guild = discord.add_guild(person);
        let names = ["moderator", "developer", "reviewer", "tester"].map(str::to_owned);
        let names = names.into_iter().chain((4..=agents).map(|number| format!("agent{number}")));
        let bots = names.take(usize::from(agents) + 1).map(|name| (name, discord.add_bot()));
        let bots: Vec<_> = bots.collect();
        for (number, (name, bot)) in bots.iter().enumerate() {
            discord.account(*bot).set_name(name.as_str());
            discord.guild(guild).set_channel_manager(*bot, number == 0);
        }
        let members: Vec<_> = bots.iter().map(|(_, bot)| *bot).chain([person]).collect();
        let channel = discord.add_channel(guild, "round-table", &members);
        // The permissions that bots try in their first hour.
        let moderate = Permissions::MANAGE_MESSAGES
            | Permissions::PIN_MESSAGES
            | Permissions::MANAGE_WEBHOOKS
            | Permissions::MANAGE_THREADS;
        let moderators = discord.guild(guild).add_role("moderators", moderate);
        for (_, bot) in bots.iter().take(1) {
            discord.guild(guild).set_role(*bot, moderators, true);
        }
        discord.guild(guild).add_emoji("baton");
        Self { guild, channel, person, bots }
    }
}

/// The guild in the file.
#[derive(Serialize, Deserialize)]
struct Numbers {
    guild: u64,
    channel: u64,
    person: u64,
    bots: Vec<(String, u64)>,
}

impl From<Numbers> for SeededGuild {
    fn from(numbers: Numbers) -> Self {
        let bots = numbers.bots.into_iter().map(|(name, bot)| (name, UserId::new(bot)));
        Self {
            guild: GuildId::new(numbers.guild),
            channel: ChannelId::new(numbers.channel),
            person: UserId::new(numbers.person),
            bots: bots.collect(),
        }
    }
}

impl From<SeededGuild> for Numbers {
    fn from(stage: SeededGuild) -> Self {
        Self {
            guild: stage.guild.get(),
            channel: stage.channel.get(),
            person: stage.person.get(),
            bots: stage.bots.into_iter().map(|(name, bot)| (name, bot.get())).collect(),
        }
    }
}
