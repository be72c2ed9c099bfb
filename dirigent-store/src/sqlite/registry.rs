//! The table of the registry.

use dirigent::ports::Identity;
use dirigent::{AgentId, UserId};
use rusqlite::{OptionalExtension, params};

use super::refusal::refused;
use super::tables::{Tables, signed, unsigned};
use crate::error::{Action, StoreError};

/// Returns all entries in the order in which they were added.
pub(super) fn identities(tables: &mut Tables<'_>) -> Result<Vec<Identity>, StoreError> {
    let rows = tables.run.identities.query_map([], |row| {
        Ok(Identity {
            discord_user_id: UserId::new(unsigned(row.get(0)?)),
            agent_id: AgentId::from(row.get::<_, String>(1)?),
            agent_name: row.get(2)?,
        })
    });
    let rows = rows.and_then(Iterator::collect);
    rows.map_err(|error| refused(tables.path, Action::Read, &error))
}

impl Tables<'_> {
    /// Adds an agent, or gives a known one a new account or name. Returns another agent that has the account.
    pub(super) fn register(&mut self, identity: &Identity) -> Result<Option<AgentId>, StoreError> {
        let Identity { discord_user_id, agent_id, agent_name } = identity;
        let account = signed(discord_user_id.get());
        let owner = self.run.owner.query_row([account], |row| row.get::<_, String>(0)).optional();
        let owner = owner.map_err(|error| refused(self.path, Action::Read, &error))?;
        if let Some(owner) = owner.filter(|owner| owner != agent_id.as_str()) {
            return Ok(Some(owner.into()));
        }
        let written = self.run.register.execute(params![account, agent_id.as_str(), agent_name]);
        written.map_err(|error| refused(self.path, Action::Write, &error))?;
        Ok(None)
    }

    /// Removes an agent. Returns false if there was none.
    pub(super) fn unregister(&mut self, agent: &AgentId) -> Result<bool, StoreError> {
        let removed = self.run.unregister.execute([agent.as_str()]);
        removed.map(|count| count > 0).map_err(|error| refused(self.path, Action::Write, &error))
    }
}
