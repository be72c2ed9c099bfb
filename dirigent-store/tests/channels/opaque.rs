//! A store for which a record is bytes: it knows no field, and keeps the contract.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    Barred, ChannelRecord, ChannelStore, Commit, CommitError, LoadError, Revision, StoredChannel,
};
use dirigent::{AgentId, ChannelId, async_trait};
use dirigent_store::{BadFile, ParsedChannel, parse_channel};
use dirigent_testkit::contract::{self, ChannelStoreHarness};

use crate::channels::record::with_checksum;

/// What a table of a database would hold.
#[derive(Default)]
struct Rows {
    channels: BTreeMap<ChannelId, Vec<u8>>,
    agents: Vec<AgentId>,
}

#[derive(Clone, Default)]
struct Table(Arc<Mutex<Rows>>);

fn barred(error: &BadFile) -> Barred {
    if error.is_other_version() { Barred::OtherVersion } else { Barred::Damaged }
}

fn unreadable(error: BadFile) -> LoadError {
    if error.is_other_version() {
        LoadError::other_version(error)
    } else {
        LoadError::damaged(error)
    }
}

#[async_trait]
impl ChannelStore for Table {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        Ok(self.0.lock().unwrap().channels.keys().copied().collect())
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        let rows = self.0.lock().unwrap();
        let Some(row) = rows.channels.get(&channel) else {
            return Ok(None);
        };
        let ParsedChannel { revision, record, .. } = parse_channel(row).map_err(unreadable)?;
        Ok(Some(StoredChannel { revision, record }))
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let mut rows = self.0.lock().unwrap();
        let known = match rows.channels.get(&commit.channel).map(|row| parse_channel(row)) {
            Some(Ok(known)) => Some(known),
            Some(Err(error)) if commit.replaces_damaged && !error.is_other_version() => None,
            Some(Err(error)) => return Err(barred(&error).into()),
            None => None,
        };
        let found = known.as_ref().map_or(Revision::default(), |known| known.revision);
        if found != commit.expected {
            return Err(CommitError::Conflict { found });
        }
        let (revision, record) = (found.next(), ChannelRecord::clone(&commit.record));
        let next = match known {
            Some(known) => known.with_record(revision, record),
            None => ParsedChannel::new(commit.channel, revision, record),
        };
        let row = next.to_json().map_err(|_| ApiError::new(ErrorKind::Invalid))?;
        rows.channels.insert(commit.channel, row);
        Ok(revision)
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let mut rows = self.0.lock().unwrap();
        match rows.channels.get(&channel).map(|row| parse_channel(row)) {
            Some(Err(error)) if error.is_other_version() => Err(unreadable(error)),
            _ => Ok(rows.channels.remove(&channel).is_some()),
        }
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(self.0.lock().unwrap().agents.clone())
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        let mut rows = self.0.lock().unwrap();
        let at = rows.agents.iter().position(|known| *known == agent);
        let at = at.unwrap_or_else(|| {
            rows.agents.push(agent);
            rows.agents.len() - 1
        });
        Ok(AgentKey::new(u32::try_from(at).unwrap()))
    }
}

#[derive(Default)]
struct Tables(Mutex<HashMap<usize, Table>>);

fn address(store: &Arc<dyn ChannelStore>) -> usize {
    Arc::as_ptr(store).cast::<()>().addr()
}

impl Tables {
    fn open(&self, table: Table) -> Arc<dyn ChannelStore> {
        let store: Arc<dyn ChannelStore> = Arc::new(table.clone());
        self.0.lock().unwrap().insert(address(&store), table);
        store
    }

    fn table(&self, store: &Arc<dyn ChannelStore>) -> Table {
        self.0.lock().unwrap().get(&address(store)).unwrap().clone()
    }
}

#[async_trait]
impl ChannelStoreHarness for Tables {
    fn fresh(&self) -> Arc<dyn ChannelStore> {
        self.open(Table::default())
    }

    async fn reopened(&self, store: Arc<dyn ChannelStore>) -> Option<Arc<dyn ChannelStore>> {
        Some(self.open(self.table(&store)))
    }

    async fn spoilt(
        &self,
        store: Arc<dyn ChannelStore>,
        channel: ChannelId,
        how: Barred,
    ) -> Option<Arc<dyn ChannelStore>> {
        let table = self.table(&store);
        if let Some(row) = table.0.lock().unwrap().channels.get_mut(&channel) {
            let sound = String::from_utf8(row.clone()).unwrap();
            *row = match how {
                Barred::Damaged => row[..row.len() / 2].to_vec(),
                Barred::OtherVersion => {
                    with_checksum(&sound.replacen("\"chat\"", "\"assembly\"", 1)).into_bytes()
                }
            };
        }
        Some(self.open(table))
    }
}

/// N15
#[tokio::test]
async fn a_store_that_knows_no_field_of_a_record_keeps_the_contract() {
    let report = contract::channel_store(&Tables::default()).await.unwrap();
    assert!(!report.left_out().iter().any(|left| left.contains("barred")), "{report:?}");
}

/// N15
#[tokio::test]
async fn what_a_newer_version_adds_to_a_record_survives_in_such_a_store() {
    let (channel, record) = (ChannelId::new(7), ChannelRecord::default());
    let written = ParsedChannel::new(channel, Revision::new(1), record.clone()).to_json().unwrap();
    let written = String::from_utf8(written).unwrap();
    let newer = with_checksum(&written.replacen("\n}\n", ",\n  \"mood\": \"calm\"\n}\n", 1));
    let table = Table::default();
    table.0.lock().unwrap().channels.insert(channel, newer.into_bytes());
    let commit = Commit {
        channel,
        expected: Revision::new(1),
        record: record.into(),
        durability: dirigent::store::Durability::Fact,
        transitions: Arc::default(),
        replaces_damaged: false,
    };
    table.commit(commit).await.unwrap();
    let row = table.0.lock().unwrap().channels[&channel].clone();
    let row = String::from_utf8(row).unwrap();
    assert!(row.contains("\"mood\": \"calm\"") && row.contains("\"revision\": 2"), "{row}");
}
