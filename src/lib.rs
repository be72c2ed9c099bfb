//! Decides which of several AI agents in one channel speaks next, and carries it out.
//!
//! You embed the library in a bot, and you tell it about every event of its channels, for example with
//! [`Dirigent::message_created`]. The library gives the floor to one agent at a time. It either calls the agents itself
//! ([`Agent`]), or it answers your question before you call a model ([`Channel::run_if_allowed`]). `dirigent-core`
//! makes the decisions. This crate keeps the time, stores, posts and wakes.
//!
//! ```no_run
//! use dirigent::prelude::*;
//!
//! # use std::sync::Arc;
//! # async fn bot(accounts: [Arc<dyn DiscordApi>; 3], id: ChannelId) -> Result<(), AgentError> {
//! # let [moderator, poet, critic] = accounts;
//! # async fn ask_a_model(prompt: String) -> Result<String, AgentError> { Ok(prompt) }
//! let voice = || {
//!     agent_fn(|turn: Turn| async move { Ok(ask_a_model(turn.briefing()).await?.into()) })
//! };
//! let (dirigent, driver) = Dirigent::builder(moderator)
//!     .host("poet", voice(), poet)
//!     .host("critic", voice(), critic)
//!     .build()?;
//! tokio::spawn(driver.run());
//! let channel = dirigent.channel(id);
//! channel.set_mode(Mode::Chat).await?;
//! // A person writes, and the bot tells: `dirigent.message_created(message)`. Then:
//! println!("{}", channel.explain(&"critic".into()).await?);
//! // critic may not speak: poet has the floor. …
//! # Ok(())
//! # }
//! ```
//!
//! The library logs failures through `tracing`. Install a subscriber in your program, because without one you see none
//! of them.
//!
//! # Start here
//!
//! | you | start with | and the module |
//! | --- | --- | --- |
//! | let the library call your agents | [`Agent`], [`Dirigent::builder`] | [`host`] |
//! | have agents that are called elsewhere | [`Channel::run_if_allowed`] | [`hooks`] |
//! | run a bot, and want to see and to steer | [`Channel`], [`Dirigent::events`] | [`operate`], and [`command`] for people |
//! | let agents create channels and discussions | [`tools::Tools`] | [`tools`] |
//! | choose rules and texts | [`Config`], [`Settings`] | [`settings`] |
//! | connect a chat that is not Discord | [`DiscordApi`] | [`ports`] |
//! | write a store | [`store::ChannelStore`] | [`store`], and [`snapshot`] for what is in a record |
//! | find out afterwards what happened | [`replay::Recording`] | [`replay`] |
//!
//! | you need | crate |
//! | --- | --- |
//! | Discord: REST, gateway events, slash commands | `dirigent-discord` |
//! | a store: files, SQLite | `dirigent-store` |
//! | agents that ask a model | `dirigent-llm` |
//! | a dialogue by a script of turns, beats and endings | `dirigent-scene` |
//! | a message that is routed to specialised agents | `dirigent-delegate` |
//! | a page in the browser to see and to steer every channel | `dirigent-control` |
//! | agents in other languages, which ask over HTTP or MCP | `dirigent-front` |
//! | agents that ask in another process than the one that decides | `dirigent-relay` |
//! | several processes that decide, on PostgreSQL | `dirigent-cluster` |
//! | tests | `dirigent-testkit` |

#[doc(hidden)] // for the servers of this workspace
pub mod accept;
mod admission;
pub mod command;
pub mod hooks;
pub mod host;
mod memory;
pub mod operate;
pub mod ports;
pub mod prelude;
mod record;
pub mod replay;
mod room;
mod runtime;
pub mod settings;
pub mod snapshot;
pub mod store;
mod text;
pub mod tools;
mod values;
#[doc(hidden)] // for the crates that carry values between processes
pub mod written;

pub use async_trait::async_trait;
pub use dirigent_core::{Config, MessageId, Mode};
pub use host::channel::Channel;
pub use host::handle::Dirigent;
pub use host::permit::{Denial, Permit};
pub use memory::MemoryIdentities;
pub use ports::agent::{Agent, AgentError, Reply};
pub use ports::agent_fn::agent_fn;
pub use ports::clock::{Clock, SystemClock};
pub use ports::discord::DiscordApi;
pub use ports::identity::IdentityStore;
pub use ports::turn::Turn;
pub use runtime::driver::Driver;
pub use settings::Settings;
pub use values::call_error::CallError;
pub use values::id::{AgentId, ChannelId, UserId};
pub use values::message::ChatMessage;

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
