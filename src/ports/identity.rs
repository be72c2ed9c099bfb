//! Who is an agent: the registry.

use async_trait::async_trait;

use crate::AgentId;
use crate::values::error::ApiError;
pub use crate::values::identity::Identity;

/// The registry: one account for each agent and one agent for each account.
///
/// The driver reads it at start, when the host calls [`identities_changed`](crate::Dirigent::identities_changed), and when
/// [`changed_elsewhere`](Self::changed_elsewhere) returns; writing is for tools.
#[async_trait]
pub trait IdentityStore: Send + Sync + 'static {
    /// All entries, in the order in which they were added.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn all(&self) -> Result<Vec<Identity>, ApiError>;

    /// Adds an agent, or points a known one to a new account or name. Durable when it returns.
    ///
    /// # Errors
    ///
    /// [`RegisterError::AccountTaken`] when another agent has the account; then nothing changed.
    async fn register(&self, identity: Identity) -> Result<(), RegisterError>;

    /// Removes an agent; `false` when there was none.
    ///
    /// # Errors
    ///
    /// As the store fails.
    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError>;

    /// Waits until the entries may have changed since the last call returned, by another process or by this one: the driver
    /// then reads them again. The first call may return at once. The default never returns: a registry that one process alone
    /// changes needs no more than [`identities_changed`](crate::Dirigent::identities_changed).
    ///
    /// # Cancellation
    ///
    /// Dropping the future must lose no change: the next call returns it.
    async fn changed_elsewhere(&self) {
        std::future::pending::<()>().await;
    }
}

/// Why an identity was not registered.
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
