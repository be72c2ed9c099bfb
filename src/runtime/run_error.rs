//! The reasons why the driver cannot start, or cannot go on.

use std::fmt;
use std::sync::Arc;

use crate::values::error::ApiError;
use crate::{AgentId, ChannelId};

/// The reason why the driver could not start, or not go on. Its `Debug` text is the same sentence as its `Display`
/// text, because a `main` that returns the error prints `Debug`.
///
/// ```
/// use dirigent::ports::{ApiError, ErrorKind};
/// use dirigent::host::RunError;
/// let error = RunError::Discord(ApiError::new(ErrorKind::Unauthorized));
/// assert!(error.to_string().contains("token is not valid"));
/// assert_eq!(format!("{error:?}"), error.to_string());
/// ```
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The chat did not return the library's own account. Its token may be wrong.
    #[error("the Discord account of the library itself (the moderator) is not known: {0}")]
    Discord(#[source] ApiError),
    /// The chat did not return the account of a hosted agent.
    #[error("the Discord account of agent {agent} is not known: {source}")]
    Account {
        /// The agent. Its token may be wrong.
        agent: AgentId,
        /// The error of the chat.
        source: ApiError,
    },
    /// The registry could not be read.
    #[error("the registry could not be read: {0}")]
    Identities(#[source] ApiError),
    /// Two hosted agents have one account, or an agent has the library's own account. The messages of the two could
    /// then not be distinguished.
    #[error(
        "agent {agent} acts as the Discord account of {}; give each its own account, that is a bot with a token of its own",
        owner.as_ref().map_or("the library itself", AgentId::as_str)
    )]
    SharedAccount {
        /// The agent that shares its account with another agent.
        agent: AgentId,
        /// The agent that has the account. `None` for the library.
        owner: Option<AgentId>,
    },
    /// The driver panicked while it ran, and cannot go on. The channels are as they were stored. Start another driver
    /// on the same store, or end the process.
    #[error("the driver panicked: {0}")]
    Panicked(Arc<str>),
    /// The driver ended while it gave way to another process that posts with the same tokens and began earlier
    /// ([`SecondProcess`](crate::operate::SecondProcess)). It granted no turns in this channel, and perhaps in others.
    #[error(
        "another process posts in channel {0} with the same tokens, and shares no store with this one: it began earlier, so this one \
         granted no turns there. Let only one of them run"
    )]
    GivesWay(ChannelId),
    /// The channels could not be read.
    #[error("the channel store could not be read: {0}")]
    Channels(#[source] ApiError),
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
