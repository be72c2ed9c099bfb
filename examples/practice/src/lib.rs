//! What discord-bot needs to be tried: agents that need no model, and where the bot is: at Discord, or
//! at a Discord on this machine on which it can be tried without a token.
//!
//! Nothing of it is needed by a bot of your own.

mod agents;
mod clock;
mod evening;
mod loopback;
mod options;
mod place;
mod rehearsal;
#[expect(clippy::collapsible_if, reason = "the example that it is of promises an older Rust")]
#[path = "../../../dirigent-bot/src/demo/terminal.rs"]
mod terminal;

pub use agents::{CHARACTERS, Character, Spoken};
pub use clock::FastClock;
pub use options::{Options, flag};
pub use place::{Place, Token};
pub use rehearsal::{rehearse, rehearse_with_model, try_flags};

/// What a bot's `main` answers.
pub type Result<T = ()> = std::result::Result<T, dirigent::AgentError>;
