//! Two implementations of Discord's permissions, written apart, say the same of random guilds.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{ChannelKind, GuildApi, GuildId};
use dirigent::{ChannelId, DiscordApi, UserId};
use dirigent_loopback::{LoopbackDiscord, ServerLimits};
use dirigent_testkit::Random;
use dirigent_testkit::memory_discord::{Permissions, RoleId};
use dirigent_testkit::{ManualClock, MemoryDiscord, told};

use super::account;

/// How many guilds are tried; CI tries 60.
fn guilds() -> u64 {
    told("DIRIGENT_GUILDS").unwrap_or(20)
}

/// A guild by chance.
struct Fixture {
    dice: Random,
    discord: MemoryDiscord,
    guild: GuildId,
    /// Sees all, so that it can ask about everything.
    reader: UserId,
    members: Vec<UserId>,
    roles: Vec<RoleId>,
    channels: Vec<ChannelId>,
}

impl Fixture {
    fn new(seed: u64, discord: MemoryDiscord) -> Self {
        let owner = discord.add_human();
        let guild = discord.add_guild(owner);
        let reader = discord.add_bot();
        discord.guild(guild).set_administrator(reader, true);
        let members = vec![owner, reader];
        let roles = vec![RoleId::everyone(guild)];
        let dice = Random::new(seed);
        let mut fixture =
            Self { dice, discord, guild, reader, members, roles, channels: Vec::new() };
        fixture.build();
        fixture
    }

    fn below(&mut self, limit: usize) -> usize {
        let limit = u64::try_from(limit).unwrap();
        usize::try_from(self.dice.draw() % limit).unwrap()
    }

    fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Bits that matter to sight, and some that do not.
    fn permissions(&mut self, with_administrator: bool) -> Permissions {
        let bits = [
            Permissions::VIEW_CHANNEL,
            Permissions::SEND_MESSAGES,
            Permissions::READ_MESSAGE_HISTORY,
            Permissions::MANAGE_THREADS,
            Permissions::MANAGE_CHANNELS,
        ];
        let chosen = bits.into_iter().filter(|_| self.dice.draw().is_multiple_of(3));
        let chosen: Vec<_> = chosen.collect();
        let mut all = chosen.into_iter().fold(Permissions::NONE, Permissions::with);
        if with_administrator && self.below(12) == 0 {
            all = all | Permissions::ADMINISTRATOR;
        }
        all
    }

    fn build(&mut self) {
        let everyone = self.permissions(false);
        self.discord.guild(self.guild).set_role_permissions(RoleId::everyone(self.guild), everyone);
        for number in 0..self.below(5) {
            let permissions = self.permissions(true);
            let role =
                self.discord.guild(self.guild).add_role(format!("role-{number}"), permissions);
            self.roles.push(role);
        }
        for _ in 0..3 + self.below(8) {
            let user = self.discord.add_human();
            self.discord.guild(self.guild).add_member(user);
            self.members.push(user);
            for role in self.roles.clone() {
                if self.below(3) == 0 {
                    self.discord.guild(self.guild).set_role(user, role, true);
                }
            }
            if self.below(4) == 0 {
                let time = Duration::from_secs(60 * (1 + self.dice.draw() % 3));
                self.discord.guild(self.guild).set_timed_out(user, Some(time));
            }
        }
        for number in 0..=self.below(4) {
            let channel = self.discord.add_open_channel(self.guild, &format!("room-{number}"));
            self.channels.push(channel);
            self.overwrite(channel);
            for _ in 0..self.below(3) {
                let added: Vec<_> =
                    self.members.clone().into_iter().filter(|_| self.below(3) == 0).collect();
                let thread = match self.below(3) {
                    0 => self.discord.channel(channel).add_public_thread("aside"),
                    _ => self.discord.channel(channel).add_thread("aside", &added),
                };
                self.channels.push(thread);
            }
        }
    }

    fn overwrite(&mut self, channel: ChannelId) {
        for _ in 0..self.below(6) {
            let (allow, deny) = (self.permissions(false), self.permissions(false));
            if self.below(2) == 0 {
                let role = self.one_of(&self.roles.clone());
                self.discord.channel(channel).set_role_overwrite(role, allow, deny);
            } else {
                let user = self.one_of(&self.members.clone());
                self.discord.channel(channel).set_member_overwrite(user, allow, deny);
            }
        }
    }

    /// Whether somebody sees a channel who came just now.
    fn newcomer_sees(&self, channel: ChannelId) -> bool {
        let newcomer = self.discord.add_human();
        self.discord.guild(self.guild).add_member(newcomer);
        let sees = self.discord.channel(channel).audience().contains(&newcomer);
        self.discord.guild(self.guild).remove_member(newcomer);
        sees
    }

    /// Changes something of what there is.
    fn stir(&mut self) {
        let (guild, others) = (self.guild, self.members.split_off(2));
        let user = self.one_of(&others);
        self.members.extend(others);
        match self.below(4) {
            0 => {
                let role = self.one_of(&self.roles.clone());
                let permissions = self.permissions(true);
                self.discord.guild(guild).set_role_permissions(role, permissions);
            }
            1 => {
                let (role, has_it) = (self.one_of(&self.roles.clone()), self.below(2) == 0);
                self.discord.guild(guild).set_role(user, role, has_it);
            }
            2 => {
                let channel = self.one_of(&self.channels.clone());
                self.overwrite(channel);
            }
            _ => {
                self.discord.guild(guild).remove_member(user);
            }
        }
    }
}

/// R076, R077, D94: over HTTP the adapter works out the same as the server's own model, which was
/// written apart from it.
#[tokio::test(flavor = "current_thread")]
async fn both_implementations_of_permissions_agree_about_random_guilds() {
    let (mut compared, mut partly) = (0, 0);
    for seed in 0..guilds() {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let mut fixture = Fixture::new(seed, discord.clone());
        // Few accounts are asked for one by one, which takes no privileged intent.
        discord.account(fixture.reader).set_members_hidden(true);
        let loopback = LoopbackDiscord::start(discord).await.unwrap();
        loopback.set_limits(ServerLimits::generous());
        let reader = account(&loopback, fixture.reader, &clock);
        let memory = fixture.discord.account(fixture.reader);
        for round in 0..3 {
            for channel in fixture.channels.clone() {
                let expected = fixture.discord.channel(channel).audience();
                let asked = fixture.members.clone();
                let found = reader.members(channel, asked).await.expect("the reader sees all");
                let found: BTreeSet<_> = found.into_iter().collect();
                assert!(
                    found.iter().eq(&expected),
                    "guild {seed}, round {round}, channel {channel}: {found:?} and {expected:?}"
                );
                compared += 1;
                partly += u64::from(expected.len() < fixture.members.len() && expected.len() > 2);
                let info = reader.channel(channel).await.unwrap();
                assert_eq!(info, memory.channel(channel).await.unwrap(), "guild {seed}");
                if info.kind != ChannelKind::Thread {
                    assert_eq!(info.private, !fixture.newcomer_sees(channel), "guild {seed}");
                }
                // The adapter paces itself by this clock.
                clock.advance(Duration::from_secs(1));
            }
            fixture.stir();
            // Some time-outs end meanwhile.
            clock.advance(Duration::from_secs(61));
        }
        loopback.shutdown().await;
    }
    assert!(
        compared > 5 * guilds() && partly > guilds(),
        "{compared} channels, {partly} of them seen by some"
    );
}
