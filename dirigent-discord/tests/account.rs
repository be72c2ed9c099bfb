//! The adapter against a scripted server on loopback: what it sends, byte for byte where that matters,
//! and what it makes of each answer.

mod diagnosis;
mod elsewhere;
mod events;
mod failures;
mod feed;
pub(crate) mod fixture;
mod guild_cache;
mod guilds;
mod limits;
mod members;
mod outages;
mod pacing;
mod posting;
mod reading;
pub(crate) mod server;
mod slash;
mod slash_elsewhere;
mod slow_store;
mod told_again;
mod troubled_store;
mod warnings;

use std::error::Error;
use std::time::Duration;

use dirigent::ports::{ApiError, HistoryRequest, Nonce, Post};
use dirigent::{ChannelId, DiscordApi, UserId};
use dirigent_discord::{BanGuard, DiscordAccount, RestError};
use dirigent_testkit::ManualClock;

use server::{Reply, Server};

pub(crate) const CHANNEL: ChannelId = ChannelId::new(700);
const ME: UserId = UserId::new(500);

/// An account, the server it talks to, and the clock of both.
struct AccountStage {
    server: Server,
    account: DiscordAccount,
    clock: ManualClock,
}

impl AccountStage {
    async fn with(script: impl IntoIterator<Item = Reply>) -> Self {
        Self::guarded(script, &BanGuard::new(1_000)).await
    }

    async fn guarded(script: impl IntoIterator<Item = Reply>, guard: &BanGuard) -> Self {
        let server = Server::start(script).await;
        let clock = ManualClock::new();
        let account = account(&server.address(), &clock, guard);
        Self { server, account, clock }
    }

    async fn history(&self, channel: ChannelId) -> Result<usize, ApiError> {
        let request = HistoryRequest { channel, after: None, limit: 50 };
        self.account.history(request).await.map(|messages| messages.len())
    }

    fn pass(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }
}

fn account(address: &str, clock: &ManualClock, guard: &BanGuard) -> DiscordAccount {
    let builder = DiscordAccount::builder("top.secret.token", clock.clone());
    let builder = builder.proxy(address).timeout(Duration::from_secs(9));
    builder.ban_guard(guard).build().unwrap()
}

fn post(content: &str, number: u64) -> Post {
    Post::new(CHANNEL, content, Nonce::from_parts(CHANNEL.get(), 0, number))
}

/// What stands behind an error.
fn cause(error: &ApiError) -> RestError {
    *error.source().and_then(|source| source.downcast_ref()).expect("an error with a cause")
}

/// No secret and no text is in anything that an error shows.
fn shows_nothing(error: &ApiError) {
    let shown = format!("{error} {error:?} {}", cause(error));
    for secret in ["confidential", "secret"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}
