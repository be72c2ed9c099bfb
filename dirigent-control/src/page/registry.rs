//! The registry of agents, changed with the same checks as the agents' own tool.

use dirigent::host::plain;
use dirigent::tools::{Caller, DirigentRegister, ToolError};
use dirigent::{AgentId, UserId};

use crate::page::look::{IdentityLook, RegistryLook, words};
use crate::page::ports::ScanReport;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The longest id of an agent, in characters.
const ID_CHARS_MAX: usize = 100;

/// What a visitor saw of an agent before changing it.
pub(crate) enum Seen {
    /// There was none.
    Nothing,
    Entry {
        account: String,
        name: String,
    },
}

/// Why an agent was not registered.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// The field that it is about.
    pub(crate) field: &'static str,
    /// What is wrong, for who filled it.
    pub(crate) said: String,
    /// The same for a program.
    pub(crate) problem: Problem,
}

impl Rejection {
    const fn at(field: &'static str, said: String, problem: Problem) -> Self {
        Self { field, said, problem }
    }
}

impl From<Problem> for Rejection {
    fn from(problem: Problem) -> Self {
        Self { field: "agent", said: words::sentence(&problem.detail), problem }
    }
}

/// The tool's errors speak to an agent that registers itself.
impl From<ToolError> for Rejection {
    fn from(error: ToolError) -> Self {
        #[expect(clippy::wildcard_enum_match_arm, reason = "the others say it as it is")]
        let (field, said) = match &error {
            ToolError::ModeratorAccount => {
                ("account", "This is the account of the moderator’s bot. Give that of the agent’s own bot.".to_owned())
            }
            ToolError::PersonsAccount => {
                ("account", "This is the account of a person. Give that of the agent’s own bot.".to_owned())
            }
            ToolError::NotInGuild | ToolError::AccountNotInGuild => (
                "account",
                "This account is in no guild in which the moderator is an administrator. Check the id, or invite the bot.".to_owned(),
            ),
            ToolError::AccountTaken { owner } => {
                ("account", format!("This account belongs to {owner} already."))
            }
            ToolError::BadName { .. } => {
                ("name", "A name must be 1 to 100 visible characters in one line.".to_owned())
            }
            other => ("account", other.to_string()),
        };
        Self { field, said, problem: error.into() }
    }
}

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
    ) -> Result<(), Rejection> {
        let agent = agent.trim();
        if agent.chars().nth(ID_CHARS_MAX).is_some() || !plain::is_name(agent) {
            let detail = "the agent's id must be 1 to 100 characters in one line, without control characters";
            return Err(Rejection::at("agent", words::sentence(detail), Problem::invalid(detail)));
        }
        let account: UserId = account.trim().parse().map_err(|error| {
            let detail = format!("the account is {error}");
            Rejection::at("account", words::sentence(&detail), Problem::invalid(detail))
        })?;
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

    /// Refuses a change that was made from what is not so any more: no agent is moved, and none comes back, without a word.
    pub(crate) async fn must_be_as_seen(&self, agent: &str, seen: &Seen) -> Result<(), Rejection> {
        let now = self.registry().await?.identities;
        let now = now.into_iter().find(|own| own.agent_id == agent.trim());
        let stale = |said: String| {
            let problem = Problem::new(409, "changed-meanwhile", said.clone());
            Err(Rejection::at("agent", said, problem))
        };
        match (seen, now) {
            (Seen::Nothing, None) => Ok(()),
            (Seen::Nothing, Some(own)) => stale(format!(
                "There is an agent {} already, with the account {}. Change it in its own row.",
                own.agent_id, own.discord_user_id
            )),
            (Seen::Entry { .. }, None) => {
                stale(format!("{agent} was deleted meanwhile. Add it again if it is still wanted."))
            }
            (Seen::Entry { account, name }, Some(own)) => {
                if *account == own.discord_user_id && *name == own.agent_name {
                    return Ok(());
                }
                stale(format!(
                    "{agent} was changed meanwhile: its account is {}, and its name {}. Save once more to replace it.",
                    own.discord_user_id, own.agent_name
                ))
            }
        }
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
