//! Lets one process decide for the channels of one Dirigent, while others ask it.
//!
//! You need it if your agents live in another process than the one that keeps turns. A process asks over a [`Relay`],
//! which carries sealed bytes to the process that answers. A secret for each process proves who asks, and no question
//! is accepted twice.
//!
//! | you | start with |
//! | --- | --- |
//! | have one process that decides, and others that only ask | [`Master`], [`Slave`] |
//! | say who may ask what | [`Keyring`], [`Secret`], [`ProcessRole`] |
//! | write a transport | [`Relay`], [`Server::answer`], [`frame`] |
//! | ask or answer something of your own | [`RelayQuestion`], [`Client`], [`Service`] |
//! | have several processes that decide, or reach other machines | the crate `dirigent-cluster` |
//! | test without a network | [`InProcess`] |

// From below: `host`, `secret` and `keyring` have the names of processes, their secrets and their rights. `seal` turns
// a question into bytes. `relay` is the trait of transports, with `in_process` and `framing`. `rule`, `client` and
// `server` ask and answer, and `rules` has the questions about turns. On top are `master`, `slave` and `tool_use`.
// `permission` is shared by a slave and the processes of `dirigent-cluster`, which get it through `parts`.

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

/// Runs the code of the README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
