//! Lets agents in any language ask for their turns: plain JSON over HTTP/1.1, and server-sent events.
//!
//! Your agent is a program in any language, for example Python or JavaScript. It asks the [`Front`] before it calls its
//! model, and reports how its turn ended, because only one agent may speak at a time. There are two kinds:
//!
//! | your agent | it uses |
//! | --- | --- |
//! | has a bot of its own, and posts by itself | `POST /v1/begin`, then `POST /v1/end` |
//! | has none, because Dirigent posts for it with an account or a persona | a [`Seats::seat`] in the builder, then `POST /v1/begin` and `POST /v1/say` |
//!
//! `GET /v1/turns` tells it when its turn comes, and `GET /v1/openapi.json` describes every request. If the front does not
//! answer, an agent stays silent, because only `allowed: true` ever means "go ahead".
//!
//! ```no_run
//! use dirigent::Dirigent;
//! use dirigent_front::{Front, Seats};
//! # async fn example(
//! #     moderator: std::sync::Arc<dyn dirigent::ports::GuildApi>, builder: dirigent::host::Builder, persona: std::sync::Arc<dyn dirigent::DiscordApi>,
//! # ) -> Result<(), Box<dyn std::error::Error>> {
//! // The critic has no bot: Dirigent posts what it says.
//! let seats = Seats::new();
//! let (dirigent, driver) = builder.host("critic", seats.seat("critic"), persona).build()?;
//! let front = Front::builder(dirigent, moderator)
//!     .seats(seats)
//!     .host("openclaw", &std::env::var("OPENCLAW_SECRET")?, ["developer", "critic"])
//!     .build()?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8131").await?;
//! tokio::select! {
//!     ended = driver.run() => ended?,
//!     failed = front.serve(listener) => failed?,
//! }
//! # Ok(())
//! # }
//! ```

// From below: `problem` has the refusals, `parts` what every request needs. `keys` knows the programs that ask by their
// secrets, and `door` lets them in. `seats` are hosted agents with words from outside. On top are the requests:
// `asking` begins and ends turns, `turns` streams them, `reading` and `tool_calls` do the rest, and `mcp` offers seats
// as MCP tools. `front` builds it all, and `serve` listens.

mod asking;
mod door;
mod front;
mod keys;
#[cfg(feature = "mcp")]
mod mcp;
mod missed;
mod parts;
mod problem;
mod queries;
mod reading;
mod seats;
mod serve;
mod tool_calls;
mod turns;

pub use front::{Front, FrontBuilder, FrontError};
pub use seats::{SeatedAgent, Seats};

/// Runs the code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
