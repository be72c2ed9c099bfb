//! The contract that every [`GuildApi`] keeps.

use std::sync::Arc;

use dirigent::ports::{Access, ChannelInfo, ChannelKind, ErrorKind, GuildApi, GuildId, NewChannel};
use dirigent::{ChannelId, UserId};

use super::report::{ContractReport, Failures, Outcome, checks, ensure, equal, is_refused, works};

/// A guild for the suite to run in.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::ports::{GuildApi, GuildId};
/// use dirigent::UserId;
/// use dirigent_testkit::{ManualClock, MemoryDiscord, contract};
///
/// struct InMemory { discord: MemoryDiscord, guild: GuildId, owner: UserId, moderator: UserId, member: UserId }
///
/// impl contract::GuildHarness for InMemory {
///     fn guild(&self) -> GuildId {
///         self.guild
///     }
///     fn moderator(&self) -> Arc<dyn GuildApi> {
///         Arc::new(self.discord.account(self.moderator))
///     }
///     fn member(&self) -> Arc<dyn GuildApi> {
///         Arc::new(self.discord.account(self.member))
///     }
///     fn administrator(&self) -> UserId {
///         self.owner
///     }
///     fn person(&self) -> UserId {
///         self.owner
///     }
///     fn outsider(&self) -> UserId {
///         UserId::new(123456789012345678)
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), contract::Failures> {
/// let discord = MemoryDiscord::new(Arc::new(ManualClock::new()));
/// let (owner, moderator, member) = (discord.add_human(), discord.add_bot(), discord.add_bot());
/// let guild = discord.add_guild(owner);
/// discord.guild(guild).set_channel_manager(moderator, true);
/// discord.guild(guild).add_member(member);
/// contract::guild_api(&InMemory { discord, guild, owner, moderator, member }).await?;
/// # Ok(())
/// # }
/// ```
pub trait GuildHarness: Send + Sync {
    /// Returns the guild.
    fn guild(&self) -> GuildId;

    /// Returns an account in the guild that may manage channels and is no administrator.
    fn moderator(&self) -> Arc<dyn GuildApi>;

    /// Returns an account in the guild without special permissions.
    fn member(&self) -> Arc<dyn GuildApi>;

    /// Returns an administrator or the owner of the guild.
    fn administrator(&self) -> UserId;

    /// Returns a person in the guild.
    fn person(&self) -> UserId;

    /// Returns an account that is not in the guild.
    fn outsider(&self) -> UserId;
}

/// Runs all checks of the contract.
///
/// # Errors
///
/// Returns the checks that failed.
pub async fn guild_api(harness: &dyn GuildHarness) -> Result<ContractReport, Failures> {
    let mut report = ContractReport::new("guild_api");
    checks!(report, harness;
        the_guild_is_among_the_accounts_guilds,
        a_guild_that_is_not_there_is_gone,
        a_created_channel_is_private_and_listed,
        a_created_channel_is_seen_by_its_maker_and_those_named,
        a_bad_name_is_refused,
        a_member_creates_and_deletes_nothing,
        access_is_given_and_taken,
        access_is_for_the_guilds_members,
        a_deleted_channel_is_gone,
        only_administrators_are_administrators,
        bots_are_told_from_people,
        sight_of_a_channel_is_told_of_each_account,
    );
    report.finish()
}

/// An id that no chat has given, because its time is in the first milliseconds of Discord's epoch.
const NOWHERE: u64 = 100_000_000_000_001;

async fn the_guild_is_among_the_accounts_guilds(harness: &dyn GuildHarness) -> Outcome {
    for account in [harness.moderator(), harness.member()] {
        let guilds = works("reading the guilds", account.guilds().await)?;
        ensure(guilds.contains(&harness.guild()), "the guild is missing")?;
    }
    Ok(())
}

async fn a_guild_that_is_not_there_is_gone(harness: &dyn GuildHarness) -> Outcome {
    let moderator = harness.moderator();
    let guild = GuildId::new(NOWHERE);
    is_refused("listing its channels", moderator.channels(guild).await, ErrorKind::Gone)?;
    let asked = moderator.is_administrator(guild, harness.administrator()).await;
    is_refused("asking for its administrators", asked, ErrorKind::Gone)
}

async fn a_created_channel_is_private_and_listed(harness: &dyn GuildHarness) -> Outcome {
    let moderator = harness.moderator();
    let created = create(harness, "contract-listed", Vec::new()).await?;
    equal("its guild", &created.guild, &Some(harness.guild()))?;
    equal("its kind", &created.kind, &ChannelKind::Text)?;
    equal("its name", &created.name.as_str(), &"contract-listed")?;
    equal("whether it is private", &created.private, &true)?;
    let read = works("reading the channel", moderator.channel(created.id).await)?;
    equal("the channel read back", &read, &created)?;
    let listed = works("listing the channels", moderator.channels(harness.guild()).await)?;
    let times = listed.iter().filter(|channel| **channel == created).count();
    equal("how often it is listed", &times, &1)
}

async fn a_created_channel_is_seen_by_its_maker_and_those_named(
    harness: &dyn GuildHarness,
) -> Outcome {
    let (moderator, member) = (harness.moderator(), harness.member());
    let member_id = works("the member's me", member.me().await)?;
    let closed = create(harness, "contract-closed", Vec::new()).await?.id;
    is_refused("looking in", member.channel(closed).await, ErrorKind::Forbidden)?;
    let shared = create(harness, "contract-shared", vec![member_id]).await?.id;
    works("reading the shared channel", member.channel(shared).await)?;
    let moderator_id = works("the moderator's me", moderator.me().await)?;
    let asked = vec![moderator_id, member_id, harness.administrator(), harness.outsider()];
    let audience = works("reading the members", moderator.members(shared, asked).await)?;
    for user in [moderator_id, member_id, harness.administrator()] {
        ensure(audience.contains(&user), "an account that sees the channel is not listed")?;
    }
    ensure(!audience.contains(&harness.outsider()), "an outsider is listed")
}

async fn a_bad_name_is_refused(harness: &dyn GuildHarness) -> Outcome {
    for name in [String::new(), "x".repeat(101)] {
        let what = format!("a name of {} characters", name.len());
        let room = NewChannel { guild: harness.guild(), name, members: Vec::new() };
        let refused = harness.moderator().create_channel(room).await;
        is_refused(&what, refused, ErrorKind::Invalid)?;
    }
    Ok(())
}

async fn a_member_creates_and_deletes_nothing(harness: &dyn GuildHarness) -> Outcome {
    let member = harness.member();
    let member_id = works("the member's me", member.me().await)?;
    let room = NewChannel { guild: harness.guild(), name: "contract".into(), members: Vec::new() };
    let created = member.create_channel(room).await;
    is_refused("creating a channel", created, ErrorKind::Forbidden)?;
    let shared = create(harness, "contract-kept", vec![member_id]).await?.id;
    let deleted = member.delete_channel(shared).await;
    is_refused("deleting a channel", deleted, ErrorKind::Forbidden)?;
    let opened = member.set_access(shared, member_id, Access::None).await;
    is_refused("changing access", opened, ErrorKind::Forbidden)?;
    works("reading the channel", member.channel(shared).await).map(|_| ())
}

async fn access_is_given_and_taken(harness: &dyn GuildHarness) -> Outcome {
    let (moderator, member) = (harness.moderator(), harness.member());
    let user = works("the member's me", member.me().await)?;
    let channel = create(harness, "contract-access", Vec::new()).await?.id;
    // Do each step twice, because a repetition must change nothing.
    for _ in 0..2 {
        let given = moderator.set_access(channel, user, Access::Full).await;
        works("giving access", given)?;
        works("reading the channel", member.channel(channel).await)?;
    }
    for _ in 0..2 {
        let taken = moderator.set_access(channel, user, Access::None).await;
        works("taking access", taken)?;
        is_refused("looking in", member.channel(channel).await, ErrorKind::Forbidden)?;
    }
    let audience = works("reading the members", moderator.members(channel, vec![user]).await)?;
    ensure(!audience.contains(&user), "who lost access is still listed")
}

async fn access_is_for_the_guilds_members(harness: &dyn GuildHarness) -> Outcome {
    let moderator = harness.moderator();
    let channel = create(harness, "contract-outsider", Vec::new()).await?.id;
    let given = moderator.set_access(channel, harness.outsider(), Access::Full).await;
    is_refused("giving an outsider access", given, ErrorKind::Gone)
}

async fn a_deleted_channel_is_gone(harness: &dyn GuildHarness) -> Outcome {
    let moderator = harness.moderator();
    let channel = create(harness, "contract-deleted", Vec::new()).await?.id;
    works("deleting the channel", moderator.delete_channel(channel).await)?;
    is_refused("reading it", moderator.channel(channel).await, ErrorKind::Gone)?;
    is_refused("deleting it again", moderator.delete_channel(channel).await, ErrorKind::Gone)?;
    let listed = works("listing the channels", moderator.channels(harness.guild()).await)?;
    ensure(listed.iter().all(|other| other.id != channel), "it is still listed")?;
    let nowhere = moderator.channel(ChannelId::new(NOWHERE)).await;
    is_refused("reading one that never was", nowhere, ErrorKind::Gone)
}

async fn only_administrators_are_administrators(harness: &dyn GuildHarness) -> Outcome {
    let moderator = harness.moderator();
    let guild = harness.guild();
    let member = works("the member's me", harness.member().me().await)?;
    let expected = [(harness.administrator(), true), (member, false)];
    for (user, is_administrator) in expected {
        let asked = moderator.is_administrator(guild, user).await;
        let found = works("asking for administrators", asked)?;
        equal("whether an account is an administrator", &found, &is_administrator)?;
    }
    let asked = moderator.is_administrator(guild, harness.outsider()).await;
    is_refused("asking about an outsider", asked, ErrorKind::Gone)
}

async fn bots_are_told_from_people(harness: &dyn GuildHarness) -> Outcome {
    let (moderator, guild) = (harness.moderator(), harness.guild());
    let own = works("the moderator's me", moderator.me().await)?;
    let member = works("the member's me", harness.member().me().await)?;
    for (user, is_bot) in [(own, true), (member, true), (harness.person(), false)] {
        let found = works("asking for a bot", moderator.is_bot(guild, user).await)?;
        equal("whether an account is a bot", &found, &is_bot)?;
    }
    let asked = moderator.is_bot(guild, harness.outsider()).await;
    is_refused("asking about an outsider", asked, ErrorKind::Gone)?;
    let asked = moderator.is_bot(GuildId::new(NOWHERE), member).await;
    is_refused("asking in a guild that is not there", asked, ErrorKind::Gone)
}

async fn sight_of_a_channel_is_told_of_each_account(harness: &dyn GuildHarness) -> Outcome {
    let (moderator, member) = (harness.moderator(), harness.member());
    let own = works("the moderator's me", moderator.me().await)?;
    let user = works("the member's me", member.me().await)?;
    let channel = create(harness, "contract-sight", Vec::new()).await?.id;
    let expected =
        [(own, true), (user, false), (harness.administrator(), true), (harness.outsider(), false)];
    for (user, sees) in expected {
        let found = works("asking for sight", moderator.can_see(channel, user).await)?;
        equal("whether an account sees a channel", &found, &sees)?;
    }
    works("giving access", moderator.set_access(channel, user, Access::Full).await)?;
    let found = works("asking for sight", moderator.can_see(channel, user).await)?;
    equal("whether it sees the channel with access", &found, &true)?;
    let closed = create(harness, "contract-unseen", Vec::new()).await?.id;
    let asked = member.can_see(closed, own).await;
    is_refused("asking about a channel that one does not see", asked, ErrorKind::Forbidden)?;
    let asked = moderator.can_see(ChannelId::new(NOWHERE), user).await;
    is_refused("asking about a channel that never was", asked, ErrorKind::Gone)
}

async fn create(
    harness: &dyn GuildHarness,
    name: &str,
    members: Vec<UserId>,
) -> Result<ChannelInfo, String> {
    let room = NewChannel { guild: harness.guild(), name: name.to_owned(), members };
    works("creating a channel", harness.moderator().create_channel(room).await)
}
