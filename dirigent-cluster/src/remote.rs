//! Agents that live in another process than the one that acts for the channel: [`Hosting`] there, [`Guests`] here.
//!
//! Each second the process in which they live announces itself, and the announcement is the lease of its agents: the calling
//! process trusts it for 3 s from when it was heard, the other for 3 s from when it was sent. So a call is dropped there before it
//! is given up here, and a question to begin a call that is older than that begins nothing. Answers are questions of their own,
//! repeated until they are taken.

mod account;
mod agent;
mod directory;
mod error;
mod fitting;
mod guests;
mod hosting;
mod pace;
pub(crate) mod rules;

pub use account::RemoteAccount;
pub use agent::RemoteAgent;
pub use directory::{AgentConflict, GuestStatus};
pub use error::RemoteCallError;
pub use guests::{Guests, GuestsLink};
pub use hosting::{Hosting, HostingLink};
