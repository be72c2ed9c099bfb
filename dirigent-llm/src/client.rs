//! What asks an endpoint: for an agent's turn, or outside of any.

mod agent;
mod ask;
mod body;
mod chat;
mod endpoint;
mod json;
mod limits;
mod names;
mod partial;
mod prompt;
mod reasoning;
mod sender;
mod shape;
#[cfg(feature = "tls")]
mod tls;
mod tokens;
mod wire;

pub use agent::ChatAgent;
pub use chat::Chat;
pub use endpoint::Endpoint;
pub use limits::Limits;
