//! The transport of questions to another process: the trait that you implement, and its errors.

use async_trait::async_trait;

use crate::{HostId, Rejection};

/// Carries sealed questions to other processes, and returns their sealed answers. This crate has a transport within one
/// process ([`InProcess`](crate::InProcess)), and `dirigent-cluster` has one over NATS.
///
/// If you write a transport, it need not promise anything. The asking or the answering process notices if bytes are
/// lost, doubled, delayed, changed or forged. Do not repeat a question in the transport, because the client does that.
/// At the other end, pass the bytes that arrive to [`Server::answer`](crate::Server::answer).
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Arc;
///
/// use dirigent::async_trait;
/// use dirigent_relay::{CarryError, HostId, Relay, Server};
///
/// /// All processes are one.
/// struct Local(HashMap<HostId, Arc<Server>>);
///
/// #[async_trait]
/// impl Relay for Local {
///     async fn carry(&self, to: &HostId, rule: &str, question: Vec<u8>) -> Result<Vec<u8>, CarryError> {
///         let server = self.0.get(to).ok_or_else(|| CarryError::unreachable("no such process"))?;
///         Ok(server.answer(rule, &question).await?)
///     }
/// }
/// ```
#[async_trait]
pub trait Relay: Send + Sync + 'static {
    /// Carries one question, and returns the answer as it came. The client drops the future when its time is over.
    ///
    /// # Errors
    ///
    /// Return [`CarryError::Unreachable`] only if the question surely did not leave. Return [`CarryError::Rejected`] if
    /// the other process said so, and in all other cases [`CarryError::NoAnswer`].
    async fn carry(
        &self,
        to: &HostId,
        rule: &str,
        question: Vec<u8>,
    ) -> Result<Vec<u8>, CarryError>;
}

/// The reason why the transport has no answer.
///
/// ```
/// use dirigent_relay::CarryError;
/// assert!(CarryError::unreachable("connection refused").to_string().contains("connection refused"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CarryError {
    /// The question surely did not reach the process, so you may ask again at once.
    #[error("the process cannot be reached: {0}")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The question may have been answered, and the answer was lost.
    #[error("the answer was lost, and the question may have been carried out: {0}")]
    NoAnswer(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The process rejected the question and did not carry it out. This is not proven, because a machine in between
    /// could have sent it.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

impl CarryError {
    /// Creates the error for a question that surely did not reach the process.
    pub fn unreachable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unreachable(why.into())
    }

    /// Creates the error for a question that may have been answered.
    pub fn no_answer(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::NoAnswer(why.into())
    }
}
