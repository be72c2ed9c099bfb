//! The registry of agents.

use async_trait::async_trait;

use crate::AgentId;
use crate::values::error::ApiError;
pub use crate::values::identity::Identity;

/// The registry of agents. It has one account for each agent, and one agent for each account.
///
/// The driver reads it at the start, when you call [`identities_changed`](crate::Dirigent::identities_changed), and
/// when [`changed_elsewhere`](Self::changed_elsewhere) returns. Only tools write to it.
#[async_trait]
pub trait IdentityStore: Send + Sync + 'static {
    /// Returns all entries, oldest first.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
    async fn all(&self) -> Result<Vec<Identity>, ApiError>;

    /// Adds an agent, or gives a known agent a new account or name. The entry is durable when the call returns.
    ///
    /// # Errors
    ///
    /// Fails with [`RegisterError::AccountTaken`] if another agent has the account. In that case no entry changes.
    async fn register(&self, identity: Identity) -> Result<(), RegisterError>;

    /// Removes an agent. Returns `false` if there was none.
    ///
    /// # Errors
    ///
    /// Fails with the error of the store.
    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError>;

    /// Waits until the entries may have changed since the last call returned, whether this or another process changed
    /// them. The driver then reads them again. The first call may return at once. The default never returns. This is
    /// enough if only one process changes the registry, because that process calls
    /// [`identities_changed`](crate::Dirigent::identities_changed).
    ///
    /// # Cancellation
    ///
    /// If the future is dropped, no change may be lost: the next call must return it.
    async fn changed_elsewhere(&self) {
        std::future::pending::<()>().await;
    }
}

/// The reason why an identity was not registered.
///
/// ```
/// use dirigent::ports::RegisterError;
/// let taken = RegisterError::AccountTaken { owner: "reviewer".into() };
/// assert_eq!(taken.to_string(), "the account belongs to agent reviewer already");
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// Another agent has the account.
    #[error("the account belongs to agent {owner} already")]
    AccountTaken {
        /// The agent that has the account.
        owner: AgentId,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] ApiError),
}
