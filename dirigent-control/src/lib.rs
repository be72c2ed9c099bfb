//! A control page for [`dirigent`]. You can see, understand and steer every channel from a browser, an API or
//! Prometheus.
//!
//! [`Control`] makes an [`axum::Router`]. You can nest it under `/dirigent` in your own router, or serve it alone, for
//! example like this:
//!
//! ```no_run
//! use std::sync::Arc;
//! use dirigent::{Dirigent, IdentityStore};
//! use dirigent::ports::GuildApi;
//! use dirigent_control::Control;
//!
//! # async fn bot(dirigent: Dirigent, moderator: Arc<dyn GuildApi>, identities: Arc<dyn IdentityStore>)
//! # -> Result<(), Box<dyn std::error::Error>> {
//! let control = Control::builder(dirigent, moderator, identities)
//!     .operator_token("a long secret of your own")
//!     .viewer_token("another long secret")
//!     .build()?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8130").await?;
//! control.serve(listener).await?; // http://127.0.0.1:8130/dirigent
//! # Ok(())
//! # }
//! ```
//!
//! # Paths
//!
//! | path | what |
//! | --- | --- |
//! | `/dirigent` | the overview: every channel, those that need a person first |
//! | `/dirigent/channels/{id}` | one channel: who speaks, why the others do not, the score; and what steers it |
//! | `/dirigent/channels/{id}/replay` | its recording, where [`MemoryRecorder`] records it |
//! | `/dirigent/replay` | a recording from a file |
//! | `/dirigent/agents/{id}` | one agent: its channels, turns by day and failures |
//! | `/dirigent/registry` | the agents and their accounts |
//! | `/dirigent/api` | the same for programs; `/dirigent/api/openapi.json` describes it |
//! | `/dirigent/metrics` | numbers for Prometheus |
//!
//! # Features
//!
//! | feature | what |
//! | --- | --- |
//! | `page`, on by default | the page and all of the above |
//! | `drawing`, part of it | scores, rings and replays as SVG and HTML, in the module `drawing`: without axum and any server |
//!
//! # Access
//!
//! Every request needs a token, and otherwise gets the status 401. The token comes as `Authorization: Bearer …`, or in
//! the session that starts with the sign-in form. A viewer can read everything and cannot give orders. After ten
//! failures in a minute, an address is blocked for a minute. If your program has its own sessions, implement a
//! [`Check`].
//!
//! Names, topics and messages are escaped. A channel's page shows its newest messages, also to viewers. They are read
//! from the chat when you open the page, and no store, log or stream contains them. The page also shows a discussion's
//! guide, and the progress that your program reports for running work
//! ([`Channel::progress`](dirigent::Channel::progress)).

// `drawing` makes pictures and needs no server. `page` is everything else.

#[cfg(feature = "drawing")]
pub mod drawing;
#[cfg(feature = "page")]
mod page;

#[cfg(feature = "page")]
pub use page::*;

/// Runs the code of the README.
#[cfg(all(doctest, feature = "page"))]
#[doc = include_str!("../README.md")]
struct Readme;
