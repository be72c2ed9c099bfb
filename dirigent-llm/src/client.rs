//! Asks an endpoint, for an agent's turn or for another crate.
//!
//! In the order of a turn: `agent` is the loop of rounds, `prompt` the messages within their limits, `chat` the
//! type that asks, `ask` its retries and fall-backs, `sender` one request, and `body` the time limits of the
//! answer. `partial` puts an answer together from its chunks, [`crate::reasoning`] and `names` remove what is not posted.
//! Only `endpoint`, `tls`, `sender` and `body` know HTTP.

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
