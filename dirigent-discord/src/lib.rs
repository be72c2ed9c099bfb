//! Discord, for [`dirigent`]: its REST API as [`DiscordApi`](dirigent::DiscordApi) and
//! [`GuildApi`](dirigent::ports::GuildApi), and the events of its gateway, told to the library.
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
//! The smallest bot: a moderator whose channel is kept in order. (The gateway itself is
//! `twilight-gateway`'s; a shard gives text messages.)
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
//! * **One attempt a call,** of nine seconds at most. What failed says what is certain: a broken connection leaves
//!   doubt (`NoAnswer`), one that never came about does not (`Unavailable`, `NotDone`). Repeating is the driver's
//!   business.
//! * **No outage outlives itself.** A refused connection takes no place in a rate limit, a lost request none beyond
//!   its window; HTTP/2 connections are pinged, so that one that is silently dropped is found within 20 seconds.
//! * **No message twice.** A post carries its nonce and `enforce_nonce`, so that a repetition within a few
//!   minutes returns the first message.
//! * **No ping but the one asked for.** Mentions in a text ping no account; an answer does not ping whom it
//!   answers.
//! * **No limit overrun knowingly.** Buckets are learnt from the headers of every answer, globally no second
//!   holds more than 50 requests, and `Retry-After` is kept whatever the scope of the 429. A request
//!   that would be too early is not sent and not held back: the error says when.
//! * **No ban.** After a 401, or three 403 in a row on a route, that is not asked again for five minutes; a
//!   [`BanGuard`], one for all accounts of the process, stops everything at a tenth of the invalid requests that get
//!   an address banned.
//! * **No gateway loop waits.** [`ShardFeed::text`] returns at once, whatever the driver's store does: what has to wait
//!   is passed on by the [`FeedWork`], in order for each channel, and within bounds.
//! * **No event is needed.** Those that come twice or late change nothing, and what was lost is read from the
//!   history: after a new session where a channel's newest message is news, and now and then by the driver.
//! * **No request for what the gateway told.** Who sees a channel is followed while it is connected; of members, only the
//!   registered agents are asked for, one by one.
//! * **An answer within three seconds.** The slash commands are registered in each guild and answered only to the person
//!   who asked, `/stop` and `/resume` within a second; where the store is slow, the others are answered later. No limit of the account holds an answer back.
//! * **No secret and no text in an error, a log line or `Debug`.**
//!
//! # What Discord must allow
//!
//! To see and write in the channel and to read its history. To read what people write the application needs the
//! privileged Message Content Intent. The Server Members Intent is needed for more than 64 registered agents only; with it
//! ([`Feed::INTENTS_WITH_MEMBERS`]) agents that come and go are noticed at once. For creating
//! channels the bot needs the permission Manage Channels, for changing who sees one Manage Roles, and for
//! [personas](Persona) Manage Webhooks. It is
//! invited with the scopes `bot` and `applications.commands`. What of this is missing is in the log at the
//! start, each a [`SetupIssue`], and [`DiscordAccount::diagnose`] returns it.
//!
//! # TLS
//!
//! One of the features `rustls-platform-verifier` (the default), `rustls-native-roots`,
//! `rustls-webpki-roots` and `native-tls`, which are named as twilight's. With none, only a proxy on plain HTTP
//! can be reached. No crypto provider needs to be installed for this crate.

// A request passes `route`, `traffic` (with `pace`, `refusals` and `ban_guard`) and `transport`, which waits for
// nothing. `chat` and `guild` implement the two traits. `audience`, `member_pages` and `permission` say who sees a
// channel. `news` and `message` read the gateway, `feed` reports it and keeps `guild_cache`. `persona` has
// agents without a token. `slash` has the
// commands, `diagnose` finds what is not switched on.

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
mod member_pages;
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
mod unfinished_reads;
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

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
