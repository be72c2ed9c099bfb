//! What is known of rows that were read or written: it saves a read before a commit, and decides nothing.

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

/// What is known of the tables.
#[derive(Default)]
pub(super) struct TableCache {
    channels: Mutex<HashMap<ChannelId, KnownChannel>>,
    agents: Mutex<Agents>,
}

struct KnownChannel {
    revision: Revision,
    /// What a newer version wrote, to be written again.
    extras: Option<Box<Extras>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl TableCache {
    /// Whether the channel is known to be at this revision.
    pub(super) fn is_at(&self, channel: ChannelId, revision: Revision) -> bool {
        locked(&self.channels).get(&channel).is_some_and(|known| known.revision == revision)
    }

    /// The row of a channel was read.
    pub(super) fn learn(&self, channel: ChannelId, revision: Revision, extras: Extras) {
        let extras = (!extras.is_empty()).then(|| Box::new(extras));
        locked(&self.channels).insert(channel, KnownChannel { revision, extras });
    }

    /// The row of a channel was written.
    pub(super) fn wrote(&self, channel: ChannelId, revision: Revision) {
        let mut channels = locked(&self.channels);
        let fresh = KnownChannel { revision, extras: None };
        channels.entry(channel).or_insert(fresh).revision = revision;
    }

    pub(super) fn forget(&self, channel: ChannelId) {
        locked(&self.channels).remove(&channel);
    }

    /// The text of a record, with what a newer version wrote into the one before.
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

    /// The agents were read. Keys whose rows were removed from outside keep their places.
    pub(super) fn set_agents(&self, names: BTreeMap<AgentKey, AgentId>) {
        let is_whole = names.keys().zip(0..).all(|(key, place)| key.get() == place);
        *locked(&self.agents) =
            if is_whole { Agents::new(names.into_values().collect()) } else { rebuild(&names) };
    }

    /// Does something with the agents.
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
    // The next commit counts on.
    if revision.get() == u64::MAX {
        return Err(BadFile::UnknownValue);
    }
    Ok((revision, parse_sound_record(text)?))
}
