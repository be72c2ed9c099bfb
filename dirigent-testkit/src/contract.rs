//! Contract suites, which are lists of named checks that every implementation of a trait must pass.
//!
//! You supply a harness for your implementation, call the suite from a test, and unwrap the result.
//! The error's text says which checks failed, and how. The implementations in memory pass the same
//! suites, so that a test with them also tells you something about the real ones.
//!
//! ```
//! use std::sync::Arc;
//! use dirigent::{IdentityStore, MemoryIdentities};
//! use dirigent_testkit::contract;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), contract::Failures> {
//! let factory = || Arc::new(MemoryIdentities::new()) as Arc<dyn IdentityStore>;
//! let report = contract::identity_store(&factory).await?;
//! assert!(report.passed().contains(&"a_fresh_store_is_empty"));
//! # Ok(())
//! # }
//! ```

mod channel_store;
mod clock;
mod discord_api;
mod guild_api;
mod identity_store;
mod report;

pub use channel_store::{ChannelStoreHarness, channel_store};
pub use clock::{ClockHarness, clock};
pub use discord_api::{DiscordHarness, discord_api};
pub use guild_api::{GuildHarness, guild_api};
pub use identity_store::{IdentityStoreHarness, identity_store};
pub use report::{ContractReport, Failure, Failures};
