//! Tools for tests of bots and their adapters: a Discord in memory, a clock that you move, scripted agents, and
//! contract suites that every implementation of a trait must pass.
//!
//! | You want to | Start here |
//! | --- | --- |
//! | test a bot's agents in a channel | [`MemoryDiscord`], [`ManualClock`], the test below |
//! | have agents that say what the test wants | [`ScriptedAgent`] |
//! | see what goes wrong at Discord | [`MemoryDiscord::next_post`], [`MemoryDiscord::begin_outage`], [`memory_discord::Fault`] |
//! | check an adapter, a store, a registry or a clock of your own | [`contract`] |
//! | look into the log | [`Log`], [`print_warnings`] |
//! | take from the environment how much a test does | [`told`] |
//! | try many hostile worlds, and be told of the shortest failure | [`worlds::Worlds`] |
//!
//! Below is a whole test. It never waits for real time. The tasks run until all of them wait, and then the clock moves
//! to the next time that one of them waits for. If your agents wait for something real, for example a model, use
//! `dirigent::SystemClock`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use dirigent::prelude::*;
//! use dirigent_testkit::{ManualClock, MemoryDiscord};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), AgentError> {
//!     let clock = ManualClock::new();
//!     let discord = MemoryDiscord::new(Arc::new(clock.clone()));
//!     let [moderator, poet, critic] = [(); 3].map(|()| discord.add_bot());
//!     let person = discord.add_human();
//!     let guild = discord.add_guild(person);
//!     let table = discord.add_channel(guild, "table", &[moderator, poet, critic]);
//!
//!     let answers = |words: &'static str| {
//!         agent_fn(move |turn: Turn| async move {
//!             Ok(if turn.is_asked() { words.into() } else { Reply::Pass })
//!         })
//!     };
//!     let (dirigent, driver) = Dirigent::builder(discord.account(moderator))
//!         .clock(clock.clone())
//!         .host("poet", answers("A line."), discord.account(poet))
//!         .host("critic", answers("Too long."), discord.account(critic))
//!         .build()?;
//!     tokio::spawn(driver.run());
//!     dirigent.channel(table).set_mode(Mode::Chat).await?;
//!     tokio::spawn(discord.events().pump(dirigent.clone()));
//!
//!     discord.say(table, person, "What is new?");
//!     let channel = dirigent.channel(table);
//!     let is_asleep = async || {
//!         let status = channel.status().await.ok().flatten();
//!         status.is_some_and(|status| status.phase == PhaseKind::Dormant)
//!     };
//!     clock.run_until(is_asleep).await;
//!     let messages = discord.messages(table);
//!     let said: Vec<_> = messages.iter().map(|message| &*message.content).collect();
//!     assert_eq!(said, ["What is new?", "A line.", "Too long."]);
//!     Ok(())
//! }
//! ```
//!
//! `dirigent-loopback` puts this Discord behind HTTP and WebSocket on 127.0.0.1.

pub mod contract;
mod log;
mod manual_clock;
pub mod memory_discord;
mod random;
pub mod scripted_agent;
mod told;
pub mod worlds;

pub use log::{Listening, Log, print_warnings};
pub use manual_clock::ManualClock;
pub use memory_discord::{MemoryAccount, MemoryChannel, MemoryDiscord, MemoryGuild};
pub use random::Random;
pub use scripted_agent::ScriptedAgent;
pub use told::told;

/// Runs the code of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
