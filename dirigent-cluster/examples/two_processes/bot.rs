//! One of the processes: a bot as any other, with a store that others share.

use std::env;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::Identity;
use dirigent::prelude::*;
use dirigent_cluster::{PostgresOptions, PostgresStore};
use dirigent_discord::{DiscordAccount, Feed};
use futures_util::StreamExt as _;
use tracing_subscriber::filter::LevelFilter;
use twilight_gateway::{ConfigBuilder, Message, Shard, ShardId};

use super::Result;

/// How long an agent thinks.
const THINKS: Duration = Duration::from_millis(120);

fn account(token: &str) -> Result<Arc<DiscordAccount>> {
    let account = DiscordAccount::builder(env::var(token)?, SystemClock::new());
    Ok(Arc::new(account.proxy(env::var("PROXY")?).build()?))
}

/// A run that goes on; it tells the terminal when it begins, and when it ends, however it does.
struct Run {
    channel: ChannelId,
    clock: SystemClock,
}

impl Run {
    fn begin(channel: ChannelId) -> Self {
        let run = Self { channel, clock: SystemClock::new() };
        run.say("speaking");
        run
    }

    fn say(&self, what: &str) {
        say(&format!("{what} {} {}", self.channel, self.clock.now().as_millis()));
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.say("ends");
    }
}

/// Says which words of people it heard, and in which turn.
async fn speak(turn: Turn) -> std::result::Result<Reply, AgentError> {
    let words = turn.missed().iter().filter(|message| message.is_by_person());
    let words: Vec<_> = words.map(|message| message.content.to_string()).collect();
    if words.is_empty() {
        return Ok(Reply::Pass);
    }
    let number = turn.turn().get();
    let run = Run::begin(turn.channel());
    run.clock.sleep_until(run.clock.now() + THINKS).await;
    Ok(format!("turn {number} heard {}", words.join(" ")).as_str().into())
}

/// A line for the process that started this one.
#[expect(clippy::print_stdout, reason = "the other process reads it")]
fn say(line: &str) {
    println!("{line}");
}

pub(super) async fn run() -> Result<()> {
    let level = env::var("LOG").ok().and_then(|level| level.parse().ok());
    let level = level.unwrap_or(LevelFilter::OFF);
    tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(level).init();
    let ttl = Duration::from_millis(env::var("TTL")?.parse()?);
    let options = PostgresOptions::new(env::var("DATABASE")?).ttl(ttl);
    let (store, link) = PostgresStore::open(options).await?;
    let _link = tokio::spawn(link.run());
    let moderator = account("MODERATOR")?;
    let mut builder = Dirigent::builder(moderator.clone())
        .channels(store.clone())
        .identities(store.clone())
        .ownership(store.clone());
    for (agent, token) in [("developer", "AGENT0"), ("reviewer", "AGENT1"), ("tester", "AGENT2")] {
        let account = account(token)?;
        // All processes register the same.
        let discord_user_id = account.me().await?;
        let identity =
            Identity { discord_user_id, agent_id: agent.into(), agent_name: agent.to_owned() };
        store.register(identity).await?;
        builder = builder.host(agent, Arc::new(agent_fn(speak)), account);
    }
    let (dirigent, driver) = builder.build()?;
    let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
    let mut driver = tokio::spawn(driver.run());
    let _work = tokio::spawn(work.run());
    let config = ConfigBuilder::new(env::var("MODERATOR")?, Feed::INTENTS);
    let mut shard =
        Shard::with_config(ShardId::ONE, config.proxy_url(env::var("GATEWAY")?).build());
    let events = feed.shard(ShardId::ONE);
    let begun = tokio::spawn(begin(dirigent.clone()));
    loop {
        let message = tokio::select! {
            message = shard.next() => message,
            ended = &mut driver => return Ok(ended??),
        };
        match message {
            Some(Ok(Message::Text(text))) => events.text(&text),
            Some(Ok(Message::Close(frame))) => _ = events.closed(frame.map(|frame| frame.code)),
            Some(Err(_)) => _ = events.closed(None),
            None => break,
        }
    }
    begun.abort();
    Ok(())
}

/// Gives each channel its mode, where no process did before: each is this one's or another's.
async fn begin(dirigent: Dirigent) {
    let channels = env::var("CHANNELS").unwrap_or_default();
    let clock = SystemClock::new();
    for channel in channels.split(',').filter_map(|channel| channel.parse().ok()) {
        let channel = dirigent.channel(ChannelId::new(channel));
        while !channel.is_known() && env::var("FIRST").is_ok() {
            if let Err(error) = channel.set_mode(Mode::Chat).await {
                eprintln!("waiting: {error}");
                clock.sleep_until(clock.now() + Duration::from_millis(50)).await;
            }
        }
    }
    say("ready");
}
