//! Fills the registry from `ego.json`, the list of bots of the program padded-cell. Start with
//! [`ScannedIdentities`].

mod parsed;
mod report;
mod scanned;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use dirigent::ports::{ApiError, Identity, RegisterError};
use dirigent::{AgentId, IdentityStore, UserId};

use self::parsed::{EgoAgent, EgoName, FILE_MAX};
pub use self::parsed::{ParsedEgo, parse_ego};
pub use self::report::{Conflict, ConflictKind, Detection, EgoAbsent, EgoReport, SkipReason};
pub use self::scanned::{RescanError, ScannedIdentities};
use crate::error::StoreError;
use crate::{disk, worker};

/// The options for a scan of `ego.json`.
///
/// ```
/// use dirigent_store::ego::{EgoOptions, KnownAgents};
///
/// let options = EgoOptions { known_agents: KnownAgents::Overwrite, ..EgoOptions::default() };
/// assert_eq!(options.name_columns, ["name"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "options are written with the struct's defaults")]
pub struct EgoOptions {
    /// The columns that can contain an agent's name, the best one first. A column counts only if the file
    /// declares it. Default `name`.
    pub name_columns: Vec<String>,
    /// True if padded-cell is loaded, as far as your program knows. If you set it to false, the file is not
    /// read. If it is true, the file still decides. Default true.
    pub padded_cell_loaded: bool,
    /// The rule for an agent that is already in the registry.
    pub known_agents: KnownAgents,
    /// The account of the moderator. It never becomes an agent's account.
    pub moderator: Option<UserId>,
}

/// The rule for agents that are already in the registry. For example, the file can have another account for an
/// agent than the registry.
///
/// ```
/// assert_eq!(dirigent_store::ego::KnownAgents::default(), dirigent_store::ego::KnownAgents::Keep);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "the registry wins or the file does")]
pub enum KnownAgents {
    /// The agent stays as it is. A difference is reported as a conflict.
    #[default]
    Keep,
    /// The agent gets the account from the file, unless another agent has it. It also gets the name from the
    /// file if there is one.
    Overwrite,
}

impl Default for EgoOptions {
    fn default() -> Self {
        Self {
            name_columns: vec!["name".to_owned()],
            padded_cell_loaded: true,
            known_agents: KnownAgents::Keep,
            moderator: None,
        }
    }
}

/// Reads `ego.json` and adds its agents to a registry. Each agent is durable before the next one is added. An
/// error in the file is never an error of this function: you find it in the report. The file is read on its own
/// thread.
///
/// # Errors
///
/// Returns an error if the registry cannot be read. Then the registry was not changed.
///
/// # Cancellation
///
/// The agents that were added so far stay. You can scan again to add the others.
///
/// # Examples
///
/// ```
/// use dirigent::{IdentityStore, MemoryIdentities};
/// use dirigent_store::ego::{EgoOptions, scan_ego};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("ego.json");
/// std::fs::write(
///     &path,
///     r#"{ "columns": ["discord-id"], "agentScope": { "dev": { "discord-id": "123456789012345678" } } }"#,
/// )?;
/// let registry = MemoryIdentities::new();
/// let report = scan_ego(&path, &registry, &EgoOptions::default()).await?;
/// assert!(report.is_detected());
/// assert_eq!(report.added, registry.all().await?);
/// # Ok(())
/// # }
/// ```
pub async fn scan_ego(
    path: impl AsRef<Path> + Send,
    registry: &dyn IdentityStore,
    options: &EgoOptions,
) -> Result<EgoReport, ApiError> {
    let path = path.as_ref();
    let ego = match look(path, options).await {
        Ok(ego) => ego,
        Err(reason) => {
            if reason != EgoAbsent::NoFile {
                tracing::warn!(path = %path.display(), %reason, "the ego.json of padded-cell is not read");
            }
            return Ok(EgoReport::new(Detection::Absent(reason)));
        }
    };
    let mut scan = Scan::new(registry, options.known_agents).await?;
    for agent in ego.read(options) {
        scan.take(agent).await;
    }
    scan.log(path);
    Ok(scan.report)
}

async fn look(path: &Path, options: &EgoOptions) -> Result<ParsedEgo, EgoAbsent> {
    if !options.padded_cell_loaded {
        return Err(EgoAbsent::NotLoaded);
    }
    let file = path.to_owned();
    let read = worker::once("dirigent-ego", path, move || Ok(load(&file))).await;
    let ego = read.unwrap_or(Err(EgoAbsent::Unreadable(io::ErrorKind::Other)))?;
    if ego.has_accounts() { Ok(ego) } else { Err(EgoAbsent::NoColumn) }
}

fn load(path: &Path) -> Result<ParsedEgo, EgoAbsent> {
    match disk::read(path, FILE_MAX) {
        Ok(Some(content)) => parse_ego(&content).map_err(EgoAbsent::Malformed),
        Ok(None) => Err(EgoAbsent::NoFile),
        Err(StoreError::BadFile { source, .. }) => Err(EgoAbsent::Malformed(source)),
        Err(StoreError::Io { source, .. }) => Err(EgoAbsent::Unreadable(source.kind())),
        Err(_) => Err(EgoAbsent::Unreadable(io::ErrorKind::Other)),
    }
}

struct Scan<'a> {
    registry: &'a dyn IdentityStore,
    known_agents: KnownAgents,
    /// The registry by agent and by account, as it is now.
    agents: HashMap<AgentId, Identity>,
    accounts: HashMap<UserId, AgentId>,
    report: EgoReport,
}

impl<'a> Scan<'a> {
    async fn new(
        registry: &'a dyn IdentityStore,
        known_agents: KnownAgents,
    ) -> Result<Self, ApiError> {
        let (agents, accounts) = (HashMap::new(), HashMap::new());
        let report = EgoReport::new(Detection::Detected);
        let mut scan = Self { registry, known_agents, agents, accounts, report };
        for identity in registry.all().await? {
            scan.note(identity);
        }
        Ok(scan)
    }

    fn note(&mut self, identity: Identity) {
        if let Some(before) = self.agents.get(&identity.agent_id) {
            self.accounts.remove(&before.discord_user_id);
        }
        self.accounts.insert(identity.discord_user_id, identity.agent_id.clone());
        self.agents.insert(identity.agent_id.clone(), identity);
    }

    async fn take(&mut self, EgoAgent { agent, account, name }: EgoAgent) {
        let account = match account {
            Ok(account) => account,
            Err(reason) => {
                self.report.skipped.push((agent, reason));
                return;
            }
        };
        let name = match name {
            EgoName::Set(name) => Some(name),
            EgoName::Unset => None,
            EgoName::Unfit => {
                self.report.names_refused.push(agent.clone());
                None
            }
        };
        let known = self.agents.get(&agent);
        if known.is_some_and(|known| self.stays(known, account, name.as_deref())) {
            self.report.unchanged.push(agent);
            return;
        }
        let owner = self.accounts.get(&account).filter(|owner| **owner != agent).cloned();
        let registry = match (known, owner) {
            (Some(known), _) if self.known_agents == KnownAgents::Keep => {
                Some(ConflictKind::OtherAccount(known.discord_user_id))
            }
            (_, owner) => owner.map(ConflictKind::OwnedBy),
        };
        if let Some(registry) = registry {
            self.report.conflicts.push(Conflict { agent, account, registry });
            return;
        }
        // A known agent keeps its name if the file has no name for it.
        let name = name.or_else(|| known.map(|known| known.agent_name.clone()));
        let agent_name = name.unwrap_or_else(|| agent.as_str().to_owned());
        let is_new = known.is_none();
        self.register(Identity { discord_user_id: account, agent_id: agent, agent_name }, is_new)
            .await;
    }

    /// Returns true if the registry already has what the file says, as far as the file may change it.
    fn stays(&self, known: &Identity, account: UserId, name: Option<&str>) -> bool {
        let same_name = match self.known_agents {
            KnownAgents::Keep => true,
            KnownAgents::Overwrite => name.is_none_or(|name| name == known.agent_name),
        };
        known.discord_user_id == account && same_name
    }

    async fn register(&mut self, identity: Identity, is_new: bool) {
        let Identity { discord_user_id: account, agent_id: agent, .. } = identity.clone();
        match self.registry.register(identity.clone()).await {
            Ok(()) if is_new => self.report.added.push(identity.clone()),
            Ok(()) => self.report.changed.push(identity.clone()),
            // Another registration was faster.
            Err(RegisterError::AccountTaken { owner }) => {
                let registry = ConflictKind::OwnedBy(owner);
                self.report.conflicts.push(Conflict { agent, account, registry });
                return;
            }
            Err(error) => {
                tracing::warn!(%agent, %error, "an agent of ego.json was not registered");
                self.report.skipped.push((agent, SkipReason::StoreFailed));
                return;
            }
        }
        self.note(identity);
    }

    /// Logs the result, without names that were not checked.
    fn log(&self, path: &Path) {
        let EgoReport { added, changed, unchanged, skipped, conflicts, .. } = &self.report;
        let (added, changed, unchanged) = (added.len(), changed.len(), unchanged.len());
        tracing::info!(path = %path.display(), added, changed, unchanged, "ego.json was scanned");
        for (agent, reason) in skipped {
            // An agent without an account needs no warning.
            match reason {
                SkipReason::NoAccount | SkipReason::StoreFailed => {}
                SkipReason::BadAgent | SkipReason::NamedTwice => {
                    tracing::warn!(%reason, "an agent of ego.json is skipped");
                }
                SkipReason::BadAccount | SkipReason::NotAnObject | SkipReason::Moderator => {
                    tracing::warn!(%agent, %reason, "an agent of ego.json is skipped");
                }
            }
        }
        for Conflict { agent, account, .. } in conflicts {
            tracing::warn!(%agent, %account, "ego.json and the registry disagree");
        }
    }
}
