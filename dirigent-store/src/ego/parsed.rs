//! `ego.json` as a value.

use dirigent::{AgentId, UserId};

use super::{EgoOptions, SkipReason};
use crate::agent_name::is_name;
use crate::error::BadFile;
use crate::record::fields::{Field, Fields, Whole, string};

/// How large the file may be, in bytes.
pub(super) const FILE_MAX: usize = 64 << 20;

/// The column that holds the agents' accounts.
const ACCOUNT: &str = "discord-id";

/// Reads the content of padded-cell's `ego.json`, without any I/O. Only `columns` and
/// `agentScope` are looked at; accounts in other scopes are not used.
///
/// # Errors
///
/// [`BadFile`] when it is no JSON object, or `columns` is no array or `agentScope` no object.
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

/// What of `ego.json` matters here. `Debug` shows none of the agents' values.
///
/// ```
/// let ego = dirigent_store::ego::parse_ego(br#"{ "columns": ["mood"] }"#).unwrap();
/// assert!(!ego.has_accounts());
/// ```
#[derive(Clone)]
pub struct ParsedEgo {
    /// The names of the columns; what is no text is passed over.
    columns: Vec<String>,
    /// The agents in the order of the file, each with its values as they were written.
    agents: Vec<(String, Box<str>)>,
}

/// What the file says of one agent.
pub(super) struct EgoAgent {
    pub(super) agent: AgentId,
    /// Its account, or why it is passed over.
    pub(super) account: Result<UserId, SkipReason>,
    pub(super) name: EgoName,
}

/// What the file says of an agent's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EgoName {
    /// The file has no name for the agent.
    Unset,
    /// The file has this name.
    Set(String),
    /// Something that is no name.
    Unfit,
}

impl ParsedEgo {
    /// Whether the file declares accounts, by which padded-cell is detected.
    pub fn has_accounts(&self) -> bool {
        self.declares(ACCOUNT)
    }

    /// The agents in the order of the file, as they are written there.
    pub fn agents(&self) -> impl Iterator<Item = &str> {
        self.agents.iter().map(|(agent, _)| agent.as_str())
    }

    /// What the file says of each agent. One that is named twice comes once.
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

/// The value of the first of these columns in which something stands.
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
