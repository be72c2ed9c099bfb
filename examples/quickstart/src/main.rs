//! A Discord bot with three agents that speak in turn, a store and slash commands; README.md says how to run it.
use std::{env, sync::Arc, time::Duration};

use dirigent::{DiscordApi, prelude::*};
use dirigent_discord::{DiscordAccount, Feed, Persona};
use dirigent_llm::{ChatAgent, Endpoint};
use futures_util::StreamExt as _;
use twilight_gateway::{ConfigBuilder, Message, Shard, ShardId};

/// With `--llm URL` a model speaks, else the words.
fn voice(words: &'static str) -> Arc<dyn Agent> {
    if let Some(url) = env::args().skip_while(|flag| flag != "--llm").nth(1) {
        return Arc::new(ChatAgent::new(Endpoint::new(url, "default")));
    }
    Arc::new(agent_fn(move |turn: Turn| async move {
        Ok(if turn.is_asked() { words.into() } else { Reply::Pass })
    }))
}

fn account(name: &str) -> Result<Arc<DiscordAccount>, AgentError> {
    let token = env::var(name).map_err(|_| format!("{name} is not set"))?;
    let account = DiscordAccount::builder(token, SystemClock::new());
    let proxy = env::var("DISCORD_PROXY_URL").into_iter(); // set by a Discord on this machine
    let account = proxy.fold(account, |account, address| account.proxy(address)).build();
    Ok(Arc::new(account.map_err(|error| format!("{name}: {error}"))?))
}

/// Whom people see: the agent's own bot, if it has a token; else a persona, for which the moderator's webhook posts.
fn face(of: &Arc<DiscordAccount>, name: &str) -> Result<Arc<dyn DiscordApi>, AgentError> {
    let (key, face) = (format!("{}_TOKEN", name.to_uppercase()), Persona::new(name));
    Ok(if env::var(&key).is_ok() { account(&key)? } else { Arc::new(of.persona(face)?) })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init(); // what is wrong is said in the log
    let _ = rustls::crypto::ring::default_provider().install_default(); // for twilight's gateway
    let moderator = account("DISCORD_TOKEN")?;
    let (dirigent, driver) = Dirigent::builder(moderator.clone())
        .channels(dirigent_store::SqliteStore::open("state/dirigent.sqlite")?)
        .host("developer", voice("I could write that."), face(&moderator, "Developer")?)
        .host("reviewer", voice("I would read it first."), face(&moderator, "Reviewer")?)
        .host("tester", voice("And I try it."), face(&moderator, "Tester")?)
        .build()?;
    let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
    let (mut driver, _work) = (tokio::spawn(driver.run()), tokio::spawn(work.run()));
    let config = ConfigBuilder::new(env::var("DISCORD_TOKEN")?, Feed::INTENTS);
    let config = env::var("DISCORD_GATEWAY_URL").into_iter().fold(config, ConfigBuilder::proxy_url);
    let mut shard = Shard::with_config(ShardId::ONE, config.build());
    let events = feed.shard(ShardId::ONE);
    while let Some(message) = tokio::select! {
        message = shard.next() => message,
        _ = tokio::signal::ctrl_c() => None,
        ended = &mut driver => return Ok(ended??), // it could not start: a token is wrong, or used twice
    } {
        match message {
            Ok(Message::Text(text)) => events.text(&text),
            Ok(Message::Close(frame)) => {
                if let Some(why) = events.closed(frame.map(|frame| frame.code)) {
                    return Err(why.to_string().into()); // no new connection would help
                }
            }
            Err(_) => _ = events.closed(None), // the shard connects again by itself
        }
    }
    dirigent.shutdown(Duration::from_secs(5)).await;
    Ok(driver.await??)
}
