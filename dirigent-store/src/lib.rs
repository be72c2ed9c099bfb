//! Stores Dirigent's channels and its registry. You can choose one SQLite database (`SqliteStore`, feature `sqlite`) or
//! JSON files ([`JsonChannels`], [`JsonIdentities`]). The crate also fills the registry from `ego.json`, the list of
//! bots of the program padded-cell, if you have one.
//!
//! | You want to | Start here |
//! | --- | --- |
//! | keep channels and the registry over a restart | `SqliteStore`, for `Builder::channels` and `Builder::identities`; it compiles SQLite, so you need a C compiler |
//! | keep some hundred channels in files that you can read, without C | [`JsonChannels`], for `Builder::channels` |
//! | keep a registry of agents that people can edit | [`JsonIdentities`], for `Builder::identities` |
//! | fill the registry from a list of bots that another program keeps | [`ego::ScannedIdentities`] |
//! | write a store of your own, without knowing what is in a record | [`ParsedChannel::to_json`], [`parse_channel`] |
//! | run one bot as several processes | `PostgresStore` of the crate `dirigent-cluster` |
//! | look at what is stored, or show it | [`export`], [`parse_channel`] |
//! | know what went wrong at the start | [`OpenError`], [`ChannelProblem`], [`RegistryProblem`] |
//!
//! ```
//! use dirigent::IdentityStore;
//! use dirigent_store::ego::{EgoOptions, ScannedIdentities};
//! use dirigent_store::{JsonChannels, JsonIdentities};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let home = home.path();
//! let registry = JsonIdentities::open(home.join(JsonIdentities::FILE_NAME))?;
//! for problem in registry.problems() {
//!     eprintln!("{problem}");
//! }
//! let identities =
//!     ScannedIdentities::new(registry, home.join("ego.json"), EgoOptions::default());
//! // A clone goes to `Dirigent::builder`; the driver reads it when it starts, and so scans.
//! assert!(identities.all().await?.is_empty());
//! assert!(!identities.is_detected());
//!
//! // Modes, discussions and turns; for `Builder::channels`.
//! let channels = JsonChannels::open(home.join("channels"))?;
//! for problem in channels.problems() {
//!     eprintln!("{problem}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! After a store has acknowledged a change, the change survives a kill of the process and a power cut. This includes
//! the state of turns, so no power cut makes the library post twice. Files are replaced and never written in place: the
//! new file is written beside the old one, synced and renamed, and then the folder is synced. So a file is complete at
//! every moment. All work on files happens on the stores' own threads, which start when a store is opened and end with
//! the last handle. You need no particular runtime.

// `json` and `sqlite` are the stores, and `ego` is the scan. They use `record` (the codec), and `disk` and `worker`
// (files and threads). `parts` gives the codec to `dirigent-cluster`. `agent_name` has the rules for names, `problems`
// lists what an operator should look at, and `export` writes all channels into one file.

mod agent_name;
mod disk;
pub mod ego;
mod error;
pub mod export;
mod json;
#[doc(hidden)]
pub mod parts;
mod problems;
mod record;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;

pub use error::{Action, BadFile, OpenError, StoreError, Unwritable};
pub use json::channels::{ChannelOptions, ChannelProblem, JsonChannels};
pub use json::identities::{
    BadEntry, JsonIdentities, ParsedIdentities, RegistryProblem, parse_identities,
};
pub use json::recording::{ChannelRecording, NewerValue};
pub use json::report::ChannelReport;
pub use record::{ParsedChannel, parse_channel};
#[cfg(feature = "sqlite")]
pub use sqlite::{FileDurability, SqliteOptions, SqliteProblem, SqliteStore};

/// Runs the code of the README.
#[cfg(all(doctest, feature = "sqlite"))]
#[doc = include_str!("../README.md")]
struct Readme;
