//! Discord for [`dirigent`]: its REST API as [`DiscordApi`](dirigent::DiscordApi) and
//! [`GuildApi`](dirigent::ports::GuildApi), and the events of its gateway for the library.
//!
//! | You want to | Start here |
//! | --- | --- |
//! | post and read with a bot's token | [`DiscordAccount`], for `Dirigent::builder` and `Builder::host` |
//! | tell the library what the gateway says | [`Feed`], and a [`ShardFeed`] for each shard |
//! | offer `/stop`, `/status` and the other slash commands | [`Feed`] registers and answers them by itself |
//! | know what is not switched on: intents, permissions | [`DiscordAccount::diagnose`], [`SetupIssue`] |
//! | know why a request failed | [`RestError`], the source of each error |
//! | have agents without a token of their own | [`DiscordAccount::persona`] |
//! | run several accounts, without getting the address banned | [`BanGuard`] |
//! | use another client, and turn its messages into the library's | [`chat_message`] |
//!
//! This is the smallest bot, a moderator with one managed channel. (You connect the gateway with `twilight-gateway`; a
//! shard gives you text messages.)
//!
//! ```no_run
//! use std::sync::Arc;
//! use dirigent::{Dirigent, MemoryIdentities, Mode, SystemClock};
//! use dirigent_discord::{DiscordAccount, Feed};
//! use twilight_model::gateway::ShardId;
//!
//! # async fn next_text() -> Option<String> { None }
//! # async fn bot() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = SystemClock::new();
//! let token = std::env::var("DISCORD_TOKEN")?;
//! let moderator = Arc::new(DiscordAccount::builder(token, clock).build()?);
//! let (dirigent, driver) =
//!     Dirigent::builder(moderator.clone()).clock(clock).build()?;
//! // The shards are to be asked for these intents.
//! let (feed, work) = Feed::builder(dirigent.clone(), moderator, Feed::INTENTS).build();
//! tokio::spawn(driver.run());
//! tokio::spawn(work.run());
//! dirigent.channel("123456789012345678".parse()?).set_mode(Mode::Chat).await?;
//! let shard = feed.shard(ShardId::ONE);
//! while let Some(text) = next_text().await {
//!     shard.text(&text);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # What it promises
//!
//! * **One attempt for each call,** of nine seconds at most. A failure says what is certain: a broken connection leaves
//!   doubt (`NoAnswer`), and one that could not be made does not (`Unavailable`, `NotDone`). The driver decides about
//!   repetitions.
//! * **No outage lasts longer than Discord's.** A refused connection takes no place in a rate limit, and a lost request
//!   takes none beyond its window. HTTP/2 connections are pinged, so that a silently dropped one is noticed within 20
//!   seconds.
//! * **No message twice.** A post has a nonce and `enforce_nonce`, so that a repetition within a few minutes returns
//!   the first message.
//! * **No unwanted ping.** Mentions in a text ping no account unless you ask for it, and an answer does not ping its
//!   author.
//! * **No limit exceeded knowingly.** Buckets are learnt from the headers of every answer, at most 50 requests leave in
//!   any second, and every `Retry-After` is respected. A request that would be too early is neither sent nor held back,
//!   because the error tells you when to repeat it.
//! * **No ban.** After a 401, or after three 403 in a row on one route, such requests pause for up to five minutes. A
//!   [`BanGuard`] that all accounts of the process share stops everything at a tenth of the invalid requests that would
//!   ban an address.
//! * **No blocked gateway loop.** [`ShardFeed::text`] returns at once, whatever the driver's store does. The
//!   [`FeedWork`] passes on what must wait, in order for each channel and within bounds.
//! * **No dependence on events.** Repeated and late events change nothing. Lost messages are read from the history,
//!   after a new session and now and then by the driver.
//! * **No request for what the gateway reports.** The audience of a channel is followed while the gateway is connected.
//!   Of the members, only registered agents are requested, one by one.
//! * **An answer within three seconds.** The slash commands are registered in each guild, and only the person who used
//!   one sees the answer. `/stop` and `/resume` are answered within a second, and the others may follow later if the
//!   store is slow. No limit of the account delays an answer.
//! * **No secret and no text in an error, a log line or `Debug`.**
//!
//! # What Discord must allow
//!
//! The bot must see the channel, write in it, and read its history. To read what people write, the application needs
//! the privileged Message Content Intent. You need the Server Members Intent only for more than 64 registered agents;
//! with it ([`Feed::INTENTS_WITH_MEMBERS`]) agents that join and leave are noticed at once.
//!
//! The bot needs Manage Channels to create channels, Manage Roles to change who sees one, and Manage Webhooks for
//! [personas](Persona). Invite it with the scopes `bot` and `applications.commands`. The log names everything that is
//! missing at the start, each as a [`SetupIssue`], and [`DiscordAccount::diagnose`] returns it.
//!
//! # TLS
//!
//! Choose one of the features `rustls-platform-verifier` (the default), `rustls-native-roots`, `rustls-webpki-roots`
//! and `native-tls`, which have twilight's names. Without any of them you can only use a proxy on plain HTTP. You need
//! not install a crypto provider for this crate.

// A request passes `route`, `traffic` (with `pace`, `refusals` and `ban_guard`) and `transport`, which never waits for
// a limit. `chat` and `guild` implement the two traits. `audience` and `permission` decide who sees a
// channel. `news` and `message` read the gateway, and `feed` reports it and fills `guild_cache`. `persona` has agents
// without a token. `slash` has the commands, and `diagnose` finds what is not switched on.

mod account;
mod audience;
mod ban_guard;
mod build_error;
mod builder;
mod chat;
mod diagnose;
mod embed;
mod feed;
mod file_host;
mod guild;
mod guild_cache;
mod limit_headers;
mod message;
mod news;
mod pace;
mod permission;
mod persona;
mod refusals;
mod rest_error;
mod route;
mod setup_issue;
mod slash;
mod traffic;
mod transport;
mod unfinished;
mod wire;

pub use account::DiscordAccount;
pub use ban_guard::BanGuard;
pub use build_error::AccountBuildError;
pub use builder::AccountBuilder;
pub use feed::{Feed, FeedBuilder, FeedWork, ShardFeed};
pub use message::chat_message;
pub use persona::{Persona, PersonaAccount, PersonaError};
pub use rest_error::RestError;
pub use setup_issue::{GatewayCloseReason, NeededIntent, NeededPermission, SetupIssue};
/// Twilight's name of a shard, for [`Feed::shard`].
pub use twilight_model::gateway::ShardId;

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
