//! Keeps Dirigent's registry in a JSON file that people can edit.
//!
//! ```
//! use dirigent::IdentityStore;
//! use dirigent_store::JsonIdentities;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let home = tempfile::tempdir()?;
//! # let home = home.path();
//! let identities = JsonIdentities::open(home.join("dirigent-identity.json"))?;
//! for problem in identities.problems() {
//!     eprintln!("{problem}");
//! }
//! assert!(identities.all().await?.is_empty());
//! # Ok(())
//! # }
//! ```

mod channel_file;
mod channels;
mod error;
mod fit;
mod identities;
mod json;
mod lock;
mod replace;
mod thread;

pub use channel_file::{ParsedChannel, Unwritable, parse_channel};
pub use channels::{ChannelOptions, ChannelProblem, FileDurability, JsonChannels};
pub use error::{Action, BadFile, OpenError, StoreError};
pub use identities::{BadEntry, JsonIdentities, ParsedIdentities, Problem, parse_identities};
