//! Keeps Dirigent's channels in JSON files ([`JsonChannels`]) and its registry in one that people can
//! edit ([`JsonIdentities`]), and fills the registry from padded-cell's `ego.json` where there is one.
//!
//! ```
//! use dirigent::IdentityStore;
//! use dirigent_store::{EgoOptions, JsonChannels, JsonIdentities, ScannedIdentities};
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
//! Files are replaced, never written in place: written beside, synced, renamed, and the folder
//! synced, so that they are whole at any moment and a change that was acknowledged survives a
//! power cut. All work on files happens on threads of the stores, which start with the first call
//! and end with the last handle; no particular runtime is needed.
//!
//! With the feature `sqlite`, `SqliteStore` keeps both, channels and registry, in one database
//! file: for hosts on which thousands of channels talk at once.

mod agent_name;
mod disk;
mod ego;
mod error;
mod export;
mod json;
mod problems;
#[cfg(feature = "sqlite")]
mod sqlite;
mod worker;

pub use ego::{
    Conflict, ConflictKind, Detection, EgoAbsent, EgoOptions, EgoReport, KnownAgents, ParsedEgo,
    RescanError, ScannedIdentities, SkipReason, parse_ego, scan_ego,
};
pub use error::{Action, BadFile, OpenError, StoreError, Unwritable};
pub use export::{AgentState, ChannelState, HistoryEntry, OrchestrationState};
pub use json::channel_file::{ParsedChannel, parse_channel};
pub use json::channels::{ChannelOptions, ChannelProblem, FileDurability, JsonChannels};
pub use json::identities::{BadEntry, JsonIdentities, ParsedIdentities, Problem, parse_identities};
pub use json::recording::{ChannelRecording, NewerValue};
pub use json::report::ChannelReport;
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteOptions, SqliteProblem, SqliteStore};
