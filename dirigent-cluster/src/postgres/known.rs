//! Caches rows that were read or written, which saves a read before a commit. The statement checks the revision anyway.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelRecord, Revision};
use dirigent::{AgentId, ChannelId};
use dirigent_store::parts::{
    Agents, Extras, LARGEST, WrittenRecord, parse_sound_record, rebuild, record_checksum,
    record_text,
};
use dirigent_store::{BadFile, Unwritable};

#[derive(Default)]
pub(super) struct TableCache {
    channels: Mutex<HashMap<ChannelId, KnownChannel>>,
    agents: Mutex<Agents>,
}

struct KnownChannel {
    revision: Revision,
    /// Fields that a newer version wrote, to be written back.
    extras: Option<Box<Extras>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TableCache {
    /// Returns whether the channel is cached at this revision.
    pub(super) fn is_at(&self, channel: ChannelId, revision: Revision) -> bool {
        locked(&self.channels).get(&channel).is_some_and(|known| known.revision == revision)
    }

    /// Takes the row of a channel that was read.
    pub(super) fn learn(&self, channel: ChannelId, revision: Revision, extras: Extras) {
        let extras = (!extras.is_empty()).then(|| Box::new(extras));
        locked(&self.channels).insert(channel, KnownChannel { revision, extras });
    }

    /// Takes the row of a channel that was written.
    pub(super) fn wrote(&self, channel: ChannelId, revision: Revision) {
        let mut channels = locked(&self.channels);
        let fresh = KnownChannel { revision, extras: None };
        channels.entry(channel).or_insert(fresh).revision = revision;
    }

    pub(super) fn forget(&self, channel: ChannelId) {
        locked(&self.channels).remove(&channel);
    }

    /// Returns the text of a record, with the fields that a newer version wrote into the one before.
    pub(super) fn text(
        &self,
        channel: ChannelId,
        record: &ChannelRecord,
    ) -> Result<Vec<u8>, Unwritable> {
        let names = locked(&self.agents).of(record);
        let channels = locked(&self.channels);
        if let Some(extras) = channels.get(&channel).and_then(|known| known.extras.as_ref()) {
            return record_text(record, &names, extras);
        }
        drop(channels);
        record_text(record, &names, &Extras::default())
    }

    /// Replaces the agents. If rows were removed by hand, the other agents keep their keys.
    pub(super) fn set_agents(&self, names: BTreeMap<AgentKey, AgentId>) {
        let is_whole = names.keys().zip(0..).all(|(key, place)| key.get() == place);
        *locked(&self.agents) =
            if is_whole { Agents::new(names.into_values().collect()) } else { rebuild(&names) };
    }

    pub(super) fn with_agents<T>(&self, work: impl FnOnce(&Agents) -> T) -> T {
        work(&locked(&self.agents))
    }
}

/// Reads a row of a channel.
pub(super) fn parse(
    channel: ChannelId,
    revision: i64,
    checksum: &str,
    text: &str,
) -> Result<(Revision, WrittenRecord), BadFile> {
    if text.len() > LARGEST {
        return Err(BadFile::TooLarge { limit: LARGEST });
    }
    let revision = Revision::new(revision.cast_unsigned());
    if record_checksum(channel, revision, text.as_bytes()) != checksum {
        return Err(BadFile::Checksum);
    }
    // The next commit adds one.
    if revision.get() == u64::MAX {
        return Err(BadFile::UnknownValue);
    }
    Ok((revision, parse_sound_record(text)?))
}
