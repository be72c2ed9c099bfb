//! Why a question has no answer.

use dirigent::AgentId;
use serde::{Deserialize, Serialize};

use crate::{CarryError, HostId, Rejection};

/// Why the asked process does not answer a question that it took: proven to be its own word. Nothing was changed by the
/// question, but where [`Failed`](Self::Failed) or [`OwnerUnavailable`](Self::OwnerUnavailable) says so.
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
    /// It has no such rule: it is of another version, or does not offer this.
    #[error("the asked process has no such rule: it is of another version, or does not offer it")]
    UnknownRule,
    /// The question cannot be read.
    #[error("the question cannot be read: {why}")]
    BadQuestion {
        /// Where, and nothing of what stands there.
        why: String,
    },
    /// The asking process may not act for this agent.
    #[error("the asking process may not act for {agent}: bind the agent to it in the keyring")]
    NotBound {
        /// Which agent.
        agent: AgentId,
    },
    /// Only a peer may ask this.
    #[error("only a process that acts for channels of its own may ask this")]
    OnlyPeers,
    /// The asked process does not act for the channel.
    #[error("the asked process does not act for the channel, or not for much longer")]
    Elsewhere,
    /// The process that acts for the channel, which the asked one asked for a slave, did not answer it.
    #[error(
        "the process that acts for the channel did not answer the asked one; ask again in some seconds"
    )]
    OwnerUnavailable {
        /// Whether what was asked may have been done there all the same.
        may_be_done: bool,
    },
    /// It could not carry the question out.
    #[error("{why}")]
    Failed {
        /// Why not.
        why: String,
        /// Whether the change is in force all the same, and only not stored yet, or may be.
        may_be_done: bool,
    },
}

/// Why a question to another process has no answer.
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
    /// No process is known to act for the channel now. It is taken over within some seconds.
    #[error("no process acts for the channel now; one will within some seconds")]
    NoOwner,
    /// The process did not answer in time, which is also what a lost answer looks like.
    #[error("{host} did not answer within {within_ms} ms; what was asked may have been done")]
    NoAnswer {
        /// Who was asked.
        host: HostId,
        /// In milliseconds.
        within_ms: u64,
    },
    /// The transport failed.
    #[error("asking {host}: {source}")]
    Carry {
        /// Who was asked.
        host: HostId,
        /// What the transport says.
        source: CarryError,
    },
    /// What came back is no answer of the process that was asked: forged, cut, or sealed with another secret.
    #[error("what came back is no answer of {host}; do both have the same secret?")]
    BadAnswer {
        /// Who was asked.
        host: HostId,
    },
    /// The question is larger than [`QUESTION_MAX`](crate::QUESTION_MAX), and was not sent.
    #[error("the question is too large to be sent")]
    TooLarge,
    /// The process answered that it will not.
    #[error("{host}: {source}")]
    Refused {
        /// Who was asked.
        host: HostId,
        /// Why it will not.
        source: Refused,
    },
}

impl RelayError {
    /// Whether what was asked was surely not done. Where it may have been done, the same question may be asked again if its rule
    /// does nothing twice.
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

    /// Asking again would not help.
    #[doc(hidden)]
    pub fn is_final(&self) -> bool {
        let may_pass = |refused: &Refused| matches!(refused, Refused::Failed { .. });
        matches!(self, Self::TooLarge) || self.refused().is_some_and(|why| !may_pass(why))
    }

    /// What was refused by the asked process itself.
    pub const fn refused(&self) -> Option<&Refused> {
        if let Self::Refused { source, .. } = self { Some(source) } else { None }
    }

    /// Why the asked process did not take the question, as the transport has it.
    pub const fn rejection(&self) -> Option<Rejection> {
        if let Self::Carry { source: CarryError::Rejected(rejection), .. } = self {
            Some(*rejection)
        } else {
            None
        }
    }
}
