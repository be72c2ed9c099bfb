//! Channels in memory: for trying out, for tests, and for hosts that need no restart.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::resting::Resting;
use crate::{
    AgentId, AgentKey, ApiError, ChannelId, ChannelStore, Commit, CommitError, LoadError, Revision,
    StoredChannel,
};

/// A [`ChannelStore`] that forgets everything when its last clone is dropped. Its records are never
/// damaged and never newer than the library.
///
/// ```
/// let store = dirigent::MemoryChannels::default();
/// let same = store.clone();
/// # let _ = same;
/// ```
#[derive(Clone, Debug, Default)]
pub struct MemoryChannels {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    channels: HashMap<ChannelId, Kept>,
    agents: Vec<AgentId>,
}

/// A record, in as little room as its channel needs.
#[derive(Debug)]
enum Kept {
    Awake(Box<StoredChannel>),
    Resting(Revision, Box<Resting>),
}

impl Kept {
    fn new(stored: StoredChannel) -> Self {
        match Resting::of(&stored.record) {
            Some(resting) => Self::Resting(stored.revision, resting),
            None => Self::Awake(Box::new(stored)),
        }
    }

    const fn revision(&self) -> Revision {
        match self {
            Self::Awake(stored) => stored.revision,
            Self::Resting(revision, _) => *revision,
        }
    }

    fn stored(&self) -> StoredChannel {
        match self {
            Self::Awake(stored) => StoredChannel::clone(stored),
            Self::Resting(revision, resting) => {
                StoredChannel { revision: *revision, record: resting.record() }
            }
        }
    }
}

impl MemoryChannels {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ChannelStore for MemoryChannels {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        let mut known: Vec<_> = self.lock().channels.keys().copied().collect();
        known.sort_unstable();
        Ok(known)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        Ok(self.lock().channels.get(&channel).map(Kept::stored))
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let mut inner = self.lock();
        let kept = inner.channels.get(&commit.channel);
        let found = kept.map_or_else(Revision::default, Kept::revision);
        if found != commit.expected {
            return Err(CommitError::Conflict { found });
        }
        let revision = found.next();
        let stored = Kept::new(StoredChannel { revision, record: commit.record });
        let old = inner.channels.insert(commit.channel, stored);
        drop(inner);
        drop(old);
        Ok(revision)
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(self.lock().agents.clone())
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        let mut inner = self.lock();
        let at = inner.agents.iter().position(|known| *known == agent).unwrap_or_else(|| {
            inner.agents.push(agent);
            inner.agents.len() - 1
        });
        u32::try_from(at)
            .map(AgentKey::new)
            .map_err(|_| ApiError::new(crate::ErrorKind::Store).with_source("no more agent keys"))
    }
}
