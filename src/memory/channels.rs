//! Channels in memory: for trying out, for tests, and for hosts that need no restart.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::{
    AgentId, AgentKey, ApiError, ChannelId, ChannelStore, Commit, CommitError, Revision,
    StoredChannel,
};

/// A [`ChannelStore`] that forgets everything when its last clone is dropped.
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
    channels: HashMap<ChannelId, StoredChannel>,
    agents: Vec<AgentId>,
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

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, ApiError> {
        Ok(self.lock().channels.get(&channel).cloned())
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let mut inner = self.lock();
        let found =
            inner.channels.get(&commit.channel).map_or_else(Revision::default, |c| c.revision);
        if found != commit.expected {
            return Err(CommitError::Conflict { found });
        }
        let revision = found.next();
        let old = inner
            .channels
            .insert(commit.channel, StoredChannel { revision, record: commit.record });
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
