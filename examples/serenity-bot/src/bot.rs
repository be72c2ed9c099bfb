//! The bot from top to bottom: accounts, the library, and serenity's connection.

use std::sync::Arc;
use std::time::Duration;

use dirigent::Dirigent;
use practice::{Options, Place, Result, Token};
use serenity::all::{ClientBuilder, GatewayIntents};

use crate::{Relay, SerenityAccount, http};

/// Runs the bot until Ctrl-C, or on this machine until the evening is over. `commands` gives serenity's client what answers the
/// slash commands: [`SlashCommands`](crate::SlashCommands), or a framework such as poise.
///
/// # Errors
///
/// When a token is missing or wrong, or when the evening on this machine does not go as it should.
pub async fn run(
    options: &Options,
    commands: impl FnOnce(ClientBuilder, Dirigent) -> ClientBuilder,
) -> Result {
    let place = Place::find(options).await?;
    let address = place.address.as_deref();
    let account = |token: &Token| SerenityAccount::new(token.as_str(), address).map(Arc::new);

    // The moderator, and the agents that the library calls.
    let mut builder = Dirigent::builder(account(&place.moderator)?)
        .channels(place.channels()?)
        .clock(place.clock);
    for (character, token) in &place.agents {
        builder = builder.host(character.name, place.voice(*character), account(token)?);
    }
    let (dirigent, driver) = builder.build()?;
    let driver = tokio::spawn(driver.run());

    // The moderator's gateway connection, which tells the library what happens.
    let intents = GatewayIntents::non_privileged() | GatewayIntents::MESSAGE_CONTENT;
    let client = ClientBuilder::new_with_http(http(place.moderator.as_str(), address)?, intents)
        .event_handler(Relay(dirigent.clone()));
    let mut client = commands(client, dirigent.clone()).await?;
    let shards = Arc::clone(&client.shard_manager);
    let gateway = tokio::spawn(async move { client.start().await });

    place.stay(&dirigent).await?;
    dirigent.shutdown(Duration::from_secs(5)).await;
    shards.shutdown_all().await;
    gateway.await??;
    driver.await??;
    Ok(())
}
