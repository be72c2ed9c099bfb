//! Asks an endpoint, in an agent's turn or for another crate.
//!
//! In the order of a turn: `agent` runs the loop of rounds, `prompt` fits the messages into their limits, and `chat` is
//! the type that asks. `ask` retries and falls back, `sender` makes one request, and `body` applies the time limits to
//! the answer. `partial` assembles an answer from its chunks, while [`crate::reasoning`] and `names` remove what must
//! not be posted. Only `endpoint`, `tls`, `sender` and `body` know HTTP.

mod agent;
mod ask;
mod beside;
mod body;
mod chat;
mod endpoint;
mod json;
mod limits;
mod names;
mod partial;
mod pictures;
mod prompt;
mod sender;
mod shape;
#[cfg(feature = "tls")]
mod tls;
mod tokens;
mod told;
mod unsaid;
mod wire;

pub use agent::ChatAgent;
pub use chat::Chat;
pub use endpoint::Endpoint;
pub use limits::Limits;
