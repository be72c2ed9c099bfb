//! Who is who, as the runtime keeps it: a directory that is replaced as a whole.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, PoisonError, RwLock};

use dirigent_core::AgentKey;

use crate::room::directory::Directory;
use crate::{AgentId, ApiError, ChannelStore, Identity, UserId};

/// The newest directory.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    current: RwLock<Arc<Directory>>,
}

impl Registry {
    /// The directory as it is now.
    pub(crate) fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over the entries, handing out keys to agents that have none. Returns the agents that are
    /// not registered any more.
    pub(crate) async fn load(
        &self,
        moderator: UserId,
        identities: Vec<Identity>,
        store: &dyn ChannelStore,
        hosted: impl Fn(&AgentId) -> bool,
    ) -> Result<Vec<AgentKey>, ApiError> {
        let known: HashSet<AgentId> = store.agents().await?.into_iter().collect();
        for identity in &identities {
            if !known.contains(&identity.agent_id) {
                store.add_agent(identity.agent_id.clone()).await?;
            }
        }
        let known = store.agents().await?;
        let users: HashMap<_, _> = identities
            .into_iter()
            .filter(|identity| identity.discord_user_id != moderator)
            .map(|identity| (identity.agent_id, identity.discord_user_id))
            .collect();
        let fresh = Directory::new(moderator, known, &users).with_hosted(hosted);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        let gone = current.gone_in(&fresh);
        *current = Arc::new(fresh);
        Ok(gone)
    }

    /// Other agents are hosted now.
    pub(crate) fn set_hosted(&self, hosted: impl Fn(&AgentId) -> bool) {
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(Directory::clone(&current).with_hosted(hosted));
    }

    /// The key of a registered agent.
    pub(crate) fn key(&self, agent: &AgentId) -> Option<AgentKey> {
        self.directory().key(agent)
    }

    /// An agent's name, registered or not any more.
    pub(crate) fn name(&self, key: AgentKey) -> Option<AgentId> {
        self.directory().name(key).cloned()
    }

    /// The library's own account.
    pub(crate) fn moderator(&self) -> Option<UserId> {
        self.directory().moderator()
    }

    /// The accounts of all registered agents.
    pub(crate) fn accounts(&self) -> Vec<UserId> {
        self.directory().accounts()
    }

    pub(crate) fn of_user(&self, user: UserId) -> Option<AgentKey> {
        self.directory().of_user(user)
    }
}
