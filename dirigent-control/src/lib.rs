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
//! | `/dirigent/registry` | the agents and their accounts |
//! | `/dirigent/api` | the same for programs; `/dirigent/api/openapi.json` describes it |
//! | `/dirigent/metrics` | numbers for Prometheus |
//!
//! # Who may come in
//!
//! Every path answers 401 without a token, as `Authorization: Bearer …` or as the session that the sign-in form begins.
//! A viewer sees everything and changes nothing. Ten failures a minute bar an address for a minute. A host with
//! sessions of its own plugs in a [`Check`].
//!
//! Names and topics are escaped. No message's text is shown but a discussion's guide, and what a host tells of work under way
//! ([`Channel::progress`](dirigent::Channel::progress)).

// A request passes `access` and `auth`, then `pages`, `api` or `live`. All three show plain data of `look`, which
// `gather` asks the driver for; streams that show the same data share one drawing (`drawn`). `order` and
// `registry` change something. `peers`, `across` and `peer_rows` are the pages of other processes, `metrics` and
// `figures` numbers for Prometheus. `ports` is what a host plugs in: the page knows no store.

mod access;
mod across;
mod api;
mod assets;
mod auth;
mod control;
mod drawn;
mod figures;
mod gather;
mod live;
mod look;
mod memory_recorder;
mod metrics;
mod order;
mod order_log;
mod pages;
mod peer_rows;
mod peers;
mod places;
mod ports;
mod problem;
mod registry;
mod replays;
mod serve;
mod shared;
mod slave;

pub use auth::VisitorRole;
pub use control::{Control, ControlBuildError, ControlBuilder};
pub use figures::{Figure, Figures};
pub use look::{
    AgentLook, BudgetLook, ChangeLook, ChannelLook, DiscussionLook, IdentityLook, OrderLook,
    OutboxLook, Overview, RegistryLook, Row, WorkLook,
};
pub use memory_recorder::MemoryRecorder;
pub use order::Order;
pub use peers::{ChannelSheet, PageAnswer, PageQuestion, PeerError, Peers};
pub use ports::{Check, EgoFile, ReadRecording, RecordingFile, ScanReport};
pub use problem::Problem;
pub use slave::on_slave;

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
