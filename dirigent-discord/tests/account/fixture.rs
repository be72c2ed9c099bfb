//! A driver on a fed account: guild 1 with the hidden channel 700, two agents, and a server that answers
//! whatever is asked of them.

use std::sync::Arc;

use dirigent::operate::{CreatedChannel, Status};
use dirigent::ports::{Identity, OtherProcesses, Ownership};
use dirigent::replay::Recording;
use dirigent::snapshot::SeatTurn;
use dirigent::store::{ChannelStore, MemoryChannels};
use dirigent::{AgentId, ChannelId, Dirigent, MemoryIdentities, Mode, Settings, UserId};
use dirigent_discord::{BanGuard, DiscordAccount, Feed, ShardFeed};
use dirigent_testkit::ManualClock;
use serde_json::{Value, json};
use twilight_model::gateway::{Intents, ShardId};

use crate::account::server::{Reply, Server};
use crate::account::{CHANNEL, account};

pub(crate) const A: UserId = UserId::new(31);
pub(crate) const B: UserId = UserId::new(32);

/// View, send and read the history, as Discord writes it.
pub(crate) const ALL: &str = "68608";
pub(crate) const VIEW: &str = "1024";
/// View Channels and Send Messages.
const TALK: &str = "3072";

/// An id of the clock's first minute.
pub(crate) const MESSAGE: u64 = 1_383_825_040_998_400_000;

/// The accounts that tests ask about: the guild's five members, and one that may come.
pub(crate) const ASKED: [u64; 6] = [10, 31, 32, 33, 40, 500];

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) clock: ManualClock,
    pub(crate) account: Arc<DiscordAccount>,
    pub(crate) dirigent: Dirigent,
    pub(crate) feed: Feed,
    pub(crate) shard: ShardFeed,
    /// What the driver was told, channel by channel.
    pub(crate) recording: Recording,
}

pub(crate) struct Plan {
    pub(crate) intents: Intents,
    pub(crate) settings: Settings,
    pub(crate) store: Arc<dyn ChannelStore>,
    /// Of the application.
    pub(crate) flags: u64,
    /// Whether a host asks who may use the command.
    pub(crate) may_set_mode: Option<bool>,
    pub(crate) stop_reaction: Option<&'static str>,
    /// Which channels are another process's, and what carries to it.
    pub(crate) ownership: Option<Arc<dyn Ownership>>,
    pub(crate) neighbours: Option<Arc<dyn OtherProcesses>>,
}

impl Default for Plan {
    fn default() -> Self {
        let store: Arc<dyn ChannelStore> = Arc::new(MemoryChannels::default());
        let mut settings = Settings::default();
        settings.time_limits.backfill = None;
        Self {
            intents: Feed::INTENTS_WITH_MEMBERS,
            settings,
            store,
            flags: 1 << 15 | 1 << 19,
            may_set_mode: None,
            stop_reaction: None,
            ownership: None,
            neighbours: None,
        }
    }
}

/// How the gateway may be connected, this often within an hour.
pub(crate) fn starts(remaining: u32) -> String {
    let limit = json!({ "total": 1_000, "remaining": remaining, "reset_after": 3_600_000, "max_concurrency": 1 });
    json!({ "url": "wss://gateway.discord.gg", "shards": 1, "session_start_limit": limit })
        .to_string()
}

impl Fixture {
    pub(crate) async fn open() -> Self {
        Self::with(Plan::default()).await
    }

    pub(crate) async fn with(plan: Plan) -> Self {
        let server = Server::start([]).await;
        let application = json!({"id": "800", "flags": plan.flags}).to_string();
        for (start, reply) in [
            ("GET /users/@me ", Reply::ok(r#"{"id":"500"}"#)),
            ("GET /applications/@me ", Reply::ok(application)),
            ("GET /gateway/bot ", Reply::ok(starts(1_000))),
            ("GET /applications/800/guilds/1/commands", Reply::ok("[]")),
            ("POST /applications/800/guilds/1/commands", Reply::status(201, "{}")),
            ("GET /channels/700/messages", Reply::ok("[]")),
            ("GET /channels/700 ", Reply::ok(den(ALL).to_string())),
            ("GET /guilds/1 ", Reply::ok(guild([]).to_string())),
            ("GET /guilds/1/members?", Reply::ok(Value::from(everybody()).to_string())),
            ("GET /guilds/1/members/", Reply::status(404, r#"{"code":10007}"#)),
            ("POST /interactions/", Reply::status(204, "")),
            ("PATCH /webhooks/800/", Reply::ok("{}")),
        ] {
            server.rule(start, reply);
        }
        for member in everybody() {
            let user = member.pointer("/user/id").and_then(Value::as_str).unwrap();
            server.rule(&format!("GET /guilds/1/members/{user} "), Reply::ok(member.to_string()));
        }
        let (clock, recording) = (ManualClock::new(), Recording::default());
        let account = Arc::new(account(&server.address(), &clock, &BanGuard::new(1_000)));
        let identity = |(name, user): (&str, UserId)| Identity {
            discord_user_id: user,
            agent_id: name.into(),
            agent_name: name.to_owned(),
        };
        let registry = MemoryIdentities::with([("a", A), ("b", B)].map(identity)).unwrap();
        let mut builder = Dirigent::builder(account.clone())
            .identities(registry)
            .clock(clock.clone())
            .channels(KeptStore(plan.store))
            .settings(plan.settings)
            .recorder(recording.clone());
        if let Some(ownership) = plan.ownership {
            builder = builder.ownership(ownership);
        }
        if let Some(neighbours) = plan.neighbours {
            builder = builder.neighbours(neighbours);
        }
        let (dirigent, driver) = builder.build().unwrap();
        tokio::spawn(driver.run());
        let feed = Feed::builder(dirigent.clone(), account.clone(), plan.intents);
        let feed = match plan.stop_reaction {
            Some(emoji) => feed.stop_reaction(emoji),
            None => feed,
        };
        let (feed, work) = match plan.may_set_mode {
            Some(may) => feed.may_set_mode(move |_, _, _| Some(may)).build(),
            None => feed.build(),
        };
        tokio::spawn(work.run());
        let shard = feed.shard(ShardId::ONE);
        Self { server, clock, account, dirigent, feed, shard, recording }
    }

    /// Both agents take turns in the channel.
    pub(crate) async fn chat(&self) {
        let members = ["a", "b"].map(AgentId::from).to_vec();
        let chat = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
        self.dirigent.channel(CHANNEL).register(chat).await.unwrap();
    }

    pub(crate) async fn push(&self, kind: &str, data: &Value) {
        push_to(&self.shard, kind, data).await;
    }

    /// A session begins, and the guild is told.
    pub(crate) async fn connect(&self, members: impl IntoIterator<Item = Value>) {
        self.push("READY", &json!({"user": {"id": "500"}, "guilds": []})).await;
        self.push("GUILD_CREATE", &guild(members)).await;
    }

    pub(crate) fn pass(&self, millis: u64) {
        self.clock.advance(std::time::Duration::from_millis(millis));
    }

    pub(crate) async fn status(&self) -> Status {
        self.dirigent.channel(CHANNEL).status().await.unwrap().unwrap()
    }

    /// The agents in the channel that have not left it.
    pub(crate) async fn present(&self) -> Vec<String> {
        let seats = self.status().await.list;
        let seats = seats.into_iter().filter(|(_, seat)| !seat.left);
        seats.map(|(agent, _)| agent.as_str().to_owned()).collect()
    }

    /// How many requests began like this.
    pub(crate) fn count(&self, start: &str) -> usize {
        let start = start.replacen(" /", " /api/v10/", 1);
        self.server.lines().iter().filter(|line| line.starts_with(&start)).count()
    }

    /// Which of [`ASKED`] see the channel.
    pub(crate) async fn sees(&self) -> Vec<u64> {
        self.sees_of(CHANNEL).await
    }

    pub(crate) async fn sees_of(&self, channel: ChannelId) -> Vec<u64> {
        use dirigent::DiscordApi;
        let asked = ASKED.map(UserId::new).to_vec();
        let mut seen = self.account.members(channel, asked).await.unwrap();
        seen.sort_unstable();
        seen.into_iter().map(UserId::get).collect()
    }
}

/// Pushes an event, and lets what it needs of the driver's store happen.
pub(crate) async fn push_to(shard: &ShardFeed, kind: &str, data: &Value) {
    shard.text(&json!({"op": 0, "s": 1, "t": kind, "d": data}).to_string());
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}

/// Lets everything happen that needs no time.
pub(crate) async fn settle() {
    for _ in 0..3_000 {
        tokio::task::yield_now().await;
    }
}

/// Waits until it is so; everything else goes on meanwhile.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..1_000_000 {
        if is_so() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it never came to this: {what}");
}

pub(crate) fn person(id: u64, roles: &[&str]) -> Value {
    json!({"user": {"id": id.to_string()}, "roles": roles})
}

/// The same as it is pushed when it is new or has changed.
pub(crate) fn member(id: u64, roles: &[&str]) -> Value {
    json!({"guild_id": "1", "user": {"id": id.to_string()}, "roles": roles})
}

/// The owner, both agents, the bot itself, and somebody else.
pub(crate) fn everybody() -> Vec<Value> {
    let agent = |user: UserId| person(user.get(), &["20"]);
    vec![person(10, &[]), agent(A), agent(B), person(33, &[]), person(500, &[])]
}

/// The channel: for role 20 and for the bot, which has these permissions in it.
pub(crate) fn den(own: &str) -> Value {
    json!({"id": "700", "type": 0, "name": "den", "guild_id": "1", "permission_overwrites": [
        {"id": "1", "type": 0, "allow": "0", "deny": VIEW},
        {"id": "20", "type": 0, "allow": TALK, "deny": "0"},
        {"id": "500", "type": 1, "allow": own, "deny": "0"},
    ]})
}

/// The guild as it is told, with these of its five members.
pub(crate) fn guild(members: impl IntoIterator<Item = Value>) -> Value {
    let members: Vec<Value> = members.into_iter().collect();
    json!({"id": "1", "owner_id": "10", "name": "g", "member_count": 5, "large": false,
        "roles": [{"id": "1", "permissions": VIEW}, {"id": "20", "permissions": "0"},
                  {"id": "21", "permissions": "8"}],
        "channels": [den(ALL)], "threads": [], "members": members})
}

/// What a person says in the channel.
pub(crate) fn said(id: u64, text: &str) -> Value {
    json!({"id": id.to_string(), "channel_id": "700", "type": 0, "content": text,
        "author": {"id": "33", "username": "p"}})
}

/// A store that tests keep a hand on.
struct KeptStore(Arc<dyn ChannelStore>);

#[dirigent::async_trait]
impl ChannelStore for KeptStore {
    async fn channels(&self) -> Result<Vec<ChannelId>, dirigent::ports::ApiError> {
        self.0.channels().await
    }

    async fn load(
        &self,
        channel: ChannelId,
    ) -> Result<Option<dirigent::store::StoredChannel>, dirigent::store::LoadError> {
        self.0.load(channel).await
    }

    async fn commit(
        &self,
        commit: dirigent::store::Commit,
    ) -> Result<dirigent::store::Revision, dirigent::store::CommitError> {
        self.0.commit(commit).await
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, dirigent::store::LoadError> {
        self.0.delete(channel).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, dirigent::ports::ApiError> {
        self.0.agents().await
    }

    async fn add_agent(
        &self,
        agent: AgentId,
    ) -> Result<dirigent::snapshot::AgentKey, dirigent::ports::ApiError> {
        self.0.add_agent(agent).await
    }
}

/// Whether nobody had a turn in this cycle.
pub(crate) fn is_untouched(status: &Status) -> bool {
    status.list.iter().all(|(_, seat)| seat.turn == SeatTurn::Ahead)
}
