//! The gateway of the loopback Discord, by a client that shows every payload.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, UserId};
use dirigent_loopback::LoopbackDiscord;
use dirigent_testkit::{ManualClock, MemoryDiscord};
use serde_json::{Value, json};

mod altered;
mod client;
mod closing;
mod compressed;
mod events;
mod heartbeats;
mod interactions;
mod managed_roles;
mod marks;
mod resuming;
mod said;

use crate::rest::AGENT;
use crate::rest::answer::{self, Answer};
use client::{Client, Heard};

/// Guilds, messages in guilds, direct messages, and what they say.
const INTENTS: u64 = 1 | 1 << 9 | 1 << 12 | 1 << 15;

/// A guild with a person, its owner, and a bot in one channel; and the server over them.
struct Scene {
    clock: ManualClock,
    discord: MemoryDiscord,
    server: LoopbackDiscord,
    person: UserId,
    bot: UserId,
    guild: GuildId,
    channel: ChannelId,
}

impl Scene {
    async fn new() -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let (person, bot) = (discord.add_human(), discord.add_bot());
        let guild = discord.add_guild(person);
        let channel = discord.add_channel(guild, "round-table", &[bot]);
        let server = LoopbackDiscord::start(discord.clone()).await.unwrap();
        Self { clock, discord, server, person, bot, guild, channel }
    }

    /// One request with the bot's token; the path stands below the version.
    async fn ask(&self, method: &str, path: &str, body: &Value) -> Answer {
        let token = format!("Bot {}", self.server.token(self.bot));
        let headers = [("Authorization", token.as_str()), ("User-Agent", AGENT)];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("/api/v10/{path}");
        let address = self.server.address();
        answer::exchange(address, method, &path, &headers, body.as_bytes()).await.unwrap()
    }

    /// A deletion that must be done.
    async fn delete(&self, path: &str) {
        assert_eq!(self.ask("DELETE", path, &Value::Null).await.status, 204, "{path}");
    }

    /// A connection that was greeted.
    async fn connect(&self) -> Client {
        self.connect_with("?v=10&encoding=json").await
    }

    async fn connect_with(&self, query: &str) -> Client {
        let mut client = Client::open(self.server.address(), query).await;
        assert_eq!(client.payload().await["op"], 10);
        client
    }

    /// What a client says to begin.
    fn identify(&self, intents: u64) -> Value {
        json!({ "op": 2, "d": {
            "token": self.server.token(self.bot), "intents": intents, "properties": {},
        }})
    }

    /// A connection with a session that was told of its guild.
    async fn session(&self, intents: u64) -> (Client, String) {
        let mut client = self.connect().await;
        client.send(&self.identify(intents)).await;
        let ready = client.event("READY").await;
        assert_eq!(ready["guilds"], json!([{ "id": self.guild.to_string(), "unavailable": true }]));
        if intents & 1 != 0 {
            assert_eq!(client.event("GUILD_CREATE").await["id"], self.guild.to_string());
        }
        (client, ready["session_id"].as_str().unwrap().to_owned())
    }

    fn resume(&self, session: &str, seq: u64) -> Value {
        let token = self.server.token(self.bot);
        json!({ "op": 6, "d": { "token": token, "session_id": session, "seq": seq } })
    }

    /// Lets the bot's sessions be told a number, beside all that happens.
    fn mark(&self, number: u64) {
        let told =
            self.server.push(self.bot, Some(self.guild), "MARK", &json!({ "number": number }));
        assert!(told > 0);
    }
}
