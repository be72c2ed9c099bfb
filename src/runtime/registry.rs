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
    /// Held from the read of the registry until its result has taken the old one's place.
    loading: tokio::sync::Mutex<()>,
}

impl Registry {
    /// The directory as it is now.
    pub(crate) fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until no other load is under way. To be held until [`Registry::load`] has returned.
    pub(crate) async fn start_load(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
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
        let (mut users, mut names) = (HashMap::new(), HashMap::new());
        for Identity { discord_user_id, agent_id, agent_name } in identities {
            if discord_user_id != moderator {
                users.insert(agent_id.clone(), discord_user_id);
                names.insert(agent_id, agent_name);
            }
        }
        let fresh = Directory::new(moderator, known, &users).with_names(names);
        let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: an agent that is hosted from now on is marked in the new directory.
        let fresh = fresh.with_hosted(hosted);
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

    /// An agent's id, registered or not any more.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use futures_util::FutureExt;

    use super::*;
    use crate::MemoryChannels;

    #[test]
    fn an_agent_that_is_hosted_while_the_registry_is_loaded_stays_hosted() {
        let (registry, store) = (Registry::default(), MemoryChannels::default());
        let (is_hosted, has_begun) = (AtomicBool::new(false), AtomicBool::new(false));
        let (registry, is_hosted) = (&registry, &is_hosted);
        thread::scope(|scope| {
            let hosted = |_: &AgentId| {
                let was = is_hosted.load(Ordering::SeqCst);
                if !has_begun.swap(true, Ordering::SeqCst) {
                    let (done, is_done) = mpsc::channel();
                    scope.spawn(move || {
                        is_hosted.store(true, Ordering::SeqCst);
                        registry.set_hosted(|_| is_hosted.load(Ordering::SeqCst));
                        let _ = done.send(());
                    });
                    let _ = is_done.recv_timeout(Duration::from_millis(200));
                }
                was
            };
            let identity = Identity {
                discord_user_id: UserId::new(2),
                agent_id: "a".into(),
                agent_name: "A".to_owned(),
            };
            let load = registry.load(UserId::new(1), vec![identity], &store, hosted);
            assert_eq!(load.now_or_never().unwrap().unwrap(), []);
        });
        let key = registry.key(&"a".into()).unwrap();
        assert!(registry.directory().is_hosted(key));
    }
}
