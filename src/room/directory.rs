//! Who is who, as one immutable value: accounts, agents and their keys.

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

/// Who is who at one moment. Replaced as a whole when the registry or the hosted agents change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Directory {
    /// Every agent that ever had a key, by key.
    agents: Vec<Entry>,
    by_id: FxHashMap<AgentId, AgentKey>,
    by_user: FxHashMap<UserId, AgentKey>,
    moderator: Option<UserId>,
    /// The words of all names and ids, for what does not count in a reply.
    name_words: Vec<u64>,
    has_observed: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    id: AgentId,
    /// Its name for people; its id where it has none, or is not registered.
    name: Arc<str>,
    /// `None` when it is not registered now.
    user: Option<UserId>,
    /// Whether the library calls it.
    hosted: bool,
    /// How it is observed, where it runs without asking.
    observed: Option<Arc<ObservedBot>>,
}

impl Directory {
    /// `known` lists the agents in the order of their keys, `users` the accounts of those that are
    /// registered now.
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

    /// The same, with these names for people. A blank one is none.
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

    /// See [`words_of_name`]; of all agents, in ascending order.
    pub(crate) fn name_words(&self) -> &[u64] {
        &self.name_words
    }

    /// The same, with these agents called by the library.
    #[must_use]
    pub(crate) fn with_hosted(mut self, is_hosted: impl Fn(&AgentId) -> bool) -> Self {
        for entry in &mut self.agents {
            entry.hosted = is_hosted(&entry.id);
        }
        self
    }

    /// The same, with these agents observed.
    #[must_use]
    pub(crate) fn with_observed(mut self, bots: &HashMap<AgentId, Arc<ObservedBot>>) -> Self {
        for entry in &mut self.agents {
            entry.observed = bots.get(&entry.id).cloned();
        }
        self.has_observed = self.agents.iter().any(|entry| entry.observed.is_some());
        self
    }

    /// How this agent is observed, if it is registered and runs without asking.
    pub(crate) fn observed(&self, key: AgentKey) -> Option<&ObservedBot> {
        let entry = self.entry(key).filter(|_| self.has_observed)?;
        entry.observed.as_deref().filter(|_| entry.user.is_some() && !entry.hosted)
    }

    /// Whether any agent is observed.
    pub(crate) const fn has_observed(&self) -> bool {
        self.has_observed
    }

    /// The agents that are registered here, and were not in the older directory, or with another account.
    pub(crate) fn new_since(&self, older: &Self) -> Vec<AgentKey> {
        self.registered().filter(|key| older.user(*key) != self.user(*key)).collect()
    }

    /// The registered agents, by key.
    pub(crate) fn registered(&self) -> impl Iterator<Item = AgentKey> {
        let agents = self.agents.iter().zip(0..).filter(|(entry, _)| entry.user.is_some());
        agents.map(|(_, number)| AgentKey::new(number))
    }

    /// The agents that are registered here and not in the newer directory.
    pub(crate) fn gone_in(&self, newer: &Self) -> Vec<AgentKey> {
        self.registered().filter(|key| newer.user(*key).is_none()).collect()
    }

    /// The key of a registered agent.
    pub(crate) fn key(&self, agent: &AgentId) -> Option<AgentKey> {
        self.key_of_known(agent).filter(|key| self.user(*key).is_some())
    }

    /// The key of an agent that is registered, or was.
    pub(crate) fn key_of_known(&self, agent: &AgentId) -> Option<AgentKey> {
        self.by_id.get(agent).copied()
    }

    /// An agent's name for people, or its id where it has none or is not registered any more.
    pub(crate) fn display_name(&self, key: AgentKey) -> Option<&Arc<str>> {
        self.entry(key).map(|entry| &entry.name)
    }

    /// A registered agent, as the registry has it.
    pub(crate) fn identity(&self, key: AgentKey) -> Option<Identity> {
        let Entry { id, name, user, .. } = self.entry(key)?;
        let (agent_id, agent_name) = (id.clone(), (**name).to_owned());
        user.map(|discord_user_id| Identity { discord_user_id, agent_id, agent_name })
    }

    /// An agent's id, registered or not any more.
    pub(crate) fn name(&self, key: AgentKey) -> Option<&AgentId> {
        self.entry(key).map(|entry| &entry.id)
    }

    /// The account of a registered agent.
    pub(crate) fn user(&self, key: AgentKey) -> Option<UserId> {
        self.entry(key)?.user
    }

    /// Whether the library calls this agent, and it is registered.
    pub(crate) fn is_hosted(&self, key: AgentKey) -> bool {
        self.entry(key).is_some_and(|entry| entry.hosted && entry.user.is_some())
    }

    /// The library's own account.
    pub(crate) const fn moderator(&self) -> Option<UserId> {
        self.moderator
    }

    /// The accounts of all registered agents, in ascending order.
    pub(crate) fn accounts(&self) -> Vec<UserId> {
        let mut accounts: Vec<_> = self.by_user.keys().copied().collect();
        accounts.sort_unstable();
        accounts
    }

    pub(crate) fn of_user(&self, user: UserId) -> Option<AgentKey> {
        self.by_user.get(&user).copied()
    }

    /// The registered agents among these accounts, in ascending order of account.
    pub(crate) fn agents_among(&self, mut users: Vec<UserId>) -> Vec<AgentKey> {
        users.sort_unstable();
        users.dedup();
        users.iter().filter_map(|user| self.of_user(*user)).collect()
    }

    /// The registered agents whose names or ids a text begins with, each behind an `@`. Of names that fit the longest
    /// counts.
    pub(crate) fn named_at_start(&self, text: &str) -> Vec<AgentKey> {
        let mut named = Vec::new();
        let mut rest = text.trim_start();
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

    /// Who wrote a message: known by account, never by name. A person's account is never an agent's,
    /// whatever the registry says.
    pub(crate) fn author(&self, message: &ChatMessage) -> Author {
        match (message.author_kind, self.of_user(message.author)) {
            (AuthorKind::Webhook, _) => Author::Bot,
            (AuthorKind::Bridged, _) => Author::Human,
            _ if self.moderator == Some(message.author) => Author::Moderator,
            (AuthorKind::Human, _) => Author::Human,
            (AuthorKind::Bot, Some(key)) => Author::Agent(key),
            (AuthorKind::Bot, None) => Author::Bot,
        }
    }

    /// Puts an agent's registered name in the place of the one that its account has in the chat.
    pub(crate) fn name_author(&self, message: &mut ChatMessage, author: Author) {
        if let Author::Agent(agent) = author {
            message.author_name = self.display_name(agent).cloned();
        }
    }

    fn entry(&self, key: AgentKey) -> Option<&Entry> {
        self.agents.get(usize::try_from(key.get()).ok()?)
    }
}
