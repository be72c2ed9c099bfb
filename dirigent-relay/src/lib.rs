//! Several processes answer for the channels of one Dirigent.
//!
//! Where one process asks, another answers: over a [`Relay`], which carries sealed bytes. Who asks is proven by a secret for
//! each process, and no question is taken twice.
//!
//! | you | start with |
//! | --- | --- |
//! | have one process that decides, and others that only ask | [`Master`], [`Slave`] |
//! | have several that share a database | [`Instance`], [`Forwarding`] |
//! | have agents that live in other processes | [`Hosting`] there, [`Guests`] here |
//! | say who may ask what | [`Keyring`], [`Secret`], [`ProcessRole`] |
//! | write a transport | [`Relay`], [`Server::answer`], [`frame`] |
//! | ask or answer something of your own | [`RelayQuestion`], [`Client`], [`Service`] |
//! | have a control page that shows the channels of all processes | `PagePeers`, `PageService`, with the feature `control` |
//! | reach other machines | `http`, with the feature of that name |
//! | test without a network | [`InProcess`] |

// From below: `host`, `secret` and `keyring` are the names of processes, their secrets and what each may do.
// `seal` makes bytes of a question. `relay` is the trait of transports, with `in_process`, `framing` and `http`.
// `rule`, `client` and `server` ask and answer; `rules` are the questions about turns. On top: `master`, `slave`
// and `tool_use` (one process decides), `instance`, `owners` and `forwarding` (each decides for its own channels),
// `remote` (agents elsewhere), `page` and `counts`.

mod client;
mod counts;
mod denied;
mod error;
mod event;
mod forwarding;
mod framing;
mod host;
#[cfg(feature = "http")]
pub mod http;
mod in_process;
mod instance;
mod keyring;
mod master;
mod owners;
#[cfg(feature = "control")]
mod page;
mod peer_rules;
mod permission;
mod rejection;
mod relay;
mod remote;
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
pub use forwarding::{Forwarding, ForwardingLink};
pub use framing::{FRAME_RULE, frame, unframe};
pub use host::{BadHostId, HostId};
pub use in_process::InProcess;
pub use instance::Instance;
pub use keyring::{Keyring, ProcessRole};
pub use master::Master;
pub use owners::Owners;
#[cfg(feature = "control")]
pub use page::{PagePeers, PageService, RelayFigures};
pub use peer_rules::Explained;
pub use permission::Permission;
pub use rejection::Rejection;
pub use relay::{CarryError, Relay};
pub use remote::{
    AgentConflict, GuestStatus, Guests, GuestsLink, Hosting, HostingLink, RemoteAccount,
    RemoteAgent, RemoteCallError,
};
pub use rule::{ANSWER_MAX, QUESTION_MAX, RelayQuestion};
pub use secret::{Secret, WeakSecret};
pub use server::{Asker, Server, Service};
pub use slave::{DirigentRole, Slave, UnknownRole, WhenUnavailable};
pub use tool_use::{SlaveToolError, SlaveTools};

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
