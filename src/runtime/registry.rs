//! The registered and hosted agents, as the runtime knows them.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use dirigent_core::{AgentKey, Author};
use rustc_hash::FxHashMap;

use crate::ports::identity::Identity;
use crate::ports::orchestrator::Orchestrator;
use crate::ports::store::ChannelStore;
use crate::room::directory::Directory;
use crate::settings::ObservedBot;
use crate::values::error::ApiError;
use crate::{Agent, AgentId, ChatMessage, DiscordApi, UserId};

/// An agent that the library calls, and its account.
#[derive(Clone)]
pub(crate) struct Hosted {
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) discord: Arc<dyn DiscordApi>,
}

/// The changes of a registry since it was read before.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) gone: Vec<AgentKey>,
    /// The agents that are registered from now on, or with another account. It is empty when the registry is read for
    /// the first time.
    pub(crate) new: Vec<AgentKey>,
}

#[derive(Debug, Default)]
pub(crate) struct Registry {
    current: RwLock<Current>,
    /// Held from the read of the registry until its result has replaced the old one.
    loading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Current {
    directory: Arc<Directory>,
    hosts: HashMap<AgentId, Hosted>,
    observed: HashMap<AgentId, Arc<ObservedBot>>,
    /// The hosted agents that have a key, because a turn looks them up by key.
    by_key: FxHashMap<AgentKey, Hosted>,
    orchestrator: Option<Arc<dyn Orchestrator>>,
}

impl Current {
    /// Brings everything in line with the hosts and this directory.
    fn take(&mut self, directory: Directory) {
        let directory = directory
            .with_hosted(|agent| self.hosts.contains_key(agent))
            .with_observed(&self.observed);
        let keyed = |(agent, hosted): (&AgentId, &Hosted)| {
            Some((directory.key_of_known(agent)?, hosted.clone()))
        };
        self.by_key = self.hosts.iter().filter_map(keyed).collect();
        self.directory = Arc::new(directory);
    }
}

impl Registry {
    pub(crate) fn new(
        hosts: HashMap<AgentId, Hosted>,
        observed: HashMap<AgentId, Arc<ObservedBot>>,
        orchestrator: Option<Arc<dyn Orchestrator>>,
    ) -> Self {
        let current = Current { hosts, observed, orchestrator, ..Current::default() };
        Self { current: RwLock::new(current), ..Self::default() }
    }

    fn read(&self) -> RwLockReadGuard<'_, Current> {
        self.current.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Current> {
        self.current.write().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn directory(&self) -> Arc<Directory> {
        Arc::clone(&self.read().directory)
    }

    pub(crate) fn directory_and_orchestrator(&self) -> (Arc<Directory>, bool) {
        let current = self.read();
        (Arc::clone(&current.directory), current.orchestrator.is_some())
    }

    pub(crate) fn orchestrator(&self) -> Option<Arc<dyn Orchestrator>> {
        self.read().orchestrator.clone()
    }

    pub(crate) fn set_orchestrator(&self, orchestrator: Option<Arc<dyn Orchestrator>>) {
        let replaced = std::mem::replace(&mut self.write().orchestrator, orchestrator);
        // This is outside of the lock, because it is the host's code.
        drop(replaced);
    }

    /// Returns the hosted agents, in the order of their ids, with their accounts.
    pub(crate) fn hosts(&self) -> Vec<(AgentId, Arc<dyn DiscordApi>)> {
        let current = self.read();
        let hosts = current.hosts.iter();
        let mut hosts: Vec<_> =
            hosts.map(|(agent, hosted)| (agent.clone(), Arc::clone(&hosted.discord))).collect();
        hosts.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        hosts
    }

    /// Waits until no other load is in progress. Hold the guard until [`Registry::load`] has returned.
    pub(crate) async fn start_load(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.loading.lock().await
    }

    /// Replaces the entries, and gives keys to agents that have none. Returns the agents that are no longer registered,
    /// and the new ones.
    pub(crate) async fn load(
        &self,
        moderator: UserId,
        identities: Vec<Identity>,
        store: &dyn ChannelStore,
    ) -> Result<Changes, ApiError> {
        // Keys are never given again, so they are kept in the store before the agent is used.
        let known: HashSet<AgentId> = store.agents().await?.into_iter().collect();
        for identity in &identities {
            if !known.contains(&identity.agent_id) {
                store.add_agent(identity.agent_id.clone()).await?;
            }
        }
        // Another process may have added agents, too, and the store decides about the order of their keys.
        let known = store.agents().await?;
        let (mut users, mut names) = (HashMap::new(), HashMap::new());
        for Identity { discord_user_id, agent_id, agent_name } in identities {
            // An agent with the library's own account would hear its triggers as its own posts.
            if discord_user_id != moderator {
                users.insert(agent_id.clone(), discord_user_id);
                names.insert(agent_id, agent_name);
            }
        }
        let fresh = Directory::new(moderator, known, &users).with_names(names);
        let mut current = self.write();
        // Said here, because such an agent is silent and nothing else says why.
        for agent in current.observed.keys().filter(|agent| fresh.key(agent).is_none()) {
            tracing::warn!(%agent, "an observed agent is not in the registry: it has no turns");
        }
        for agent in current.hosts.keys().filter(|agent| fresh.key(agent).is_none()) {
            tracing::warn!(%agent, "a hosted agent is not in the registry, or has the library's own account: it has no turns");
        }
        let gone = current.directory.gone_in(&fresh);
        // Before the first load no agent is known, so none is new.
        let is_first = current.directory.moderator().is_none();
        let new = if is_first { Vec::new() } else { fresh.new_since(&current.directory) };
        current.take(fresh);
        Ok(Changes { gone, new })
    }

    /// Hosts an agent from now on, or replaces the code that speaks for it.
    pub(crate) fn host(&self, agent: AgentId, hosted: Hosted) {
        let mut current = self.write();
        current.hosts.insert(agent, hosted);
        let directory = Directory::clone(&current.directory);
        current.take(directory);
    }

    /// Stops hosting the agent. Returns `false` if it was not hosted.
    pub(crate) fn unhost(&self, agent: &AgentId) -> bool {
        let mut current = self.write();
        let was = current.hosts.remove(agent).is_some();
        let directory = Directory::clone(&current.directory);
        current.take(directory);
        was
    }

    pub(crate) fn hosted(&self, agent: AgentKey) -> Option<(AgentId, Hosted)> {
        let current = self.read();
        let hosted = current.by_key.get(&agent)?.clone();
        Some((current.directory.name(agent)?.clone(), hosted))
    }

    pub(crate) fn account(&self, agent: AgentKey) -> Option<Arc<dyn DiscordApi>> {
        Some(Arc::clone(&self.read().by_key.get(&agent)?.discord))
    }

    pub(crate) fn key(&self, agent: &AgentId) -> Option<AgentKey> {
        self.read().directory.key(agent)
    }

    /// Returns an agent's id, whether or not it is still registered.
    pub(crate) fn name(&self, key: AgentKey) -> Option<AgentId> {
        self.read().directory.name(key).cloned()
    }

    pub(crate) fn log_name(&self, agent: AgentKey) -> AgentId {
        self.name(agent).unwrap_or_else(|| "unknown".into())
    }

    /// Returns whether the message's author is a hosted agent of this process.
    pub(crate) fn is_of_hosted(&self, message: &ChatMessage) -> bool {
        let directory = self.directory();
        matches!(directory.author(message), Author::Agent(agent) if directory.is_hosted(agent))
    }

    pub(crate) fn observed_by_account(&self, user: UserId) -> Option<AgentKey> {
        let directory = self.directory();
        directory.of_user(user).filter(|agent| directory.observed(*agent).is_some())
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Current").field("hosts", &self.hosts.keys()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use futures_util::FutureExt;

    use super::*;
    use crate::memory::MemoryChannels;
    use crate::runtime::fixture::Quiet;
    use crate::{AgentError, Reply, Turn};

    struct Silent;

    #[async_trait]
    impl Agent for Silent {
        async fn speak(&self, _: Turn) -> Result<Reply, AgentError> {
            Ok(Reply::Pass)
        }
    }

    fn hosted() -> Hosted {
        Hosted { agent: Arc::new(Silent), discord: Arc::new(Quiet::default()) }
    }

    fn load(registry: &Registry, store: &MemoryChannels) -> Changes {
        let (discord_user_id, agent_id, agent_name) = (UserId::new(2), "a".into(), "A".to_owned());
        let identity = Identity { discord_user_id, agent_id, agent_name };
        let load = registry.load(UserId::new(1), vec![identity], store);
        load.now_or_never().unwrap().unwrap()
    }

    #[test]
    fn an_agent_that_is_hosted_before_or_after_the_registry_is_loaded_is_found_by_its_key() {
        for is_first in [true, false] {
            let (registry, store) = (Registry::default(), MemoryChannels::default());
            if is_first {
                registry.host("a".into(), hosted());
            }
            assert_eq!(load(&registry, &store), Changes::default());
            let key = registry.key(&"a".into()).unwrap();
            if !is_first {
                assert!(!registry.directory().is_hosted(key) && registry.hosted(key).is_none());
                registry.host("a".into(), hosted());
            }
            for _ in 0..2 {
                assert!(registry.directory().is_hosted(key));
                assert_eq!(registry.hosted(key).map(|(name, _)| name), Some("a".into()));
                load(&registry, &store);
            }
            assert!(registry.unhost(&"a".into()) && !registry.unhost(&"a".into()));
            assert!(!registry.directory().is_hosted(key) && registry.hosted(key).is_none());
        }
    }
}
