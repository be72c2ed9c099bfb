//! The errors of questions that have no answer.

use dirigent::AgentId;
use serde::{Deserialize, Serialize};

use crate::{CarryError, HostId, Rejection};

/// A refusal by the asked process itself, which its seal proves. The question changed no state, unless
/// [`Failed`](Self::Failed) or [`OwnerUnavailable`](Self::OwnerUnavailable) says that it may have.
///
/// ```
/// use dirigent_relay::Refused;
/// let refused = Refused::NotBound { agent: "poet".into() };
/// assert!(refused.to_string().contains("poet"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "code", rename_all = "kebab-case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Refused {
    /// It does not know this rule, because it has another version or does not offer it.
    #[error("the asked process has no such rule: it is of another version, or does not offer it")]
    UnknownRule,
    /// The question cannot be read.
    #[error("the question cannot be read: {why}")]
    BadQuestion {
        /// The place of the mistake, without any of the question's content.
        why: String,
    },
    /// The asking process may not act for this agent.
    #[error("the asking process may not act for {agent}: bind the agent to it in the keyring")]
    NotBound {
        /// The agent that is not bound to the asking process.
        agent: AgentId,
    },
    /// Only a peer may ask this.
    #[error("only a process that acts for channels of its own may ask this")]
    OnlyPeers,
    /// The asked process does not act for the channel.
    #[error("the asked process does not act for the channel, or not for much longer")]
    Elsewhere,
    /// The asked process passed a slave's question on, and the process that acts for the channel did not answer.
    #[error(
        "the process that acts for the channel did not answer the asked one; ask again in some seconds"
    )]
    OwnerUnavailable {
        /// True if the request may have been carried out there nevertheless.
        may_be_done: bool,
    },
    /// It could not carry out the request.
    #[error("{why}")]
    Failed {
        /// The reason for the failure.
        why: String,
        /// True if the change may be in force nevertheless, for example because only storing it failed.
        may_be_done: bool,
    },
}

/// The reason why a question to another process has no answer.
///
/// ```
/// use dirigent_relay::RelayError;
///
/// let error = RelayError::NoAnswer { host: "bot-1".parse()?, within_ms: 2_000 };
/// assert!(!error.is_certain());
/// # Ok::<(), dirigent_relay::BadHostId>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RelayError {
    /// No process is known to act for the channel now. One takes it over within some seconds.
    #[error("no process acts for the channel now; one will within some seconds")]
    NoOwner,
    /// The process did not answer in time. A lost answer looks like this, too.
    #[error("{host} did not answer within {within_ms} ms; what was asked may have been done")]
    NoAnswer {
        /// The process that was asked.
        host: HostId,
        /// The time limit in milliseconds.
        within_ms: u64,
    },
    /// The transport failed.
    #[error("asking {host}: {source}")]
    Carry {
        /// The process that was asked.
        host: HostId,
        /// The error of the transport.
        source: CarryError,
    },
    /// The bytes that came back are not an answer of the asked process. For example, they are forged, cut, or sealed
    /// with another secret.
    #[error("what came back is no answer of {host}; do both have the same secret?")]
    BadAnswer {
        /// The process that was asked.
        host: HostId,
    },
    /// The question is larger than [`QUESTION_MAX`](crate::QUESTION_MAX), and was not sent.
    #[error("the question is too large to be sent")]
    TooLarge,
    /// The process answered that it refuses.
    #[error("{host}: {source}")]
    Refused {
        /// The process that was asked.
        host: HostId,
        /// The reason for the refusal.
        source: Refused,
    },
}

impl RelayError {
    /// Returns true if the request was surely not carried out. If it returns false, you may ask again only if the rule
    /// has no second effect when it is carried out twice.
    pub const fn is_certain(&self) -> bool {
        match self {
            Self::NoOwner | Self::TooLarge => true,
            Self::Carry { source, .. } => matches!(source, CarryError::Unreachable(_)),
            Self::Refused { source, .. } => !matches!(
                source,
                Refused::Failed { may_be_done: true, .. }
                    | Refused::OwnerUnavailable { may_be_done: true }
            ),
            Self::NoAnswer { .. } | Self::BadAnswer { .. } => false,
        }
    }

    /// Returns true if asking again would not help.
    #[doc(hidden)]
    pub fn is_final(&self) -> bool {
        let may_pass = |refused: &Refused| matches!(refused, Refused::Failed { .. });
        matches!(self, Self::TooLarge) || self.refused().is_some_and(|why| !may_pass(why))
    }

    /// Returns the refusal, if the asked process itself refused.
    pub const fn refused(&self) -> Option<&Refused> {
        if let Self::Refused { source, .. } = self { Some(source) } else { None }
    }

    /// Returns why the asked process rejected the question, as the transport reports it.
    pub const fn rejection(&self) -> Option<Rejection> {
        if let Self::Carry { source: CarryError::Rejected(rejection), .. } = self {
            Some(*rejection)
        } else {
            None
        }
    }
}
