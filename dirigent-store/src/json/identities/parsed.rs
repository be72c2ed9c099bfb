//! Parses the registry's file.

use std::collections::HashSet;

use dirigent::ports::Identity;
use dirigent::{AgentId, UserId};

use super::entry::{self, BadEntry};
use crate::error::BadFile;
use crate::record::fields::{Field, Fields, Whole, quoted};

/// The largest file, in bytes. It has room for a few hundred thousand agents.
pub(crate) const FILE_MAX: usize = 64 << 20;

const EXPECTED: &str = "an array of entries, nor an object with one array named entries";

/// Parses the content of a registry's file, without any I/O.
///
/// # Errors
///
/// Returns [`BadFile`] if the content cannot be read as a whole. A single entry that cannot be read
/// is not an error.
///
/// # Examples
///
/// ```
/// let parsed = dirigent_store::parse_identities(
///     br#"[
///         { "discordUserId": "123456789012345678", "agentId": "dev", "agentName": "Developer" },
///         { "discordUserId": "12", "agentId": "poet", "agentName": "Poet" }
///     ]"#,
/// )?;
/// assert_eq!(parsed.identities().count(), 1);
/// assert_eq!(parsed.bad_entries().len(), 1);
/// # Ok::<(), dirigent_store::BadFile>(())
/// ```
pub fn parse_identities(content: &[u8]) -> Result<ParsedIdentities, BadFile> {
    let wrong = BadFile::WrongShape { expected: EXPECTED };
    let (entries, wrapper) = match Whole::read(content, FILE_MAX)? {
        Whole::Array(entries) => (entries, None),
        Whole::Object(fields) => {
            let Field::Found(entries) = fields.field(ENTRIES) else { return Err(wrong) };
            let entries = serde_json::from_str(entries).map_err(|_| wrong)?;
            (entries, Some(Wrapper::of(&fields)))
        }
        Whole::Other => return Err(wrong),
    };
    let mut parsed = ParsedIdentities { entries: Vec::with_capacity(entries.len()), wrapper };
    let (mut agents, mut accounts) = (HashSet::new(), HashSet::new());
    for value in entries {
        let reading = entry::read(value.get()).map_or_else(Reading::Bad, |identity| {
            if agents.contains(&identity.agent_id) {
                Reading::Shadowed(identity, BadEntry::AgentTwice)
            } else if !accounts.insert(identity.discord_user_id) {
                Reading::Shadowed(identity, BadEntry::AccountTwice)
            } else {
                agents.insert(identity.agent_id.clone());
                Reading::Counts(identity)
            }
        });
        parsed.entries.push(Entry { text: value.get().into(), reading });
    }
    Ok(parsed)
}

/// The name of the field with the entries, if an object is around them.
const ENTRIES: &str = "entries";

/// The content of a registry's file: the entries that count, those that do not, and everything that
/// is written back as it was.
///
/// ```
/// let parsed = dirigent_store::parse_identities(b"[]").unwrap();
/// assert_eq!(parsed.identities().count(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ParsedIdentities {
    /// The entries in the order of the file.
    entries: Vec<Entry>,
    /// The object around the entries, if the file is not a plain array.
    wrapper: Option<Wrapper>,
}

/// An entry as it was written, and its meaning.
#[derive(Clone)]
struct Entry {
    text: Box<str>,
    reading: Reading,
}

#[derive(Clone, Debug)]
enum Reading {
    /// It counts.
    Counts(Identity),
    /// It would count if there were no earlier one with the same agent or account.
    Shadowed(Identity, BadEntry),
    /// It cannot be read.
    Bad(BadEntry),
}

#[derive(Clone)]
struct Wrapper {
    /// Its fields before the entries: names, and values as they were written.
    before: Vec<(String, Box<str>)>,
    /// Its fields after the entries.
    after: Vec<(String, Box<str>)>,
}

impl ParsedIdentities {
    /// Returns the entries that count, in the order of the file.
    pub fn identities(&self) -> impl Iterator<Item = &Identity> {
        self.entries.iter().filter_map(|entry| match &entry.reading {
            Reading::Counts(identity) => Some(identity),
            Reading::Shadowed(..) | Reading::Bad(_) => None,
        })
    }

    /// Returns the entry with this account.
    pub fn by_account(&self, account: UserId) -> Option<&Identity> {
        self.identities().find(|identity| identity.discord_user_id == account)
    }

    /// Returns the entry of this agent.
    pub fn by_agent(&self, agent: &AgentId) -> Option<&Identity> {
        self.identities().find(|identity| identity.agent_id == *agent)
    }

    /// Returns the entries that do not count, each with its place in the file, counted from 1, and
    /// the reason.
    pub fn bad_entries(&self) -> Vec<(usize, BadEntry)> {
        let numbered = (1..).zip(&self.entries);
        numbered
            .filter_map(|(number, entry)| match &entry.reading {
                Reading::Counts(_) => None,
                Reading::Shadowed(_, reason) | Reading::Bad(reason) => {
                    Some((number, reason.clone()))
                }
            })
            .collect()
    }

    /// Adds an identity, or gives a known agent a new account or name. Returns true if that changes
    /// anything.
    ///
    /// # Errors
    ///
    /// Returns the agent that has the account.
    pub(super) fn put(&mut self, identity: &Identity) -> Result<bool, AgentId> {
        if let Some(owner) = self.by_account(identity.discord_user_id)
            && owner.agent_id != identity.agent_id
        {
            return Err(owner.agent_id.clone());
        }
        if self.by_agent(&identity.agent_id) == Some(identity) {
            return Ok(false);
        }
        // This is the entry that counts, or else one that does not count because of its account.
        let known = self.entries.iter_mut().filter(|entry| entry.is_of(&identity.agent_id));
        match known.min_by_key(|entry| !matches!(entry.reading, Reading::Counts(_))) {
            Some(known) => *known = Entry::new(identity, Some(&known.text)),
            None => self.entries.push(Entry::new(identity, None)),
        }
        self.put_shadowed_last();
        Ok(true)
    }

    /// Removes an agent with all its entries that can be read, so that none of them starts to
    /// count.
    pub(super) fn remove(&mut self, agent: &AgentId) -> bool {
        let is_known = self.by_agent(agent).is_some();
        if is_known {
            self.entries.retain(|entry| !entry.is_of(agent));
            self.put_shadowed_last();
        }
        is_known
    }

    /// Moves the entries that do not count behind all that do. In their old place, an entry could
    /// start to count after a change of another one. It could then take the account or the place of
    /// an entry that counts today.
    fn put_shadowed_last(&mut self) {
        self.entries.sort_by_key(|entry| matches!(entry.reading, Reading::Shadowed(..)));
    }

    /// Returns the new content of the file. Unchanged entries are written as they were.
    pub(super) fn encode(&self) -> String {
        let entries: Vec<&str> = self.entries.iter().map(|entry| &*entry.text).collect();
        let entries = if entries.is_empty() {
            "[]".to_owned()
        } else {
            format!("[\n  {}\n]", entries.join(",\n  "))
        };
        let Some(Wrapper { before, after }) = &self.wrapper else { return entries + "\n" };
        let field = |(name, value): &(String, Box<str>)| format!("  {}: {value}", quoted(name));
        let mut fields: Vec<String> = before.iter().map(field).collect();
        fields.push(format!("  \"{ENTRIES}\": {entries}"));
        fields.extend(after.iter().map(field));
        format!("{{\n{}\n}}\n", fields.join(",\n"))
    }
}

impl Entry {
    fn new(identity: &Identity, old: Option<&str>) -> Self {
        let text = entry::write(identity, old);
        Self { text, reading: Reading::Counts(identity.clone()) }
    }

    /// Returns true if the entry can be read and belongs to this agent.
    fn is_of(&self, agent: &AgentId) -> bool {
        match &self.reading {
            Reading::Counts(identity) | Reading::Shadowed(identity, _) => {
                identity.agent_id == *agent
            }
            Reading::Bad(_) => false,
        }
    }
}

impl Wrapper {
    fn of(fields: &Fields<'_>) -> Self {
        let mut all = fields.iter().map(|(name, value)| (name.to_owned(), value.into()));
        let before = all.by_ref().take_while(|(name, _)| name != ENTRIES).collect();
        Self { before, after: all.collect() }
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The text can contain private fields.
        self.reading.fmt(f)
    }
}

impl std::fmt::Debug for Wrapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields = self.before.len() + self.after.len();
        f.debug_struct("Wrapper").field("fields", &fields).finish_non_exhaustive()
    }
}
