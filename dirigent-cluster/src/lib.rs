//! Several processes act for the channels of one [`dirigent`], each for its share.
//!
//! A lease in a database that all share says which process owns a channel. What another process hears or is asked of the channel
//! is carried to the owner: by the sealed questions of [`dirigent_relay`].
//!
//! | you | start with |
//! | --- | --- |
//! | have several processes that share a database | `PostgresStore`, with the feature `postgres` |
//! | have gateway shards or agents in any of them | [`Instance`], [`Forwarding`], or [`OwnerRequests`] |
//! | reach other machines | `Nats`, with the feature `nats` |
//! | have a control page that shows the channels of all processes | `PagePeers`, `PageService`, with the feature `control` |
//! | keep leases in another table than ours | [`lease`], [`Owners`] |
//!
//! Of a Dirigent that one process decides for all, as the master of slaves, nothing here is needed: `dirigent-relay` has all of it.

// `lease` decides as a value who owns what, `postgres` keeps that and the records. `owners` says it to the others: `instance` asks the
// owner, `forwarding` carries events and requests to it, `requests` requests alone (`rules` has the questions). `moving` brings the records of
// another store into the database. `nats` is a transport for all of it, `page` the
// control page of all processes.

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

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
