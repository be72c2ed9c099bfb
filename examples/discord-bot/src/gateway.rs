//! The moderator's connections to the gateway, whose events feed the library.

use std::time::Duration;

use dirigent_discord::ShardFeed;
use futures_util::StreamExt;
use practice::Result;
use twilight_gateway::queue::InMemoryQueue;
use twilight_gateway::{Config, ConfigBuilder, Intents, Message, Shard, ShardId};

/// How the shards of a token connect: to Discord, or to the address given.
pub(crate) fn config(token: &str, intents: Intents, address: Option<&str>) -> Config {
    let config = ConfigBuilder::new(token.to_owned(), intents);
    match address {
        // The loopback Discord has no limit for simultaneous connections.
        Some(address) => {
            let at_once = InMemoryQueue::new(0, 1_000, Duration::from_secs(86_400), 1_000);
            config.proxy_url(address.to_owned()).queue(at_once).build()
        }
        None => config.build(),
    }
}

/// Creates `count` shards, which all feed one driver.
pub(crate) fn shards(config: &Config, count: u32) -> Vec<Shard> {
    // Clones of a configuration share its queue: shards of one token must not all come at once.
    let shard = |id| Shard::with_config(ShardId::new(id, count), config.clone());
    (0..count).map(shard).collect()
}

/// Feeds the library with a shard's events. Where Discord closes the connection for good, it says why.
pub(crate) async fn run(mut shard: Shard, feed: ShardFeed) -> Result {
    while let Some(message) = shard.next().await {
        match message {
            Ok(Message::Text(text)) => feed.text(&text),
            Ok(Message::Close(frame)) => {
                if let Some(why) = feed.closed(frame.map(|frame| frame.code)) {
                    return Err(why.to_string().into());
                }
            }
            // The shard connects again by itself; until then nothing is heard.
            Err(error) => {
                tracing::warn!(%error, "the gateway's connection failed");
                let _ = feed.closed(None);
            }
        }
    }
    Ok(())
}
