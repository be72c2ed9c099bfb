//! One process decides for the channels of one Dirigent, and others ask it.
//!
//! Where one process asks, another answers: over a [`Relay`], which carries sealed bytes. Who asks is proven by a secret for
//! each process, and no question is taken twice.
//!
//! | you | start with |
//! | --- | --- |
//! | have one process that decides, and others that only ask | [`Master`], [`Slave`] |
//! | say who may ask what | [`Keyring`], [`Secret`], [`ProcessRole`] |
//! | write a transport | [`Relay`], [`Server::answer`], [`frame`] |
//! | ask or answer something of your own | [`RelayQuestion`], [`Client`], [`Service`] |
//! | have several processes that decide, or reach other machines | the crate `dirigent-cluster` |
//! | test without a network | [`InProcess`] |

// From below: `host`, `secret` and `keyring` are the names of processes, their secrets and what each may do.
// `seal` makes bytes of a question. `relay` is the trait of transports, with `in_process` and `framing`.
// `rule`, `client` and `server` ask and answer; `rules` are the questions about turns. On top: `master`, `slave`
// and `tool_use`. `permission` is what a slave shares with the processes of `dirigent-cluster`, `parts` how they get it.

mod client;
mod counts;
mod denied;
mod error;
mod framing;
mod host;
mod in_process;
mod keyring;
mod master;
#[doc(hidden)]
pub mod parts;
mod permission;
mod rejection;
mod relay;
mod rule;
pub mod rules;
mod runs;
mod seal;
mod secret;
mod server;
mod slave;
mod tool_use;

pub use client::Client;
pub use counts::{AskCount, AskOutcome};
pub use denied::Denied;
pub use error::{Refused, RelayError};
pub use framing::{FRAME_RULE, frame, unframe};
pub use host::{BadHostId, HostId};
pub use in_process::InProcess;
pub use keyring::{Keyring, ProcessRole};
pub use master::Master;
pub use permission::Permission;
pub use rejection::Rejection;
pub use relay::{CarryError, Relay};
pub use rule::{ANSWER_MAX, QUESTION_MAX, RelayQuestion};
pub use secret::{NoRandomness, Secret, WeakSecret};
pub use server::{Asker, Server, Service};
pub use slave::{DirigentRole, Slave, UnknownRole, WhenUnavailable};
pub use tool_use::{SlaveToolError, SlaveTools};

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
