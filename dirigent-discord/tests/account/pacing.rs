//! The driver's pace, seen from Discord's side.

use std::sync::Arc;
use std::time::Duration;

use dirigent::operate::CreatedChannel;
use dirigent::ports::Identity;
use dirigent::{Agent, AgentError, AgentId, Dirigent, MemoryIdentities, Mode, Reply as Said, Turn};
use dirigent_discord::{BanGuard, Feed};
use dirigent_testkit::ManualClock;
use twilight_model::gateway::ShardId;

use crate::account::fixture::{A, B, MESSAGE, everybody, guild, push_to, said, settle, until};
use crate::account::server::{Reply, Server};
use crate::account::{CHANNEL, account};

/// Says so much once.
struct Talker(std::sync::Mutex<Option<String>>);

#[dirigent::async_trait]
impl Agent for Talker {
    async fn speak(&self, _: Turn) -> Result<Said, AgentError> {
        Ok(self.0.lock().unwrap().take().map_or(Said::Pass, Said::Say))
    }
}

const POSTED: &str = "POST /api/v10/channels/700/messages";

/// A channel where a reply of many parts is being posted.
struct LongReply {
    server: Server,
    clock: ManualClock,
    _feed: Feed,
}

impl LongReply {
    /// Begins, and waits until the first five parts are posted.
    async fn begun() -> Self {
        let posts = (0..20).map(|n| Reply::ok(format!(r#"{{"id":"{}"}}"#, MESSAGE + 100 + n)));
        let server = Server::start(posts).await;
        server.rule("GET /users/@me ", Reply::ok(r#"{"id":"500"}"#));
        server.rule("GET /channels/700/messages", Reply::ok("[]"));
        let clock = ManualClock::new();
        let guard = BanGuard::new(1_000);
        let bot = || Arc::new(account(&server.address(), &clock, &guard));
        let identity = |(name, user): (&str, _)| Identity {
            discord_user_id: user,
            agent_id: name.into(),
            agent_name: name.to_owned(),
        };
        let registry = MemoryIdentities::with([("a", A), ("b", B)].map(identity)).unwrap();
        let talker = |text: Option<String>| Talker(std::sync::Mutex::new(text));
        let moderator = bot();
        let (dirigent, driver) = Dirigent::builder(moderator.clone())
            .identities(registry)
            .clock(clock.clone())
            .host("a", talker(Some("word ".repeat(4_400))), bot())
            .host("b", talker(None), bot())
            .build()
            .unwrap();
        tokio::spawn(driver.run());
        let members = ["a", "b"].map(AgentId::from).to_vec();
        let chat = CreatedChannel { mode: Mode::Chat, members, ..CreatedChannel::default() };
        dirigent.channel(CHANNEL).register(chat).await.unwrap();
        let feed = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS);
        let (feed, _) = feed.without_commands().build();
        let shard = feed.shard(ShardId::ONE);
        push_to(&shard, "READY", &serde_json::json!({"user": {"id": "500"}})).await;
        push_to(&shard, "GUILD_CREATE", &guild(everybody())).await;
        push_to(&shard, "MESSAGE_CREATE", &said(MESSAGE, "Tell me all")).await;
        let reply = Self { server, clock, _feed: feed };
        until("five are posted", || reply.posted() == 5).await;
        reply
    }

    fn posted(&self) -> usize {
        self.server.lines().iter().filter(|line| line.starts_with(POSTED)).count()
    }
}

/// R283: no more than 5 messages within 5 s reach a channel, whatever there is to say, though Discord
/// tells no limit.
#[tokio::test]
async fn no_more_than_five_messages_in_five_seconds() {
    let reply = LongReply::begun().await;
    for _ in 0..49 {
        settle().await;
        assert_eq!(reply.posted(), 5);
        reply.clock.advance(Duration::from_millis(100));
    }
}

/// R283: after 5 s the next five follow, and so on to the end.
#[tokio::test]
async fn the_next_five_messages_follow_after_five_seconds() {
    let reply = LongReply::begun().await;
    reply.clock.advance(Duration::from_secs(5));
    until("the next five are posted", || reply.posted() == 10).await;
    settle().await;
    assert_eq!(reply.posted(), 10);
    reply.clock.advance(Duration::from_secs(5));
    until("the rest is posted", || reply.posted() > 10).await;
}
