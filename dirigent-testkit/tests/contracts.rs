//! The in-memory implementations keep the contracts that the real ones must keep.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::ports::{
    ApiError, GuildApi, GuildId, HistoryRequest, Identity, Post, Posted, RegisterError, Timestamp,
    snowflake_time,
};
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    Barred, ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision, StoredChannel,
};
use dirigent::{
    AgentId, ChannelId, ChatMessage, Clock, DiscordApi, IdentityStore, MemoryIdentities, MessageId,
    SystemClock, UserId,
};
use dirigent_testkit::memory_discord::{Fault, MemoryAccount};
use dirigent_testkit::{ManualClock, MemoryDiscord, contract};

struct ContractStage {
    clock: ManualClock,
    discord: MemoryDiscord,
    guild: GuildId,
    owner: UserId,
    person: UserId,
    bots: [UserId; 2],
    moderator: UserId,
    outsider: UserId,
}

impl ContractStage {
    fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let owner = discord.add_human();
        let guild = discord.add_guild(owner);
        let stage = Self {
            clock,
            guild,
            owner,
            person: discord.add_human(),
            bots: [discord.add_bot(), discord.add_bot()],
            moderator: discord.add_bot(),
            outsider: discord.add_bot(),
            discord,
        };
        stage.discord.guild(guild).set_channel_manager(stage.moderator, true);
        for bot in stage.bots {
            stage.discord.guild(guild).add_member(bot);
        }
        stage
    }
}

#[async_trait]
impl contract::DiscordHarness for ContractStage {
    fn account(&self) -> Arc<dyn DiscordApi> {
        Arc::new(self.discord.account(self.bots[0]))
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        Arc::new(self.discord.account(self.bots[1]))
    }

    fn person(&self) -> UserId {
        self.person
    }

    fn stranger(&self) -> Option<Arc<dyn DiscordApi>> {
        Some(Arc::new(self.discord.account(self.outsider)))
    }

    async fn fresh_channel(&self) -> ChannelId {
        let [one, two] = self.bots;
        self.discord.add_channel(self.guild, "contract", &[one, two, self.person])
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.discord.say(channel, self.person, text)
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn can_break_posts(&self) -> bool {
        true
    }

    fn break_next_post(&self, fault: Fault) {
        self.discord.next_post(fault);
    }
}

impl contract::GuildHarness for ContractStage {
    fn guild(&self) -> GuildId {
        self.guild
    }

    fn moderator(&self) -> Arc<dyn GuildApi> {
        Arc::new(self.discord.account(self.moderator))
    }

    fn member(&self) -> Arc<dyn GuildApi> {
        Arc::new(self.discord.account(self.bots[0]))
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
async fn the_in_memory_discord_chats_as_a_discord_must() {
    let report = contract::discord_api(&ContractStage::new()).await.unwrap();
    assert_eq!(report.left_out(), [""; 0], "the in-memory Discord can show everything");
    assert!(report.passed().len() >= 27);
}

#[tokio::test(flavor = "current_thread")]
async fn the_in_memory_discord_administers_as_a_discord_must() {
    contract::guild_api(&ContractStage::new()).await.unwrap();
}

struct Manual(ManualClock);

impl contract::ClockHarness for Manual {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(self.0.clone())
    }

    fn pass(&self, by: Duration) -> bool {
        self.0.advance(by);
        true
    }
}

struct System(SystemClock);

impl contract::ClockHarness for System {
    fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(self.0)
    }
}

#[tokio::test(flavor = "current_thread")]
async fn the_manual_clock_tells_and_waits_as_a_clock_must() {
    let clock = ManualClock::new();
    let report = contract::clock(&Manual(clock.clone())).await.unwrap();
    assert_eq!(report.left_out(), [""; 0]);
    assert_eq!(clock.waiting(), 0, "the suite drops all its waits");
}

#[tokio::test(flavor = "current_thread")]
async fn the_system_clock_tells_and_waits_as_a_clock_must() {
    let report = contract::clock(&System(SystemClock::new())).await.unwrap();
    assert_eq!(report.left_out().len(), 3, "nobody can let real time pass");
}

#[tokio::test(flavor = "current_thread")]
async fn the_in_memory_registry_keeps_agents_as_a_registry_must() {
    let factory = || Arc::new(MemoryIdentities::new()) as Arc<dyn IdentityStore>;
    contract::identity_store(&factory).await.unwrap();
}

#[tokio::test(flavor = "current_thread")]
async fn the_in_memory_channels_are_kept_as_a_store_must() {
    let factory = || Arc::new(MemoryChannels::default()) as Arc<dyn ChannelStore>;
    contract::channel_store(&factory).await.unwrap();
}

/// Takes a damaged record for none, as a store that is not careful would.
struct Forgetful(MemoryChannels);

#[async_trait]
impl ChannelStore for Forgetful {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.0.channels().await
    }

    async fn load(&self, _: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        Ok(None)
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        self.0.commit(commit).await
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        self.0.delete(channel).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.0.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.0.add_agent(agent).await
    }
}

struct Careful;

#[async_trait]
impl contract::ChannelStoreHarness for Careful {
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        Arc::new(MemoryChannels::default())
    }

    async fn spoilt(
        &self,
        _: Arc<dyn ChannelStore>,
        _: ChannelId,
        _: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        Some(Arc::new(Forgetful(MemoryChannels::default())))
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_store_that_takes_a_damaged_record_for_none_breaks_the_contract() {
    let failures = contract::channel_store(&Careful).await.unwrap_err();
    let names: Vec<_> = failures.all().iter().map(contract::Failure::check).collect();
    assert_eq!(
        names,
        [
            "a_damaged_record_bars_its_channel_alone_and_stays_listed",
            "a_damaged_record_is_replaced_by_a_commit_that_says_so_and_by_no_other",
            "a_newer_record_bars_its_channel_alone_and_is_never_replaced",
            "a_damaged_record_can_be_deleted_and_a_newer_one_cannot",
        ]
    );
    assert!(failures.to_string().contains("is taken for none"), "{failures}");
}

/// Forgets to look whether an account is taken, and to say whether there was an agent.
#[derive(Default)]
struct Careless(MemoryIdentities);

#[async_trait]
impl IdentityStore for Careless {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        self.0.all().await
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        self.0.register(identity).await.or(Ok(()))
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        self.0.remove(agent).await.map(|_| true)
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_broken_contract_names_every_check_that_failed() {
    let factory = || Arc::new(Careless::default()) as Arc<dyn IdentityStore>;
    let failures = contract::identity_store(&factory).await.unwrap_err();
    let names: Vec<_> = failures.all().iter().map(contract::Failure::check).collect();
    assert_eq!(
        names,
        [
            "an_account_that_is_taken_names_its_owner_and_changes_nothing",
            "a_known_agent_cannot_move_to_a_taken_account",
            "removing_nobody_says_so",
        ]
    );
    let shown = failures.to_string();
    assert!(shown.contains("the contract identity_store is broken"), "{shown}");
    assert!(shown.contains("a taken account was registered"), "{shown}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_registry_is_not_made_from_two_agents_with_one_account() {
    let developer = Identity {
        discord_user_id: UserId::new(123_456_789_012_345_678),
        agent_id: "developer".into(),
        agent_name: "Developer".to_owned(),
    };
    let thief = Identity { agent_id: "thief".into(), ..developer.clone() };
    let refused = MemoryIdentities::with([developer.clone(), thief]).unwrap_err();
    assert_eq!(refused.to_string(), "the account belongs to agent developer already");

    let renamed = Identity { agent_name: "Builder".to_owned(), ..developer.clone() };
    let registry = MemoryIdentities::with([developer, renamed.clone()]).unwrap();
    assert_eq!(registry.all().await.unwrap(), [renamed]);
}

/// An account of a chat whose ids are not Discord's, in an adapter that reads them so all the same.
struct Misread(MemoryAccount);

#[async_trait]
impl DiscordApi for Misread {
    async fn me(&self) -> Result<UserId, ApiError> {
        self.0.me().await
    }

    async fn post(&self, post: Post) -> Result<Posted, ApiError> {
        self.0.post(post).await
    }

    async fn delete(&self, channel: ChannelId, message: MessageId) -> Result<(), ApiError> {
        self.0.delete(channel, message).await
    }

    async fn history(&self, request: HistoryRequest) -> Result<Vec<ChatMessage>, ApiError> {
        self.0.history(request).await
    }

    async fn members(
        &self,
        channel: ChannelId,
        among: Vec<UserId>,
    ) -> Result<Vec<UserId>, ApiError> {
        self.0.members(channel, among).await
    }

    fn sent_at(&self, message: MessageId) -> Timestamp {
        snowflake_time(MessageId::new(message.get() >> 22))
    }
}

struct MisreadStage(ContractStage);

#[async_trait]
impl contract::DiscordHarness for MisreadStage {
    fn account(&self) -> Arc<dyn DiscordApi> {
        Arc::new(Misread(self.0.discord.account(self.0.bots[0])))
    }

    fn colleague(&self) -> Arc<dyn DiscordApi> {
        contract::DiscordHarness::colleague(&self.0)
    }

    fn person(&self) -> UserId {
        self.0.person
    }

    async fn fresh_channel(&self) -> ChannelId {
        self.0.fresh_channel().await
    }

    async fn person_says(&self, channel: ChannelId, text: &str) -> MessageId {
        self.0.person_says(channel, text).await
    }

    fn now(&self) -> Timestamp {
        self.0.clock.now()
    }
}

/// EZ1: otherwise what people say while the bot is away is never answered, and nothing tells.
#[tokio::test(flavor = "current_thread")]
async fn an_adapter_that_reads_the_ids_of_another_chat_as_discords_is_found() {
    let failures = contract::discord_api(&MisreadStage(ContractStage::new())).await.unwrap_err();
    let names: Vec<_> = failures.all().iter().map(contract::Failure::check).collect();
    assert_eq!(names, ["the_id_of_a_message_says_when_it_was_sent"]);
}
