//! The members of a channel that is being created.

use dirigent_core::config::AGENTS_MAX;

use super::{Caller, ToolError, Tools};
use crate::{AgentId, UserId};

/// The members of a channel that is being created, besides the moderator.
#[derive(Debug)]
pub(super) struct Membership {
    /// Every account once, in the given order. The caller is the last, unless it was named.
    pub(super) users: Vec<UserId>,
    /// The registered agents among them, in that order.
    pub(super) agents: Vec<AgentId>,
    /// The accounts that are not registered agents: people, and agents that never registered.
    pub(super) unregistered: Vec<UserId>,
    /// The caller's account. It is among the users if it has an identity.
    pub(super) caller: Option<UserId>,
}

impl Tools {
    /// Decides who will be in the channel.
    pub(super) fn membership(
        &self,
        caller: &Caller,
        named: Vec<UserId>,
    ) -> Result<Membership, ToolError> {
        let directory = self.dirigent.runtime.registry.directory();
        let own = directory.key(&caller.agent).and_then(|key| directory.user(key));
        let moderator = directory.moderator();
        // A model wrote the list, so its length does not decide how much memory is taken.
        let mut users: Vec<UserId> = Vec::with_capacity(named.len().min(AGENTS_MAX));
        for user in named.into_iter().chain(own).filter(|user| Some(*user) != moderator) {
            if users.contains(&user) {
                continue;
            }
            if users.len() == AGENTS_MAX {
                return Err(ToolError::TooManyMembers { max: AGENTS_MAX });
            }
            users.push(user);
        }
        let (mut agents, mut unregistered) = (Vec::new(), Vec::new());
        for user in &users {
            match directory.of_user(*user).and_then(|key| directory.name(key)) {
                Some(agent) => agents.push(agent.clone()),
                None => unregistered.push(*user),
            }
        }
        Ok(Membership { users, agents, unregistered, caller: own })
    }
}

impl Membership {
    /// Returns a warning for the caller, so that it does not wait for answers that cannot come.
    pub(super) fn warning(&self) -> Option<String> {
        (self.agents.len() < 2).then(|| {
            "There are fewer than two registered agents in the channel, so no turns are given \
             until another one joins."
                .to_owned()
        })
    }
}
