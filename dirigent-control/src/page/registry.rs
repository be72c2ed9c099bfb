//! Changes the registry of agents, with the same checks as the agents' own tool.

use dirigent::host::plain;
use dirigent::tools::{Caller, DirigentRegister, IdentityRegistered, ToolError};
use dirigent::{AgentId, UserId};

use crate::page::look::{IdentityLook, OrderLook, RegistryLook, words};
use crate::page::ports::ScanReport;
use crate::page::problem::Problem;
use crate::page::shared::PageContext;

/// The longest id of an agent, in characters.
const ID_CHARS_MAX: usize = 100;

/// An agent's entry, as a visitor saw it before changing it.
pub(crate) enum Seen {
    /// There was no entry.
    Nothing,
    Entry {
        account: String,
        name: String,
    },
}

/// Why an agent was not registered.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// The field with the fault.
    pub(crate) field: &'static str,
    /// The fault, for the person who filled in the form.
    pub(crate) said: String,
    /// The problem, for a program.
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

/// The tool's errors are written for an agent that registers itself, so some of them get other words for a person.
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

/// Returns true if an agent with this id can be added. The ids `.` and `..` are refused, because a browser would go to
/// another page.
fn is_agent_id(agent: &str) -> bool {
    let is_short = agent.chars().nth(ID_CHARS_MAX).is_none();
    is_short && plain::is_name(agent) && !matches!(agent, "." | "..")
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

    /// Adds an agent, or changes its account and name, if its entry is still as it was `seen`. Logs the operator.
    pub(crate) async fn register(
        &self,
        by: &str,
        agent: &str,
        (account, name): (&str, Option<String>),
        seen: Option<&Seen>,
    ) -> Result<(), Rejection> {
        let agent = agent.trim();
        if !is_agent_id(agent) {
            let detail = "the agent's id must be 1 to 100 characters in one line, without control characters, and neither . nor ..";
            return Err(Rejection::at("agent", words::sentence(detail), Problem::invalid(detail)));
        }
        let order = match self.entry_of(agent).await? {
            Some(_) => "change-agent",
            None => "add-agent",
        };
        let given = match self.must_be_as_seen(agent, seen).await {
            Ok(()) => self.try_register(agent, account, name).await,
            Err(rejection) => Err(rejection),
        };
        let entry =
            given.as_ref().map(|own| format!("{}, {}", own.discord_user_id, own.agent_name));
        let refused = given.as_ref().err().map(|rejection| &rejection.problem);
        self.record_change(by, (order, Some(agent)), entry.ok(), refused).await;
        given.map(drop)
    }

    async fn entry_of(&self, agent: &str) -> Result<Option<IdentityLook>, Problem> {
        let all = self.registry().await?.identities;
        Ok(all.into_iter().find(|own| own.agent_id == agent))
    }

    async fn try_register(
        &self,
        agent: &str,
        account: &str,
        name: Option<String>,
    ) -> Result<IdentityRegistered, Rejection> {
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
                Ok(registered) => {
                    self.across().tell_registry_changed().await;
                    return Ok(registered);
                }
                // The account may be in the next guild.
                Err(error @ ToolError::AccountNotInGuild) => refused = error,
                Err(error) => return Err(error.into()),
            }
        }
        Err(refused.into())
    }

    /// Refuses a change that was made from an old entry, so that an agent is not moved or restored by accident.
    async fn must_be_as_seen(&self, agent: &str, seen: Option<&Seen>) -> Result<(), Rejection> {
        let Some(seen) = seen else { return Ok(()) };
        let now = self.entry_of(agent).await?;
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

    /// Removes an agent from the registry, if its entry is still as it was `seen`, and logs the operator. If the agent
    /// has the floor, its turn is skipped.
    pub(crate) async fn remove(
        &self,
        by: &str,
        agent: &str,
        seen: Option<&Seen>,
    ) -> Result<(), Rejection> {
        let given = match self.must_be_as_seen(agent, seen).await {
            Ok(()) => self.try_remove(agent).await.map_err(Rejection::from),
            Err(rejection) => Err(rejection),
        };
        let refused = given.as_ref().err().map(|rejection| &rejection.problem);
        self.record_change(by, ("remove-agent", Some(agent)), None, refused).await;
        given?;
        Ok(self.read_anew().await?)
    }

    /// Makes the driver and the other processes read the registry again. The change is logged before that, because it
    /// is made even if they cannot read it.
    async fn read_anew(&self) -> Result<(), Problem> {
        self.dirigent.identities_changed().await?;
        self.across().tell_registry_changed().await;
        Ok(())
    }

    async fn try_remove(&self, agent: &str) -> Result<(), Problem> {
        if !self.identities.remove(AgentId::from(agent)).await? {
            return Err(Problem::not_found("agent in the registry"));
        }
        Ok(())
    }

    pub(crate) async fn can_scan(&self) -> bool {
        match &self.ego {
            Some(ego) => ego.is_there().await,
            None => false,
        }
    }

    /// Scans `ego.json` if the file is there now, and logs the operator.
    pub(crate) async fn scan(&self, by: &str) -> Result<ScanReport, Problem> {
        let given = self.try_scan().await;
        let entry = given.as_ref().ok().map(|report| {
            format!("{} added, {} changed", report.added.len(), report.changed.len())
        });
        self.record_change(by, ("scan-agents", None), entry, given.as_ref().err()).await;
        let report = given?;
        self.read_anew().await?;
        Ok(report)
    }

    /// Logs a change of the registry, or the attempt, with its operator.
    async fn record_change(
        &self,
        by: &str,
        (order, agent): (&'static str, Option<&str>),
        entry: Option<String>,
        refused: Option<&Problem>,
    ) {
        let by = self.across().signed(by);
        // A text that cannot be an agent's id is not stored, because a request can contain anything.
        let agent = agent.filter(|agent| is_agent_id(agent)).map(ToOwned::to_owned);
        let why = refused.map(Problem::name);
        tracing::info!(order, agent, by, why, "the registry was to be changed");
        let change = OrderLook {
            at: self.clock.now().as_millis(),
            order: order.into(),
            agent,
            mode: None,
            to: None,
            entry,
            by,
            reason: None,
            refused: why.map(ToOwned::to_owned),
        };
        self.order_log.add(None, change).await;
    }

    async fn try_scan(&self) -> Result<ScanReport, Problem> {
        let absent = || Problem::new(409, "no-ego-file", "no ego.json of padded-cell was found");
        let ego = self.ego.as_ref().ok_or_else(absent)?;
        if !ego.is_there().await {
            return Err(absent());
        }
        ego.scan().await.map_err(|why| Problem::new(409, "not-scanned", why))
    }
}
