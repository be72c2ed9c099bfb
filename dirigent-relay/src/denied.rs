//! Why an agent of this process may not run, as another process says.

use dirigent::AgentId;

use crate::{Refused, RelayError};

/// Why an agent may not run now. It stays silent, and no model is called for it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Denied {
    /// The process that acts for the channel says no.
    #[error("{reason}")]
    Denied {
        /// Why: a sentence.
        reason: String,
        /// Who has the floor instead; `None` while the channel is dormant.
        speaker: Option<AgentId>,
        /// The model to send the run to where the host cannot skip it.
        no_reply_model: Option<String>,
    },
    /// The process that acts for the channel does not answer, or none does now: two speakers would be worse than none. Ask again in some seconds.
    #[error("RelayUnavailable: {0}")]
    RelayUnavailable(#[source] RelayError),
    /// It answered that it will not answer this.
    #[error(transparent)]
    Refused(RelayError),
}

impl Denied {
    /// Why there is no permission, where a question had no answer.
    pub(crate) fn of(error: RelayError) -> Self {
        match error.refused() {
            None | Some(Refused::Elsewhere | Refused::OwnerUnavailable { .. }) => {
                Self::RelayUnavailable(error)
            }
            Some(_) => Self::Refused(error),
        }
    }

    /// Whether it is for want of an answer.
    pub const fn is_unavailable(&self) -> bool {
        matches!(self, Self::RelayUnavailable(_))
    }
}
