//! Lets several processes share the channels of one bot on [`dirigent`].
//!
//! A lease in a database that all share says which process owns a channel. If another process hears an event of the
//! channel, or gets a request for it, it carries that to the owner as a sealed question of [`dirigent_relay`].
//!
//! | you | start with |
//! | --- | --- |
//! | have several processes that share a database | `PostgresStore`, with the feature `postgres` |
//! | have gateway shards or agents in any of them | [`Instance`], [`Forwarding`], or [`OwnerRequests`] |
//! | reach other machines | `Nats`, with the feature `nats` |
//! | have a control page that shows the channels of all processes | `PagePeers`, `PageService`, with the feature `control` |
//! | keep leases in a table of your own | [`lease`], [`Owners`] |
//!
//! If one process decides for all, for example a master with slaves, `dirigent-relay` is all you need.

// `lease` decides as a value who owns which shard, and `postgres` stores that and the records. `owners` tells the
// others: `instance` asks the owner, `forwarding` carries events and requests to it, `requests` only requests (`rules`
// has the questions). `moving` copies another store into the database. `nats` is a transport, `page` the control page
// of all.

mod forwarding;
mod instance;
pub mod lease;
#[cfg(feature = "postgres")]
mod moving;
#[cfg(feature = "nats")]
mod nats;
mod owners;
#[cfg(feature = "control")]
mod page;
#[cfg(feature = "postgres")]
mod postgres;
mod requests;
mod rules;
#[cfg(test)]
mod tests;

pub use forwarding::{Forwarding, ForwardingLink};
pub use instance::Instance;
#[cfg(feature = "postgres")]
pub use moving::{MoveError, Moved};
#[cfg(feature = "nats")]
pub use nats::{Nats, NatsError};
pub use owners::Owners;
#[cfg(feature = "control")]
pub use page::{PagePeers, PageService, RelayFigures};
#[cfg(feature = "postgres")]
pub use postgres::{PostgresLink, PostgresOptions, PostgresProblem, PostgresStore};
pub use requests::OwnerRequests;
pub use rules::Explained;

/// Runs the code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
