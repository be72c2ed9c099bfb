//! The agents with keys, in their own file.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::Path;

use dirigent::AgentId;
use dirigent::snapshot::AgentKey;
use dirigent::store::ChannelRecord;
use dirigent_core::snapshot::State;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::disk::replace;
use crate::error::{Action, BadFile, StoreError};
use crate::record::fields::quoted;
use crate::record::{Extra, other_version};

/// The version that this crate writes, and the only one that it reads. The records beside it have the same version, so
/// the store refuses a whole folder of an older version.
const VERSION: u64 = 2;

pub(crate) const LARGEST: usize = 64 << 20;

const REBUILT_MAX: u32 = 1 << 20;

const SHAPE: &str = "a list of agents";

/// The agents in the order of their keys. The first key is 0.
#[derive(Debug, Default)]
pub struct Agents {
    names: Vec<AgentId>,
    keys: HashMap<AgentId, AgentKey>,
    /// Fields that a newer version wrote. They are written back.
    extra: Extra,
}

#[derive(Deserialize)]
struct AgentsFile<'a> {
    version: u64,
    checksum: String,
    #[serde(borrow)]
    agents: &'a RawValue,
}

const FIELDS: [&str; 3] = ["version", "checksum", "agents"];

impl Agents {
    /// Creates the list of agents in this order. An agent that is listed twice has the first of its keys.
    pub fn new(names: Vec<AgentId>) -> Self {
        let mut keys = HashMap::with_capacity(names.len());
        for (name, key) in names.iter().zip(0..) {
            keys.entry(name.clone()).or_insert(AgentKey::new(key));
        }
        Self { names, keys, extra: Extra::default() }
    }

    pub(crate) fn parse(content: &[u8]) -> Result<Self, BadFile> {
        let text = std::str::from_utf8(content).map_err(|_| BadFile::NotText)?;
        let file = match serde_json::from_str::<AgentsFile<'_>>(text) {
            Ok(file) if file.version == VERSION => file,
            other => {
                let unread = other.err().map(|error| BadFile::not_read(&error, SHAPE));
                let unread = other_version(text, VERSION).or(unread);
                return Err(unread.unwrap_or(BadFile::WrongShape { expected: SHAPE }));
            }
        };
        if checksum(file.agents.get()) != file.checksum {
            return Err(BadFile::Checksum);
        }
        let names = serde_json::from_str(file.agents.get())
            .map_err(|_| BadFile::WrongShape { expected: SHAPE })?;
        Ok(Self { extra: Extra::of(text, &FIELDS), ..Self::new(names) })
    }

    fn to_json(&self) -> Vec<u8> {
        let names: Vec<_> = self.names.iter().map(|name| quoted(name.as_str())).collect();
        let agents = format!("[{}]", names.join(", "));
        let checksum = checksum(&agents);
        let mut file = format!(
            "{{\n  \"version\": {VERSION},\n  \"checksum\": \"{checksum}\",\n  \"agents\": {agents}"
        );
        for (name, value) in self.extra.iter() {
            file.extend([",\n  ", &quoted(name), ": ", value]);
        }
        file.push_str("\n}\n");
        file.into_bytes()
    }

    /// Returns the names of all agents.
    pub fn names(&self) -> &[AgentId] {
        &self.names
    }

    /// Returns the key of an agent if it has one.
    pub fn key(&self, agent: &AgentId) -> Option<AgentKey> {
        self.keys.get(agent).copied()
    }

    /// Returns the name of an agent if it is known.
    pub fn name(&self, key: AgentKey) -> Option<&AgentId> {
        self.names.get(usize::try_from(key.get()).ok()?)
    }

    /// Adds an agent with the next key. Returns `None` if there is no key left.
    pub(crate) fn add(&mut self, agent: AgentId) -> Option<AgentKey> {
        let key = AgentKey::new(u32::try_from(self.names.len()).ok()?);
        self.names.push(agent.clone());
        self.keys.insert(agent, key);
        Some(key)
    }

    /// Removes the last agent again.
    fn take_back(&mut self) {
        if let Some(agent) = self.names.pop() {
            self.keys.remove(&agent);
        }
    }

    /// Gives an agent a key, unless it has one. The key is in the file before it is used.
    pub(super) fn register(&mut self, agent: AgentId, path: &Path) -> Result<AgentKey, StoreError> {
        if let Some(key) = self.key(&agent) {
            return Ok(key);
        }
        let no_more = || io::Error::other("no more agent keys");
        let key = self.add(agent);
        let key = key.ok_or_else(|| StoreError::not_done(Action::Write, path, no_more()))?;
        replace(path, &self.to_json()).inspect_err(|_| self.take_back())?;
        Ok(key)
    }

    /// Returns the names of the agents in a record.
    pub fn of(&self, record: &ChannelRecord) -> BTreeMap<AgentKey, AgentId> {
        let State { roster, standing, .. } = &record.snapshot.state;
        let listed = roster.list.slots.iter().map(|slot| slot.agent);
        let muted = roster.muted.get().into_iter().flatten();
        let others = muted.copied().chain(standing.initiator);
        let replies = record.outgoing.iter().map(|reply| reply.agent);
        let keys = listed
            .chain(others)
            .chain(replies)
            .chain(record.handed.iter().map(|handed| handed.agent));
        keys.filter_map(|key| Some((key, self.name(key)?.clone()))).collect()
    }
}

fn checksum(agents: &str) -> String {
    let mut sum = crc32fast::Hasher::new();
    sum.update(format!("{VERSION} agents ").as_bytes());
    sum.update(agents.as_bytes());
    format!("{:08x}", sum.finalize())
}

/// Rebuilds the agents from the names in the channels' files. A key that no channel uses gets a name that no agent has.
pub fn rebuild(names: &BTreeMap<AgentKey, AgentId>) -> Agents {
    let names: BTreeMap<_, _> = names.range(..AgentKey::new(REBUILT_MAX)).collect();
    let count = names.last_key_value().map_or(0, |(key, _)| key.get().saturating_add(1));
    let name = |key| {
        let lost = || AgentId::from(format!("lost agent {key}"));
        names.get(&AgentKey::new(key)).map_or_else(lost, |name| AgentId::clone(name))
    };
    Agents::new((0..count).map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_come_back_as_they_were_written_and_so_does_what_is_not_known() {
        let mut agents = Agents::default();
        for name in ["zoe", "line\nbreak \"quoted\"", "東京"] {
            agents.add(name.into()).unwrap();
        }
        let file = String::from_utf8(agents.to_json()).unwrap();
        let newer =
            file.replace("\n}\n", ",\n  \"newer\": [123456789012345678901234567890, 1]\n}\n");
        let again = Agents::parse(newer.as_bytes()).unwrap();
        assert_eq!(again.names(), agents.names());
        assert_eq!(String::from_utf8(again.to_json()).unwrap(), newer);
    }

    #[test]
    fn what_was_changed_is_refused() {
        let file = Agents::new(vec!["zoe".into(), "adam".into()]).to_json();
        for at in 0..file.len() {
            assert!(Agents::parse(&file[..at.min(file.len() - 2)]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut flipped = file.clone();
                flipped[at] ^= 1 << bit;
                assert!(Agents::parse(&flipped).is_err(), "bit {bit} of byte {at}");
            }
        }
    }

    #[test]
    fn lost_keys_keep_their_places() {
        let names = [(AgentKey::new(2), "mia".into()), (AgentKey::new(0), "zoe".into())];
        let agents = rebuild(&names.into_iter().collect());
        assert_eq!(agents.key(&"mia".into()), Some(AgentKey::new(2)));
        assert_eq!(agents.names().len(), 3);
    }
}
