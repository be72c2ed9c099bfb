//! For bots: builds the library, and calls agents through it.
//!
//! | to | see |
//! | --- | --- |
//! | put the library together | [`Dirigent::builder`](crate::Dirigent::builder), [`Builder`] |
//! | let the library call an agent | [`Agent`](crate::Agent) or [`agent_fn`](crate::agent_fn), [`Turn`](crate::Turn), [`Reply`](crate::Reply) |
//! | answer people who speak during a turn | [`Orchestrator`] |
//! | use a transcript in the form of chat models | [`TranscriptMessage`], [`final_text`] |

pub(crate) mod asking;
pub(crate) mod builder;
pub(crate) mod channel;
pub(crate) mod deferral;
pub(crate) mod discussion;
pub(crate) mod erasure;
pub(crate) mod explanation;
pub(crate) mod gateway;
pub(crate) mod handle;
mod here;
pub(crate) mod operate;
pub(crate) mod participants;
pub(crate) mod permit;
pub(crate) mod presence;
mod request;
pub(crate) mod run_end;
pub(crate) mod status;
pub(crate) mod storing;

#[doc(hidden)] // what `agent_fn` gives, and what the builder takes: nobody names them
pub use crate::ports::agent_fn::AgentFn;
#[doc(hidden)]
pub use crate::ports::into_shared::IntoShared;
pub use crate::ports::orchestrator::{Consultation, Orchestrator};
pub use crate::runtime::run_error::RunError;
#[doc(hidden)] // for the crates of this workspace
pub use crate::text::plain;
pub use crate::text::split::split_reply;
pub use crate::text::transcript::{Content, Part, Role, TranscriptMessage, final_text};
pub use builder::{BuildError, Builder};
