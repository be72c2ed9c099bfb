//! Serenity's account keeps the contract over real HTTP, against the loopback Discord.

use std::sync::Arc;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, DiscordApi, MessageId, SystemClock, UserId};
use dirigent_loopback::{LoopbackDiscord, RestFault, RestRoute, Scope, ServerLimits};
use dirigent_testkit::memory_discord::Fault;
use dirigent_testkit::{MemoryDiscord, contract};
use serenity_bot::SerenityAccount;

/// A guild behind the server, and three bots.
struct SerenityStage {
    loopback: LoopbackDiscord,
    guild: GuildId,
    person: UserId,
    bots: [UserId; 2],
    accounts: [Arc<SerenityAccount>; 2],
    stranger: Arc<SerenityAccount>,
}

impl SerenityStage {
    async fn new() -> Self {
        let discord = MemoryDiscord::new(Arc::new(SystemClock::new()));
        let (owner, person) = (discord.add_human(), discord.add_human());
        let guild = discord.add_guild(owner);
        let bots = [discord.add_bot(), discord.add_bot()];
        for bot in bots {
            discord.guild(guild).add_member(bot);
        }
        let outsider = discord.add_bot();
        let loopback = LoopbackDiscord::start(discord).await.unwrap();
        loopback.set_limits(ServerLimits::generous());
        let address = format!("http://{}", loopback.address());
        let account =
            |bot| Arc::new(SerenityAccount::new(&loopback.token(bot), Some(&address)).unwrap());
        let (accounts, stranger) = (bots.map(account), account(outsider));
        Self { loopback, guild, person, bots, accounts, stranger }
    }
}

#[dirigent::async_trait]
impl contract::DiscordHarness for SerenityStage {
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
        let [one, two] = self.bots;
        self.loopback.discord().add_channel(self.guild, "contract", &[one, two, self.person])
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.loopback.discord().say(channel, self.person, text)
    }

    fn can_break_posts(&self) -> bool {
        true
    }

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
            Fault::Forbidden
            | Fault::Gone
            | Fault::Unauthorized
            | Fault::SlowAnswer { .. }
            | Fault::SlowRequest { .. }
            | _ => panic!("no check breaks a post in this way: {fault:?}"),
        };
        self.loopback.next(RestRoute::CreateMessage, fault);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn serenity_chats_over_http_as_a_discord_must() {
    let stage = SerenityStage::new().await;
    let report = contract::discord_api(&stage).await.unwrap();
    assert_eq!(report.left_out(), [""; 0], "the server can show everything");
    let traffic = stage.loopback.traffic();
    assert_eq!(traffic.unknown(), 0, "nothing is asked for that Discord does not have");
    assert_eq!(traffic.cut(), 2, "an answer lost and a request lost: none was repeated unasked");
}
