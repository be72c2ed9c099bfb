//! A bot on twilight: a moderator, and three agents that speak in turn.
//!
//! ```text
//! cargo run -p discord-bot                          on this machine, without a token
//! cargo run -p discord-bot -- --hooks               the same with agents that ask before they run
//! DISCORD_TOKEN=... OPTIMIST_TOKEN=... SCEPTIC_TOKEN=... HISTORIAN_TOKEN=... cargo run -p discord-bot
//! ```
//!
//! `gateway.rs` connects the moderator's shards, `hooks.rs` is an agent that is a bot of its own.

mod gateway;
mod hooks;

use std::sync::Arc;
use std::time::Duration;

use clap::{Arg, Command, value_parser};
use dirigent::ports::Identity;
use dirigent::{Dirigent, DiscordApi, MemoryIdentities};
use dirigent_discord::{DiscordAccount, Feed};
use practice::{Options, Place, Result, flag};
use tokio::task::JoinSet;

use hooks::Asking;

/// What was asked for on the command line.
fn options() -> Options {
    let shards = Arg::new("shards").long("shards").value_name("N");
    let shards = shards.value_parser(value_parser!(u32).range(1..));
    Options::read(
        Command::new("discord-bot")
            .about("A bot on twilight: a moderator, and three agents that speak in turn")
            .arg(
                flag("hooks", "The agents are bots of their own that ask before they run")
                    .conflicts_with("llm"),
            )
            .arg(shards.help("How many shards; a bot in more than 2,500 servers needs several")),
    )
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    // Twilight's gateway needs to be told which cryptography to use; it was told before if this fails.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = options();
    let place = Place::find(&options).await?;
    let is_asking = options.has("hooks");
    let account = |token: &str| {
        let account = DiscordAccount::builder(token, place.clock);
        match &place.address {
            Some(address) => account.proxy(address).build(),
            None => account.build(),
        }
    };

    let moderator = Arc::new(account(place.moderator.as_str())?);
    let identities = MemoryIdentities::new();
    let mut builder =
        Dirigent::builder(Arc::clone(&moderator)).channels(place.channels()?).clock(place.clock);
    if is_asking {
        // The library does not call these agents, and must be told whose accounts they have.
        builder = builder.identities(identities.clone());
    }
    let mut asking = Vec::new();
    for (character, token) in &place.agents {
        let (account, name) = (Arc::new(account(token.as_str())?), character.name);
        if !is_asking {
            builder = builder.host(name, place.voice(*character), account);
            continue;
        }
        let user = account.me().await?;
        identities.add(Identity {
            discord_user_id: user,
            agent_id: name.into(),
            agent_name: name.to_owned(),
        })?;
        asking.push((Asking::new(name, user, character.with(place.clock), account), token));
    }
    let (dirigent, driver) = builder.build()?;
    let driver = tokio::spawn(driver.run());

    let (feed, work) =
        Feed::builder(dirigent.clone(), Arc::clone(&moderator), Feed::INTENTS).build();
    let (mut gateway, mut shards) = (JoinSet::new(), JoinSet::new());
    gateway.spawn(work.run());
    let gateway_url = place.gateway.as_deref();
    let config = gateway::config(place.moderator.as_str(), Feed::INTENTS, gateway_url);
    for shard in gateway::shards(&config, options.number("shards").unwrap_or(1)) {
        let shard_feed = feed.shard(shard.id());
        shards.spawn(gateway::run(shard, shard_feed));
    }
    for (agent, token) in asking {
        let config = gateway::config(token.as_str(), hooks::INTENTS, gateway_url);
        let shard = hooks::connect(config).await?;
        gateway.spawn(hooks::run(shard, agent, dirigent.clone()));
    }
    for finding in moderator.diagnose(&dirigent.channels(), Some(Feed::INTENTS)).await? {
        eprintln!("{finding}");
    }

    let stayed = tokio::select! {
        stayed = place.stay(&dirigent) => stayed,
        // One that Discord does not let in any more.
        Some(ended) = shards.join_next() => ended?,
    };
    dirigent.shutdown(Duration::from_secs(5)).await;
    shards.shutdown().await;
    gateway.shutdown().await;
    driver.await??;
    stayed
}
