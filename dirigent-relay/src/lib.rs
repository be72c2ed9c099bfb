//! Several processes answer for the channels of one Dirigent.
//!
//! Where one process asks, another answers: over a [`Relay`], which carries sealed bytes. Who asks is proven by a secret for
//! each process, and no question is taken twice.
//!
//! | you | start with |
//! | --- | --- |
//! | write a transport | [`Relay`], [`Server::answer`], [`frame`] |
//! | say who may ask what | [`Keyring`], [`Secret`], [`Role`] |
//! | ask or answer something of your own | [`Question`], [`Client`], [`Service`] |
//! | test without a network | [`InProcess`] |

mod client;
mod error;
mod framing;
mod host;
mod in_process;
mod keyring;
mod rejection;
mod relay;
mod rule;
mod seal;
mod secret;
mod server;

pub use client::Client;
pub use error::{Refused, RelayError};
pub use framing::{FRAME_RULE, frame, unframe};
pub use host::{BadHostId, HostId};
pub use in_process::InProcess;
pub use keyring::{Keyring, Role};
pub use rejection::Rejection;
pub use relay::{CarryError, Relay};
pub use rule::{ANSWER_MAX, QUESTION_MAX, Question};
pub use secret::{Secret, WeakSecret};
pub use server::{Asker, Server, Service};

/// The code of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
