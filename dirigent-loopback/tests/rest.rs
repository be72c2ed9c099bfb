//! The loopback Discord's REST API, asked byte by byte and through twilight's client.

use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::GuildId;
use dirigent::{ChannelId, UserId};
use dirigent_loopback::{LoopbackDiscord, ServerLimits};
use dirigent_testkit::{ManualClock, MemoryDiscord};
use serde_json::{Value, json};

mod altered;
pub(crate) mod answer;
mod commands;
mod components;
mod embeds;
mod faults;
mod files;
mod limits;
mod outages;
mod pages;
mod pins;
mod polls;
mod posting;
mod reactions;
mod refusals;
mod rights;
mod running;
mod threads;
mod twilight;
mod webhooks;

use answer::Answer;

const SECOND: Duration = Duration::from_secs(1);

/// A guild behind the server: its owner (a person), a moderator who manages channels, and a bot.
struct RestStage {
    clock: ManualClock,
    discord: MemoryDiscord,
    loopback: LoopbackDiscord,
    guild: GuildId,
    channel: ChannelId,
    owner: UserId,
    moderator: UserId,
    bot: UserId,
}

impl RestStage {
    async fn new() -> Self {
        Self::with(ServerLimits::generous()).await
    }

    async fn with(limits: ServerLimits) -> Self {
        let clock = ManualClock::new();
        let discord = MemoryDiscord::new(Arc::new(clock.clone()));
        let owner = discord.add_human();
        let (moderator, bot) = (discord.add_bot(), discord.add_bot());
        let guild = discord.add_guild(owner);
        discord.guild(guild).set_channel_manager(moderator, true);
        let channel = discord.add_channel(guild, "round-table", &[moderator, bot]);
        let loopback = LoopbackDiscord::start(discord.clone()).await.unwrap();
        loopback.set_limits(limits);
        Self { clock, discord, loopback, guild, channel, owner, moderator, bot }
    }

    /// One request with a bot's token; the path stands below the version.
    async fn ask(&self, bot: UserId, method: &str, path: &str, body: Value) -> Answer {
        let token = format!("Bot {}", self.loopback.token(bot));
        let headers = [("Authorization", token.as_str()), ("User-Agent", AGENT)];
        self.send(method, path, &headers, body).await.expect("an answer")
    }

    /// The same with headers of one's own; none when the connection was cut.
    async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Value,
    ) -> Option<Answer> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let path = format!("/api/v10/{path}");
        answer::exchange(self.loopback.address(), method, &path, headers, body.as_bytes()).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask(self.bot, "GET", path, Value::Null).await
    }

    async fn post(&self, content: &str) -> Answer {
        let path = format!("channels/{}/messages", self.channel);
        self.ask(self.bot, "POST", &path, json!({ "content": content })).await
    }
}

pub(crate) const AGENT: &str = "DiscordBot (https://example.invalid, 1)";
