//! Agents without a token of their own, through the loopback Discord: a webhook of the moderator's posts for each.

mod accounts;
mod names;
mod pushed;
mod talking;
mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::{GuildId, Nonce, Post};
use dirigent::{ChannelId, Clock as _, DiscordApi, MessageId, UserId};
use dirigent_discord::{BanGuard, DiscordAccount, Persona, PersonaAccount};
use dirigent_loopback::{LoopbackDiscord, RestFault, RestRoute, Scope, ServerLimits};
use dirigent_testkit::memory_discord::{Fault, Permissions};
use dirigent_testkit::{ManualClock, MemoryDiscord, contract};

/// What the moderator may do in a channel, besides managing webhooks.
pub(crate) const TALK: Permissions = Permissions::VIEW_CHANNEL
    .with(Permissions::SEND_MESSAGES)
    .with(Permissions::READ_MESSAGE_HISTORY);

/// A guild behind the server, and personas of a moderator in it.
pub(crate) struct PersonaStage {
    pub(crate) loopback: LoopbackDiscord,
    pub(crate) discord: MemoryDiscord,
    pub(crate) clock: ManualClock,
    pub(crate) guild: GuildId,
    pub(crate) person: UserId,
    pub(crate) bot: UserId,
    pub(crate) moderator: Arc<DiscordAccount>,
    poet: Arc<PersonaAccount>,
    critic: Arc<PersonaAccount>,
    stranger: Arc<PersonaAccount>,
}

impl PersonaStage {
    pub(crate) async fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let (person, bot, outsider) = (discord.add_human(), discord.add_bot(), discord.add_bot());
        let guild = discord.add_guild(person);
        discord.guild(guild).add_member(bot);
        let_manage_webhooks(&discord, guild, bot);
        let loopback = LoopbackDiscord::start(discord.clone()).await.unwrap();
        loopback.set_limits(ServerLimits::generous());
        let moderator = account(&loopback, bot, &clock);
        let [poet, critic] = ["Poet", "Critic"].map(|name| persona(&moderator, name));
        let stranger = persona(&account(&loopback, outsider, &clock), "Poet of others");
        Self { loopback, discord, clock, guild, person, bot, moderator, poet, critic, stranger }
    }

    pub(crate) fn channel(&self) -> ChannelId {
        // The adapter paces itself by this clock.
        self.clock.advance(Duration::from_secs(1));
        self.discord.add_channel(self.guild, "contract", &[self.bot, self.person])
    }

    /// The same account after a restart: nothing is known but what Discord tells.
    pub(crate) fn restarted(&self) -> Arc<DiscordAccount> {
        account(&self.loopback, self.bot, &self.clock)
    }

    /// The webhooks of a channel, by id, with their names.
    pub(crate) fn webhooks(&self, channel: ChannelId) -> Vec<(UserId, String)> {
        let world = self.discord.world();
        let all = world.webhooks.of_channel(channel);
        all.map(|(id, webhook)| (id, webhook.name.clone())).collect()
    }

    /// What was said, with the names that people see.
    pub(crate) fn said(&self, channel: ChannelId) -> Vec<String> {
        let messages = self.discord.messages(channel);
        messages.iter().map(|message| message.content.to_string()).collect()
    }
}

/// Gives the bot Manage Webhooks in the guild.
pub(crate) fn let_manage_webhooks(discord: &MemoryDiscord, guild: GuildId, bot: UserId) {
    let guild = discord.guild(guild);
    let heralds = guild.add_role("heralds", Permissions::MANAGE_WEBHOOKS);
    guild.set_role(bot, heralds, true);
}

pub(crate) fn account(
    loopback: &LoopbackDiscord,
    bot: UserId,
    clock: &ManualClock,
) -> Arc<DiscordAccount> {
    let builder = DiscordAccount::builder(loopback.token(bot), clock.clone());
    let builder = builder.proxy(format!("http://{}", loopback.address()));
    Arc::new(builder.ban_guard(&BanGuard::new(1_000)).build().unwrap())
}

pub(crate) fn persona(moderator: &Arc<DiscordAccount>, name: &str) -> Arc<PersonaAccount> {
    Arc::new(moderator.persona(Persona::new(name)).unwrap())
}

pub(crate) fn post(channel: ChannelId, content: &str, number: u64) -> Post {
    Post::new(channel, content, Nonce::from_parts(channel.get(), 0, number))
}

#[async_trait]
impl contract::DiscordHarness for PersonaStage {
    fn account(&self) -> Arc<dyn DiscordApi> {
        self.poet.clone()
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        self.critic.clone()
    }

    fn person(&self) -> UserId {
        self.person
    }

    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        Some(self.stranger.clone())
    }

    async fn fresh_channel(&self) -> ChannelId {
        self.channel()
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.discord.say(channel, self.person, text)
    }

    fn now(&self) -> dirigent::ports::Timestamp {
        self.clock.now()
    }

    async fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    fn marks_replies(&self) -> bool {
        false
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
        self.loopback.next(RestRoute::CreateFollowup, fault);
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_persona_chats_as_an_account_must() {
    let stage = PersonaStage::new().await;
    let report = contract::discord_api(&stage).await.unwrap();
    assert_eq!(report.left_out(), [""; 0], "the server can show everything");
    let traffic = stage.loopback.traffic();
    assert_eq!(traffic.unknown(), 0, "the adapter asks for nothing that Discord does not have");
    assert_eq!(traffic.of(RestRoute::CreateMessage), 0, "webhooks post");
    assert!(traffic.of(RestRoute::CreateFollowup) > 25);
}

/// The newest messages of a channel.
pub(crate) fn newest(channel: ChannelId) -> dirigent::ports::HistoryRequest {
    dirigent::ports::HistoryRequest { channel, after: None, limit: 100 }
}
