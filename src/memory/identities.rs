//! A registry in memory.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;

use crate::ports::identity::{Identity, RegisterError};
use crate::values::error::ApiError;
use crate::values::sync::locked;
use crate::{AgentId, IdentityStore};

/// An [`IdentityStore`] without a file. It is for hosts that know their agents when they are built, and for tests.
///
/// ```
/// use dirigent::ports::Identity;
/// use dirigent::{MemoryIdentities, UserId};
///
/// let developer = Identity {
///     discord_user_id: UserId::new(123456789012345678),
///     agent_id: "home-developer".into(),
///     agent_name: "Developer".to_owned(),
/// };
/// let identities = MemoryIdentities::with([developer.clone()])?;
///
/// let thief = Identity { agent_id: "thief".into(), ..developer };
/// assert!(identities.add(thief).is_err());
/// # Ok::<(), dirigent::ports::RegisterError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryIdentities {
    /// The entries, oldest first. Clones share them.
    entries: Arc<Mutex<Vec<Identity>>>,
}

impl MemoryIdentities {
    /// Creates a registry without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a registry with these entries, added one after the other.
    ///
    /// # Errors
    ///
    /// Fails with [`RegisterError::AccountTaken`] if two of them share an account.
    pub fn with(identities: impl IntoIterator<Item = Identity>) -> Result<Self, RegisterError> {
        let registry = Self::new();
        for identity in identities {
            registry.add(identity)?;
        }
        Ok(registry)
    }

    /// Adds an entry like [`IdentityStore::register`], without waiting.
    ///
    /// # Errors
    ///
    /// Fails with [`RegisterError::AccountTaken`] if another agent has the account. In that case no entry changes.
    pub fn add(&self, identity: Identity) -> Result<(), RegisterError> {
        let mut entries = locked(&self.entries);
        let taken = entries.iter().find(|entry| {
            entry.discord_user_id == identity.discord_user_id && entry.agent_id != identity.agent_id
        });
        if let Some(entry) = taken {
            return Err(RegisterError::AccountTaken { owner: entry.agent_id.clone() });
        }
        match entries.iter_mut().find(|entry| entry.agent_id == identity.agent_id) {
            Some(known) => *known = identity,
            None => entries.push(identity),
        }
        Ok(())
    }
}

#[async_trait]
impl IdentityStore for MemoryIdentities {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        Ok(locked(&self.entries).clone())
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        self.add(identity)
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        let mut entries = locked(&self.entries);
        let before = entries.len();
        entries.retain(|entry| entry.agent_id != agent);
        Ok(entries.len() < before)
    }
}
