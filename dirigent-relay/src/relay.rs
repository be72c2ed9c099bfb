//! How questions reach another process: what a transport implements, and what it calls.

use async_trait::async_trait;

use crate::{HostId, Rejection};

/// Carries sealed questions to other processes, and brings their sealed answers. This library has one within a process
/// ([`InProcess`](crate::InProcess)), and `dirigent-cluster` has one over NATS.
///
/// A transport needs to promise nothing: what is lost, doubled, delayed, changed or made up is noticed by who asks or who
/// answers. It should not repeat by itself, since the asker does. At the other end it gives what arrives to
/// [`Server::answer`](crate::Server::answer).
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
    /// Carries one question, and returns the answer as it came. The asker drops the future when its time is over.
    ///
    /// # Errors
    ///
    /// [`CarryError::Unreachable`] only where the question surely did not leave; [`CarryError::Rejected`] where the other
    /// process said so; else [`CarryError::NoAnswer`].
    async fn carry(
        &self,
        to: &HostId,
        rule: &str,
        question: Vec<u8>,
    ) -> Result<Vec<u8>, CarryError>;
}

/// Why no answer was brought.
///
/// ```
/// use dirigent_relay::CarryError;
/// assert!(CarryError::unreachable("connection refused").to_string().contains("connection refused"));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CarryError {
    /// The question surely did not reach the process: it may be asked again at once.
    #[error("the process cannot be reached: {0}")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The question may have been answered, and the answer was lost.
    #[error("the answer was lost, and the question may have been carried out: {0}")]
    NoAnswer(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The process did not take the question: nothing was done. Not proven: what stands in between can say this.
    #[error(transparent)]
    Rejected(#[from] Rejection),
}

impl CarryError {
    /// The question surely did not reach the process.
    pub fn unreachable(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Unreachable(why.into())
    }

    /// The question may have been answered.
    pub fn no_answer(why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::NoAnswer(why.into())
    }
}
