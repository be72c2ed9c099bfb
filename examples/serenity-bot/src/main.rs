//! A bot on serenity whose agents speak in turn; README.md says how to run it.
use std::{env, sync::Arc, time::Duration};

use dirigent::prelude::*;
use dirigent_discord::{AccountBuilder, DiscordAccount, Feed, ShardFeed, ShardId};
use serenity::all::{
    ClientBuilder, ConnectionStage, Context, Event, EventHandler, GatewayIntents, HttpBuilder,
    RawEventHandler, ShardStageUpdateEvent,
};

/// Answers a person. Ask your model here.
fn voice(words: &'static str) -> impl Agent {
    agent_fn(move |turn: Turn| async move {
        Ok(if turn.is_asked() { words.into() } else { Reply::Pass })
    })
}

fn account(name: &str) -> Result<Arc<DiscordAccount>, AgentError> {
    let token = env::var(name).map_err(|_| format!("{name} is not set"))?;
    let account = DiscordAccount::builder(token, SystemClock::new());
    // Only a Discord on this machine sets that variable.
    let account = env::var("DISCORD_PROXY_URL").into_iter().fold(account, AccountBuilder::proxy);
    Ok(Arc::new(account.build().map_err(|error| format!("{name}: {error}"))?))
}

/// Tells Dirigent what serenity's connection hears, beside your own handlers.
#[derive(Clone)]
pub(crate) struct Relay(pub(crate) ShardFeed);

#[dirigent::async_trait]
impl RawEventHandler for Relay {
    async fn raw_event(&self, _: Context, event: Event) {
        self.0.text(&serde_json::to_string(&event).unwrap_or_default());
    }
}

#[dirigent::async_trait]
impl EventHandler for Relay {
    async fn shard_stage_update(&self, _: Context, update: ShardStageUpdateEvent) {
        // Without a connection nothing is heard.
        let _ = (update.old == ConnectionStage::Connected).then(|| self.0.closed(None));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init(); // what is wrong is said in the log
    let moderator = account("DISCORD_TOKEN")?;
    let (dirigent, driver) = Dirigent::builder(moderator.clone())
        .host("developer", voice("I could write that."), account("DEVELOPER_TOKEN")?)
        .host("reviewer", voice("I would read it first."), account("REVIEWER_TOKEN")?)
        .host("tester", voice("And I try it."), account("TESTER_TOKEN")?)
        .build()?;
    let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
    let relay = Relay(feed.shard(ShardId::ONE));

    let http = HttpBuilder::new(env::var("DISCORD_TOKEN")?);
    let proxy = env::var("DISCORD_PROXY_URL").into_iter();
    let http = proxy.fold(http, |http, url| http.proxy(url).ratelimiter_disabled(true)).build();
    let intents = GatewayIntents::from_bits_retain(Feed::INTENTS.bits()); // and your own
    let client = ClientBuilder::new_with_http(http, intents);
    let mut client = client.raw_event_handler(relay.clone()).event_handler(relay).await?;

    let (mut driver, _work) = (tokio::spawn(driver.run()), tokio::spawn(work.run()));
    tokio::select! {
        ended = client.start() => ended?, // Discord closed the connection for good
        _ = tokio::signal::ctrl_c() => {}
        ended = &mut driver => return Ok(ended??), // it could not start: a token is wrong, or used twice
    }
    dirigent.shutdown(Duration::from_secs(5)).await;
    Ok(driver.await??)
}
