//! The registry of agents, changed with the same checks as the agents' own tool.

use dirigent::host::plain;
use dirigent::tools::{Caller, DirigentRegister, ToolError};
use dirigent::{AgentId, UserId};

use crate::page::look::{IdentityLook, RegistryLook};
use crate::page::ports::ScanReport;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The longest id of an agent, in characters.
const ID_CHARS_MAX: usize = 100;

impl PageContext {
    pub(crate) async fn registry(&self) -> Result<RegistryLook, Problem> {
        let all = self.identities.all().await?;
        let mut identities: Vec<_> = all
            .into_iter()
            .map(|own| IdentityLook {
                agent_id: own.agent_id.as_str().to_owned(),
                discord_user_id: own.discord_user_id.to_string(),
                agent_name: own.agent_name,
            })
            .collect();
        identities.sort_unstable();
        Ok(RegistryLook { identities, can_scan: self.can_scan().await })
    }

    /// Adds an agent, or changes its account and name.
    pub(crate) async fn register(
        &self,
        agent: &str,
        account: &str,
        name: Option<String>,
    ) -> Result<(), Problem> {
        let agent = agent.trim();
        if agent.chars().nth(ID_CHARS_MAX).is_some() || !plain::is_name(agent) {
            let detail = "the agent's id must be 1 to 100 characters in one line, without control characters";
            return Err(Problem::invalid(detail));
        }
        let account: UserId =
            account.parse().map_err(|error| Problem::invalid(format!("the account is {error}")))?;
        let name = name.filter(|name| !name.trim().is_empty());
        let mut refused = ToolError::NotInGuild;
        let places = self.places.get(&self.dirigent).await;
        for guild in places.guilds.keys() {
            let caller = Caller { guild: Some(*guild), ..Caller::new(agent) };
            let arguments = DirigentRegister { discord_user_id: account, agent_name: name.clone() };
            match self.tools.dirigent_register(&caller, arguments).await {
                Ok(_) => {
                    self.across().tell_registry_changed().await;
                    return Ok(());
                }
                // It may be in the next one.
                Err(error @ ToolError::AccountNotInGuild) => refused = error,
                Err(error) => return Err(error.into()),
            }
        }
        Err(refused.into())
    }

    /// Takes an agent out of the registry: where it has the floor, its turn is skipped.
    pub(crate) async fn remove(&self, agent: &str) -> Result<(), Problem> {
        if !self.identities.remove(AgentId::from(agent)).await? {
            return Err(Problem::not_found("agent in the registry"));
        }
        self.dirigent.identities_changed().await?;
        self.across().tell_registry_changed().await;
        Ok(())
    }

    pub(crate) async fn can_scan(&self) -> bool {
        match &self.ego {
            Some(ego) => ego.is_there().await,
            None => false,
        }
    }

    /// Scans `ego.json` exactly where it is there.
    pub(crate) async fn scan(&self) -> Result<ScanReport, Problem> {
        let absent = || Problem::new(409, "no-ego-file", "no ego.json of padded-cell was found");
        let ego = self.ego.as_ref().ok_or_else(absent)?;
        if !ego.is_there().await {
            return Err(absent());
        }
        let report = ego.scan().await.map_err(|why| Problem::new(409, "not-scanned", why))?;
        self.dirigent.identities_changed().await?;
        self.across().tell_registry_changed().await;
        Ok(report)
    }
}
