//! Decides who speaks, for agents that live in processes of their own; README.md says how to run it.
use std::{env, sync::Arc, time::Duration};

use dirigent::ports::Identity;
use dirigent::prelude::*;
use dirigent_cluster::Nats;
use dirigent_discord::{DiscordAccount, Feed};
use dirigent_relay::{Keyring, Master, ProcessRole, Secret, Server};
use dirigent_store::JsonChannels;
use futures_util::StreamExt as _;
use twilight_gateway::{ConfigBuilder, Message, Shard, ShardId};

const AGENTS: [&str; 2] = ["developer", "reviewer"];

fn set(name: &str) -> Result<String, AgentError> {
    Ok(env::var(name).map_err(|_| format!("{name} is not set"))?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AgentError> {
    tracing_subscriber::fmt().with_writer(std::io::stderr).init(); // what is wrong is said in the log
    let _ = rustls::crypto::ring::default_provider().install_default(); // for twilight's gateway
    let account = DiscordAccount::builder(set("DISCORD_TOKEN")?, SystemClock::new());
    let proxy = env::var("DISCORD_PROXY_URL"); // set by a Discord on this machine
    let account = if let Ok(url) = proxy { account.proxy(url) } else { account };
    let moderator = Arc::new(account.build().map_err(|error| format!("DISCORD_TOKEN: {error}"))?);

    let identities = MemoryIdentities::new();
    let mut keys = Keyring::new("master".parse()?, Secret::random()?);
    for agent in AGENTS {
        let name = agent.to_uppercase();
        let account = UserId::new(set(&format!("{name}_APPLICATION_ID"))?.parse()?);
        let (agent_id, agent_name) = (agent.into(), agent.to_owned());
        identities.add(Identity { discord_user_id: account, agent_id, agent_name })?;
        let secret = Secret::new(set(&format!("{name}_SECRET"))?.as_bytes())?;
        // A slave may ask for its own agent and for no other one.
        keys = keys.with(agent.parse()?, secret, ProcessRole::slave([agent]));
    }
    let (dirigent, driver) = Dirigent::builder(moderator.clone())
        .identities(identities.clone())
        .channels(JsonChannels::open("state")?)
        .build()?;
    let master = Master::new(dirigent.clone(), Arc::new(identities));
    let server = Arc::new(Server::new(keys)?.with(Arc::new(master)));
    let nats = env::var("NATS_URL").unwrap_or_else(|_| "nats://127.0.0.1:4222".to_owned());
    let nats = async_nats::connect(&nats).await.map_err(|error| format!("{nats}: {error}"))?;
    let server = Nats::new(nats, &"example".parse()?).serve(server);

    let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
    let mut driver = tokio::spawn(driver.run());
    let (_server, _work) = (tokio::spawn(server), tokio::spawn(work.run()));
    let config = ConfigBuilder::new(set("DISCORD_TOKEN")?, Feed::INTENTS);
    let config = env::var("DISCORD_GATEWAY_URL").into_iter().fold(config, ConfigBuilder::proxy_url);
    let mut shard = Shard::with_config(ShardId::ONE, config.build());
    let events = feed.shard(ShardId::ONE);
    while let Some(message) = tokio::select! {
        message = shard.next() => message,
        _ = tokio::signal::ctrl_c() => None,
        ended = &mut driver => return Ok(ended??), // it could not start
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
