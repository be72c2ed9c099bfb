//! Why a call of an agent in another process failed.

use dirigent::AgentId;
use dirigent_relay::{HostId, RelayError};

/// Why the call of an agent in another process failed, for
/// [`Builder::on_agent_error`](dirigent::host::Builder::on_agent_error). The turn is over, and what the agent missed is given again with
/// its next one.
///
/// ```
/// use dirigent_cluster::RemoteCallError;
/// let error = RemoteCallError::NoProcess { agent: "poet".into() };
/// assert!(error.to_string().contains("poet"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteCallError {
    /// No process announces the agent. It is called again when one does.
    #[error("no process announces {agent}; start the one in which it lives")]
    NoProcess {
        /// Which agent.
        agent: AgentId,
    },
    /// The agent's process was not heard of for 3 s. The call is over there, too.
    #[error("{host} was not heard of for 3 s, and its call is given up")]
    Lost {
        /// Which process.
        host: HostId,
    },
    /// The agent's process was started anew during the call.
    #[error("{host} was started anew during the call")]
    Restarted {
        /// Which process.
        host: HostId,
    },
    /// The agent's process runs the call no more: it had not heard of this process for 3 s.
    #[error("{host} gave the call up, since it had not heard of this process for 3 s")]
    GivenUp {
        /// Which process.
        host: HostId,
    },
    /// The turn was taken away before the call began.
    #[error("the turn was taken away before the call began")]
    Cancelled,
    /// The agent itself failed. The text is the agent's own and may contain anything.
    #[error("{text}")]
    Agent {
        /// What its error says, at most 500 characters.
        text: String,
    },
    /// The agent panicked.
    #[error("it panicked")]
    Panicked,
    /// The process would not call it.
    #[error(transparent)]
    Relay(#[from] RelayError),
}
