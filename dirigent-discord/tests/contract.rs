//! The adapter keeps the contracts over real HTTP, against the loopback Discord.

mod permissions;
mod shown;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::{GuildApi, GuildId};
use dirigent::{ChannelId, Clock as _, DiscordApi, MessageId, UserId};
use dirigent_discord::{BanGuard, DiscordAccount};
use dirigent_loopback::{LoopbackDiscord, RestFault, RestRoute, Scope, ServerLimits};
use dirigent_testkit::memory_discord::Fault;
use dirigent_testkit::{ManualClock, MemoryDiscord, contract};

/// A guild behind the server, and an adapter for each of its bots.
struct GuildStage {
    loopback: LoopbackDiscord,
    clock: ManualClock,
    guild: GuildId,
    owner: UserId,
    person: UserId,
    accounts: [Arc<DiscordAccount>; 2],
    bots: [UserId; 2],
    moderator: Arc<DiscordAccount>,
    outsider: UserId,
    stranger: Arc<DiscordAccount>,
}

impl GuildStage {
    async fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let owner = discord.add_human();
        let guild = discord.add_guild(owner);
        let person = discord.add_human();
        let bots = [discord.add_bot(), discord.add_bot()];
        let (moderator, outsider) = (discord.add_bot(), discord.add_bot());
        discord.guild(guild).set_channel_manager(moderator, true);
        for bot in bots {
            discord.guild(guild).add_member(bot);
        }
        let loopback = LoopbackDiscord::start(discord).await.unwrap();
        loopback.set_limits(ServerLimits::generous());
        let account = |bot| Arc::new(account(&loopback, bot, &clock));
        Self {
            guild,
            owner,
            person,
            accounts: bots.map(account),
            bots,
            moderator: account(moderator),
            outsider,
            stranger: account(outsider),
            loopback,
            clock,
        }
    }
}

/// An adapter for a bot. Each has a guard of its own: refusals of one say nothing about the others.
fn account(loopback: &LoopbackDiscord, bot: UserId, clock: &ManualClock) -> DiscordAccount {
    let builder = DiscordAccount::builder(loopback.token(bot), clock.clone());
    let builder = builder.proxy(format!("http://{}", loopback.address()));
    builder.timeout(Duration::from_secs(9)).ban_guard(&BanGuard::new(1_000)).build().unwrap()
}

#[async_trait]
impl contract::DiscordHarness for GuildStage {
    fn account(&self) -> Arc<dyn DiscordApi> {
        let [account, _] = &self.accounts;
        Arc::clone(account) as Arc<dyn DiscordApi>
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        let [_, colleague] = &self.accounts;
        Arc::clone(colleague) as Arc<dyn DiscordApi>
    }

    fn person(&self) -> UserId {
        self.person
    }

    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        Some(Arc::clone(&self.stranger) as Arc<dyn DiscordApi>)
    }

    async fn fresh_channel(&self) -> ChannelId {
        // The adapter paces itself by this clock.
        self.clock.advance(Duration::from_secs(1));
        let [one, two] = self.bots;
        self.loopback.discord().add_channel(self.guild, "contract", &[one, two, self.person])
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.loopback.discord().say(channel, self.person, text)
    }

    fn now(&self) -> dirigent::ports::Timestamp {
        self.clock.now()
    }

    fn can_break_posts(&self) -> bool {
        true
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "no check breaks a post otherwise")]
    fn break_next_post(&self, fault: Fault) {
        let fault = match fault {
            Fault::LostAnswer => RestFault::LostAnswer,
            Fault::NotDelivered => RestFault::NotDelivered,
            Fault::RateLimited { retry_after } => {
                RestFault::RateLimited { scope: Scope::User, retry_after }
            }
            Fault::ServerErrorApplied => RestFault::ServerError { status: 502, is_applied: true },
            Fault::ServerErrorNotApplied => {
                RestFault::ServerError { status: 500, is_applied: false }
            }
            other => panic!("no check breaks a post in this way: {other:?}"),
        };
        self.loopback.next(RestRoute::CreateMessage, fault);
    }
}

impl contract::GuildHarness for GuildStage {
    fn guild(&self) -> GuildId {
        self.guild
    }

    fn moderator(&self) -> Arc<dyn GuildApi> {
        // The adapter paces itself by this clock, and every check begins with the moderator.
        self.clock.advance(Duration::from_secs(1));
        Arc::clone(&self.moderator) as Arc<dyn GuildApi>
    }

    fn member(&self) -> Arc<dyn GuildApi> {
        let [member, _] = &self.accounts;
        Arc::clone(member) as Arc<dyn GuildApi>
    }

    fn administrator(&self) -> UserId {
        self.owner
    }

    #[expect(clippy::misnamed_getters, reason = "the owner is the one person here")]
    fn person(&self) -> UserId {
        self.owner
    }

    fn outsider(&self) -> UserId {
        self.outsider
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_adapter_chats_over_http_as_a_discord_must() {
    let stage = GuildStage::new().await;
    let report = contract::discord_api(&stage).await.unwrap();
    assert_eq!(report.left_out(), [""; 0], "the server can show everything");
    assert!(report.passed().len() >= 30, "{:?}", report.passed());
    let traffic = stage.loopback.traffic();
    assert_eq!(traffic.unknown(), 0, "the adapter asks for nothing that Discord does not have");
    assert_eq!(traffic.cut(), 2, "an answer lost and a request lost");
    assert!(traffic.of(RestRoute::CreateMessage) > 30);
}

#[tokio::test(flavor = "current_thread")]
async fn the_adapter_administers_over_http_as_a_discord_must() {
    let stage = GuildStage::new().await;
    contract::guild_api(&stage).await.unwrap();
    assert_eq!(stage.loopback.traffic().unknown(), 0);
}
