//! A bot on serenity: a moderator, and three agents that speak in turn.
//!
//! ```text
//! cargo run -p serenity-bot                         on this machine, without a token
//! DISCORD_TOKEN=... OPTIMIST_TOKEN=... SCEPTIC_TOKEN=... HISTORIAN_TOKEN=... cargo run -p serenity-bot
//! ```

use std::sync::Arc;
use std::time::Duration;

use clap::Command;
use dirigent::ports::Identity;
use dirigent::{Dirigent, DiscordApi, MemoryIdentities};
use practice::{Options, Place, Result};
use serenity::all::{ClientBuilder, GatewayIntents};
use serenity_bot::{Relay, SerenityAccount, SlashCommands};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result {
    let options = Options::read(
        Command::new("serenity-bot")
            .about("A bot on serenity: a moderator, and three agents that speak in turn"),
    );
    let place = Place::find(&options).await?;
    let address = place.address.as_deref();
    let moderator = SerenityAccount::new(place.moderator.as_str(), address)?;
    let identities = MemoryIdentities::new();
    let mut builder = Dirigent::builder(Arc::new(moderator))
        .identities(identities.clone())
        .channels(place.channels()?)
        .clock(place.clock);
    for (character, token) in &place.agents {
        let account = SerenityAccount::new(token.as_str(), address)?;
        identities.add(Identity {
            discord_user_id: account.me().await?,
            agent_id: character.name.into(),
            agent_name: character.name.to_owned(),
        })?;
        builder = builder.host(character.name, place.voice(*character), Arc::new(account));
    }
    let (dirigent, driver) = builder.build()?;
    let driver = tokio::spawn(driver.run());

    let intents = GatewayIntents::non_privileged() | GatewayIntents::MESSAGE_CONTENT;
    let http = serenity_bot::http(place.moderator.as_str(), address)?;
    let mut client = ClientBuilder::new_with_http(http, intents)
        .event_handler(Relay(dirigent.clone()))
        .event_handler(SlashCommands(dirigent.clone()))
        .await?;
    let shards = Arc::clone(&client.shard_manager);
    let gateway = tokio::spawn(async move { client.start().await });

    place.stay(&dirigent).await?;
    dirigent.shutdown(Duration::from_secs(5)).await;
    shards.shutdown_all().await;
    gateway.await??;
    driver.await??;
    Ok(())
}
