//! Agents that live in another process than the one that acts for the channel: [`Hosting`] there, [`Guests`] here.
//!
//! Each second the process in which they live announces itself, and the announcement is the lease of its agents: the calling
//! process trusts it for 3 s from when it was heard, the other for 3 s from when it was sent. So a call is dropped there before it
//! is given up here, and a question to begin a call that is older than that begins nothing. Answers are questions of their own,
//! repeated until they are taken.

mod account;
mod agent;
mod error;
mod guests;
mod hosting;
mod rules;
mod wire;

use std::time::Duration;

pub use account::RemoteAccount;
pub use agent::RemoteAgent;
pub use error::RemoteCallError;
pub use guests::{AgentConflict, GuestStatus, Guests, GuestsLink};
pub use hosting::{Hosting, HostingLink};

/// How often a process announces its agents.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(1);
/// How long an announcement counts.
const LEASE: Duration = Duration::from_secs(3);
/// How soon a question is asked again that has no answer.
const ASK_AGAIN: Duration = Duration::from_millis(100);
