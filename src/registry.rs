//! The registry as the driver sees it: accounts, agents and their keys, in memory.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use dirigent_core::{AgentKey, Author};

use crate::{AgentId, ApiError, AuthorKind, ChannelStore, ChatMessage, Identity, UserId};

/// Who is who, for look-ups on the way of every input.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    inner: RwLock<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Every agent that ever had a key; `None` when it is not registered now.
    agents: Vec<(AgentId, Option<UserId>)>,
    by_id: HashMap<AgentId, AgentKey>,
    by_user: HashMap<UserId, AgentKey>,
    moderator: Option<UserId>,
}

impl Registry {
    /// Takes over the entries, handing out keys to agents that have none. Returns the agents that
    /// are not registered any more.
    pub(crate) async fn load(
        &self,
        moderator: UserId,
        identities: Vec<Identity>,
        store: &dyn ChannelStore,
    ) -> Result<Vec<AgentKey>, ApiError> {
        for identity in &identities {
            if self.key(&identity.agent_id).is_none() {
                store.add_agent(identity.agent_id.clone()).await?;
            }
        }
        let known = store.agents().await?;
        let users: HashMap<_, _> = identities
            .into_iter()
            .filter(|identity| identity.discord_user_id != moderator)
            .map(|identity| (identity.agent_id, identity.discord_user_id))
            .collect();
        Ok(self.replace(moderator, known, &users))
    }

    fn replace(
        &self,
        moderator: UserId,
        known: Vec<AgentId>,
        users: &HashMap<AgentId, UserId>,
    ) -> Vec<AgentKey> {
        let mut fresh = Inner { moderator: Some(moderator), ..Inner::default() };
        for (agent, number) in known.into_iter().zip(0..) {
            let (key, user) = (AgentKey::new(number), users.get(&agent).copied());
            if let Some(user) = user {
                fresh.by_user.insert(user, key);
            }
            fresh.by_id.insert(agent.clone(), key);
            fresh.agents.push((agent, user));
        }
        let mut inner = self.inner.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *inner, fresh);
        let was = old.agents.iter().zip(0..).filter(|((_, user), _)| user.is_some());
        let gone = |number: &u32| {
            let now = usize::try_from(*number).ok().and_then(|at| inner.agents.get(at));
            now.is_none_or(|(_, user)| user.is_none())
        };
        was.map(|(_, number)| number).filter(gone).map(AgentKey::new).collect()
    }

    /// The key of a registered agent.
    pub(crate) fn key(&self, agent: &AgentId) -> Option<AgentKey> {
        let inner = self.read();
        let key = *inner.by_id.get(agent)?;
        inner.entry(key)?.1.map(|_| key)
    }

    /// An agent's name, registered or not any more.
    pub(crate) fn name(&self, key: AgentKey) -> Option<AgentId> {
        self.read().entry(key).map(|(agent, _)| agent.clone())
    }

    pub(crate) fn user(&self, key: AgentKey) -> Option<UserId> {
        self.read().entry(key)?.1
    }

    /// The library's own account.
    pub(crate) fn moderator(&self) -> Option<UserId> {
        self.read().moderator
    }

    /// The accounts of all registered agents.
    pub(crate) fn accounts(&self) -> Vec<UserId> {
        self.read().by_user.keys().copied().collect()
    }

    pub(crate) fn of_user(&self, user: UserId) -> Option<AgentKey> {
        self.read().by_user.get(&user).copied()
    }

    /// The registered agents among these accounts, in ascending order of account (D34).
    pub(crate) fn agents_among(&self, mut users: Vec<UserId>) -> Vec<AgentKey> {
        users.sort_unstable();
        users.dedup();
        let inner = self.read();
        users.iter().filter_map(|user| inner.by_user.get(user).copied()).collect()
    }

    /// Who wrote a message: known by account, never by name.
    pub(crate) fn author(&self, message: &ChatMessage) -> Author {
        let inner = self.read();
        match (inner.by_user.get(&message.author), message.author_kind) {
            (_, AuthorKind::Webhook) => Author::Bot,
            _ if inner.moderator == Some(message.author) => Author::Moderator,
            (Some(key), _) => Author::Agent(*key),
            (None, AuthorKind::Human) => Author::Human,
            (None, AuthorKind::Bot) => Author::Bot,
        }
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Inner> {
        self.inner.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn entry(&self, key: AgentKey) -> Option<&(AgentId, Option<UserId>)> {
        self.agents.get(usize::try_from(key.get()).ok()?)
    }
}
