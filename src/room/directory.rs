//! The directory of accounts, agents and their keys, as one immutable value.

use std::collections::HashMap;
use std::sync::Arc;

use dirigent_core::{AgentKey, Author};
use rustc_hash::FxHashMap;

use crate::ports::identity::Identity;
use crate::settings::ObservedBot;
use crate::text::plain::is_visible;
use crate::text::repetition::words_of_name;
use crate::values::mentions::after_name;
use crate::values::message::AuthorKind;
use crate::{AgentId, ChatMessage, UserId};

/// The directory at one moment. It is replaced as a whole when the registry or the hosted agents change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// Every agent that ever had a key, by key.
    agents: Vec<Entry>,
    by_id: FxHashMap<AgentId, AgentKey>,
    by_user: FxHashMap<UserId, AgentKey>,
    moderator: Option<UserId>,
    /// The words of all names and ids, because they do not count in a reply.
    name_words: Vec<u64>,
    has_observed: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    id: AgentId,
    /// The agent's name for people. It is the id if the agent has no name, or is not registered.
    name: Arc<str>,
    /// The account. `None` if the agent is not registered now.
    user: Option<UserId>,
    hosted: bool,
    /// The settings of its observation, if it runs without asking.
    observed: Option<Arc<ObservedBot>>,
}

impl Directory {
    /// Creates a directory. `known` lists the agents in the order of their keys, and `users` has the accounts of those
    /// that are registered now.
    pub(crate) fn new(
        moderator: UserId,
        known: Vec<AgentId>,
        users: &HashMap<AgentId, UserId>,
    ) -> Self {
        let mut fresh = Self { moderator: Some(moderator), ..Self::default() };
        for (id, number) in known.into_iter().zip(0..) {
            let (key, user) = (AgentKey::new(number), users.get(&id).copied());
            if let Some(user) = user {
                fresh.by_user.insert(user, key);
            }
            fresh.by_id.insert(id.clone(), key);
            let name = id.as_str().into();
            fresh.agents.push(Entry { id, name, user, hosted: false, observed: None });
        }
        fresh.collect_words();
        fresh
    }

    /// Sets these names for people. A blank name counts as none.
    #[must_use]
    pub(crate) fn with_names(mut self, mut names: HashMap<AgentId, String>) -> Self {
        for entry in &mut self.agents {
            if let Some(name) = names.remove(&entry.id).filter(|name| is_visible(name)) {
                entry.name = name.into();
            }
        }
        self.collect_words();
        self
    }

    fn collect_words(&mut self) {
        let names = self.agents.iter().flat_map(|entry| [entry.id.as_str(), &entry.name]);
        self.name_words = names.flat_map(words_of_name).collect();
        self.name_words.sort_unstable();
    }

    pub(crate) fn name_words(&self) -> &[u64] {
        &self.name_words
    }

    #[must_use]
    pub(crate) fn with_hosted(mut self, is_hosted: impl Fn(&AgentId) -> bool) -> Self {
        for entry in &mut self.agents {
            entry.hosted = is_hosted(&entry.id);
        }
        self
    }

    #[must_use]
    pub(crate) fn with_observed(mut self, bots: &HashMap<AgentId, Arc<ObservedBot>>) -> Self {
        for entry in &mut self.agents {
            entry.observed = bots.get(&entry.id).cloned();
        }
        self.has_observed = self.agents.iter().any(|entry| entry.observed.is_some());
        self
    }

    /// Returns the settings of this agent's observation, if it is registered and runs without asking.
    pub(crate) fn observed(&self, key: AgentKey) -> Option<&ObservedBot> {
        let entry = self.entry(key).filter(|_| self.has_observed)?;
        entry.observed.as_deref().filter(|_| entry.user.is_some() && !entry.hosted)
    }

    pub(crate) const fn has_observed(&self) -> bool {
        self.has_observed
    }

    /// Returns the agents that are registered here, and that the older directory lacked or had with another account.
    pub(crate) fn new_since(&self, older: &Self) -> Vec<AgentKey> {
        self.registered().filter(|key| older.user(*key) != self.user(*key)).collect()
    }

    pub(crate) fn registered(&self) -> impl Iterator<Item = AgentKey> {
        let agents = self.agents.iter().zip(0..).filter(|(entry, _)| entry.user.is_some());
        agents.map(|(_, number)| AgentKey::new(number))
    }

    /// Returns the agents that are registered here and not in the newer directory.
    pub(crate) fn gone_in(&self, newer: &Self) -> Vec<AgentKey> {
        self.registered().filter(|key| newer.user(*key).is_none()).collect()
    }

    pub(crate) fn key(&self, agent: &AgentId) -> Option<AgentKey> {
        self.key_of_known(agent).filter(|key| self.user(*key).is_some())
    }

    /// Returns the key of an agent that is registered, or was.
    pub(crate) fn key_of_known(&self, agent: &AgentId) -> Option<AgentKey> {
        self.by_id.get(agent).copied()
    }

    /// Returns an agent's name for people, or its id if it has none or is no longer registered.
    pub(crate) fn display_name(&self, key: AgentKey) -> Option<&Arc<str>> {
        self.entry(key).map(|entry| &entry.name)
    }

    /// Returns the registry's entry of a registered agent.
    pub(crate) fn identity(&self, key: AgentKey) -> Option<Identity> {
        let Entry { id, name, user, .. } = self.entry(key)?;
        let (agent_id, agent_name) = (id.clone(), (**name).to_owned());
        user.map(|discord_user_id| Identity { discord_user_id, agent_id, agent_name })
    }

    /// Returns an agent's id, whether or not it is still registered.
    pub(crate) fn name(&self, key: AgentKey) -> Option<&AgentId> {
        self.entry(key).map(|entry| &entry.id)
    }

    pub(crate) fn user(&self, key: AgentKey) -> Option<UserId> {
        self.entry(key)?.user
    }

    /// Returns whether the library calls this agent, and it is registered.
    pub(crate) fn is_hosted(&self, key: AgentKey) -> bool {
        self.entry(key).is_some_and(|entry| entry.hosted && entry.user.is_some())
    }

    pub(crate) const fn moderator(&self) -> Option<UserId> {
        self.moderator
    }

    /// Returns the accounts of all registered agents, in ascending order.
    pub(crate) fn accounts(&self) -> Vec<UserId> {
        let mut accounts: Vec<_> = self.by_user.keys().copied().collect();
        accounts.sort_unstable();
        accounts
    }

    pub(crate) fn of_user(&self, user: UserId) -> Option<AgentKey> {
        self.by_user.get(&user).copied()
    }

    /// Returns the registered agents among these accounts, in ascending order of account.
    pub(crate) fn agents_among(&self, mut users: Vec<UserId>) -> Vec<AgentKey> {
        users.sort_unstable();
        users.dedup();
        users.iter().filter_map(|user| self.of_user(*user)).collect()
    }

    /// Returns the registered agents that a text names at its beginning, each by its name or id behind an `@`. Of names
    /// that fit the longest counts.
    pub(crate) fn named_at_start(&self, text: &str) -> Vec<AgentKey> {
        let mut named = Vec::new();
        let mut rest = text.trim_start();
        // On a Chinese keyboard the sign is a full-width one.
        while let Some(after_at) = rest.strip_prefix(['@', '＠']) {
            let fits = self.registered().filter_map(|key| {
                let entry = self.entry(key)?;
                let ends = [entry.id.as_str(), &entry.name].map(|name| after_name(after_at, name));
                ends.into_iter().flatten().min_by_key(|end| end.len()).map(|end| (key, end))
            });
            let Some((key, end)) = fits.min_by_key(|(_, end)| end.len()) else {
                break;
            };
            if !named.contains(&key) {
                named.push(key);
            }
            rest = end
                .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '、'));
        }
        named
    }

    /// Returns the author of a message. An author is known by the account and never by the name. A person's account is
    /// never an agent's, whatever the registry says.
    pub(crate) fn author(&self, message: &ChatMessage) -> Author {
        match (message.author_kind, self.of_user(message.author)) {
            // The kind of account counts before the registry, which may name a person's account by mistake.
            (AuthorKind::Webhook, _) => Author::Bot,
            (AuthorKind::Bridged, _) => Author::Human,
            _ if self.moderator == Some(message.author) => Author::Moderator,
            (AuthorKind::Human, _) => Author::Human,
            (AuthorKind::Bot, Some(key)) => Author::Agent(key),
            (AuthorKind::Bot, None) => Author::Bot,
        }
    }

    /// Replaces the author's name in the chat with an agent's registered name.
    pub(crate) fn name_author(&self, message: &mut ChatMessage, author: Author) {
        if let Author::Agent(agent) = author {
            message.author_name = self.display_name(agent).cloned();
        }
    }

    fn entry(&self, key: AgentKey) -> Option<&Entry> {
        self.agents.get(usize::try_from(key.get()).ok()?)
    }
}
