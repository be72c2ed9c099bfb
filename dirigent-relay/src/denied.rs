//! The reason why an agent of this process may not run, as another process gives it.

use dirigent::AgentId;

use crate::{Refused, RelayError};

/// The reason why an agent may not run now. It stays silent, so call no model for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// The process that acts for the channel denies the run.
    #[error("{reason}")]
    Denied {
        /// The reason, as a sentence.
        reason: String,
        /// The agent that has the floor instead, or `None` while the channel is dormant.
        speaker: Option<AgentId>,
        /// The model to use for the run if your host cannot skip it.
        no_reply_model: Option<String>,
    },
    /// The process that acts for the channel does not answer, or there is none at the moment. The run is denied because
    /// two speakers would be worse than none. Ask again in some seconds.
    #[error("RelayUnavailable: {0}")]
    RelayUnavailable(#[source] RelayError),
    /// The process refused to answer this question.
    #[error(transparent)]
    Refused(RelayError),
}

impl Denied {
    /// Returns why there is no permission, for a question without an answer.
    pub(crate) fn of(error: RelayError) -> Self {
        match error.refused() {
            None | Some(Refused::Elsewhere | Refused::OwnerUnavailable { .. }) => {
                Self::RelayUnavailable(error)
            }
            Some(_) => Self::Refused(error),
        }
    }

    /// Returns true if the agent is denied only because there was no answer.
    pub const fn is_unavailable(&self) -> bool {
        matches!(self, Self::RelayUnavailable(_))
    }
}
