//! Parses `ego.json`.

use dirigent::{AgentId, UserId};

use super::{EgoOptions, SkipReason};
use crate::agent_name::is_name;
use crate::error::BadFile;
use crate::record::fields::{Field, Fields, Whole, string};

pub(super) const FILE_MAX: usize = 64 << 20;

const ACCOUNT: &str = "discord-id";

/// Parses the content of padded-cell's `ego.json`, without any I/O. It looks only at `columns` and
/// `agentScope`. Accounts in other scopes are ignored.
///
/// # Errors
///
/// Returns [`BadFile`] if the content is not a JSON object, if `columns` is not an array, or if
/// `agentScope` is not an object.
///
/// # Examples
///
/// ```
/// let ego = dirigent_store::ego::parse_ego(
///     br#"{
///         "columns": ["discord-id"],
///         "agentScope": { "home-developer": { "discord-id": "123456789012345678" } }
///     }"#,
/// )?;
/// assert!(ego.has_accounts());
/// assert_eq!(ego.agents().collect::<Vec<_>>(), ["home-developer"]);
/// # Ok::<(), dirigent_store::BadFile>(())
/// ```
pub fn parse_ego(content: &[u8]) -> Result<ParsedEgo, BadFile> {
    let wrong = |expected| BadFile::WrongShape { expected };
    let Whole::Object(fields) = Whole::read(content, FILE_MAX)? else {
        return Err(wrong("an object"));
    };
    let columns: Vec<&serde_json::value::RawValue> = match fields.field("columns") {
        Field::Missing => Vec::new(),
        Field::Repeated => return Err(wrong("an object with one field columns")),
        Field::Found(columns) => {
            serde_json::from_str(columns).map_err(|_| wrong("an object with an array columns"))?
        }
    };
    let scope = match fields.field("agentScope") {
        Field::Missing => None,
        Field::Repeated => return Err(wrong("an object with one field agentScope")),
        Field::Found(scope) => {
            let scope = Fields::of(scope);
            Some(scope.map_err(|_| wrong("an object with an object agentScope"))?)
        }
    };
    Ok(ParsedEgo {
        columns: columns.iter().filter_map(|column| string(column.get())).collect(),
        agents: scope
            .iter()
            .flat_map(Fields::iter)
            .map(|(agent, values)| (agent.to_owned(), values.into()))
            .collect(),
    })
}

/// The parts of `ego.json` that a scan uses. `Debug` hides the agents' values.
///
/// ```
/// let ego = dirigent_store::ego::parse_ego(br#"{ "columns": ["mood"] }"#).unwrap();
/// assert!(!ego.has_accounts());
/// ```
#[derive(Clone)]
pub struct ParsedEgo {
    /// The names of the columns. An item that is not text is skipped.
    columns: Vec<String>,
    /// The agents in the order of the file, each with its values as they were written.
    agents: Vec<(String, Box<str>)>,
}

pub(super) struct EgoAgent {
    pub(super) agent: AgentId,
    /// The agent's account, or the reason why the agent is skipped.
    pub(super) account: Result<UserId, SkipReason>,
    pub(super) name: EgoName,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EgoName {
    Unset,
    Set(String),
    /// The file has a value that cannot be a name.
    Unfit,
}

impl ParsedEgo {
    /// Returns true if the file declares accounts. This is how a scan detects padded-cell.
    pub fn has_accounts(&self) -> bool {
        self.declares(ACCOUNT)
    }

    /// Returns the agents in the order of the file, as they are written there.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|(agent, _)| agent.as_str())
    }

    /// Returns the data of each agent in the file. An agent that the file names twice is returned
    /// once.
    pub(super) fn read(&self, options: &EgoOptions) -> Vec<EgoAgent> {
        let mut times = std::collections::HashMap::new();
        for agent in self.agents() {
            *times.entry(agent).or_insert(0_usize) += 1;
        }
        let columns: Vec<&str> = options
            .name_columns
            .iter()
            .map(String::as_str)
            .filter(|column| self.declares(column))
            .collect();
        let mut agents = Vec::new();
        for (agent, values) in &self.agents {
            let Some(times) = times.remove(agent.as_str()) else { continue };
            let (account, name) = match Fields::of(values) {
                _ if times > 1 => (Err(SkipReason::NamedTwice), EgoName::Unset),
                _ if !is_name(agent) => (Err(SkipReason::BadAgent), EgoName::Unset),
                Err(_) => (Err(SkipReason::NotAnObject), EgoName::Unset),
                Ok(fields) => (account_of(&fields, options.moderator), name_of(&fields, &columns)),
            };
            agents.push(EgoAgent { agent: agent.as_str().into(), account, name });
        }
        agents
    }

    fn declares(&self, column: &str) -> bool {
        self.columns.iter().any(|declared| declared == column)
    }
}

fn account_of(fields: &Fields<'_>, moderator: Option<UserId>) -> Result<UserId, SkipReason> {
    let text = match fields.field(ACCOUNT) {
        Field::Missing => return Err(SkipReason::NoAccount),
        Field::Repeated => return Err(SkipReason::BadAccount),
        Field::Found(value) => string(value).ok_or(SkipReason::BadAccount)?,
    };
    if text.trim().is_empty() {
        return Err(SkipReason::NoAccount);
    }
    let account = text.parse().map_err(|_| SkipReason::BadAccount)?;
    if moderator == Some(account) { Err(SkipReason::Moderator) } else { Ok(account) }
}

/// Returns the value from the first of these columns that has one.
fn name_of(fields: &Fields<'_>, columns: &[&str]) -> EgoName {
    for column in columns {
        let text = match fields.field(column) {
            Field::Missing => continue,
            Field::Repeated => None,
            Field::Found(value) => string(value),
        };
        match text.as_deref().map(str::trim) {
            Some("") => {}
            Some(name) if is_name(name) => return EgoName::Set(name.to_owned()),
            Some(_) | None => return EgoName::Unfit,
        }
    }
    EgoName::Unset
}

impl std::fmt::Debug for ParsedEgo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParsedEgo")
            .field("columns", &self.columns)
            .field("agents", &self.agents.len())
            .finish_non_exhaustive()
    }
}
