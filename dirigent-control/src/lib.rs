//! A control page for [`dirigent`]: see, understand and steer every channel from a browser, an API or Prometheus.
//!
//! [`Control`] makes an [`axum::Router`], which a host nests under `/dirigent`, or serves it alone:
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
//! # What is where
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
//! # Who may come in
//!
//! Every path answers 401 without a token, as `Authorization: Bearer …` or as the session that the sign-in form begins. A
//! viewer reads everything and gives no orders. Ten failures a minute bar an address for a minute. A host with sessions of its
//! own plugs in a [`Check`].
//!
//! Names, topics and messages are escaped. A channel's page shows its newest messages, to viewers too. They are read from the
//! chat when you open the page. They reach no store, no log and no stream. A discussion's guide is shown, and what a host tells
//! of work under way ([`Channel::progress`](dirigent::Channel::progress)).

// `drawing` makes pictures and knows no server, `page` is all that does.

#[cfg(feature = "drawing")]
pub mod drawing;
#[cfg(feature = "page")]
mod page;

#[cfg(feature = "page")]
pub use page::*;

/// The code of the README runs.
#[cfg(all(doctest, feature = "page"))]
#[doc = include_str!("../README.md")]
struct Readme;
