//! A store that hangs or fails when a test wants it.

use std::sync::{Arc, Mutex};

use dirigent::ports::{ApiError, ErrorKind};
use dirigent::snapshot::AgentKey;
use dirigent::store::{
    ChannelStore, Commit, CommitError, LoadError, MemoryChannels, Revision, StoredChannel,
};
use dirigent::{AgentId, ChannelId};
use tokio::sync::watch;

/// A store in memory with troubles. Clones are the same store.
#[derive(Clone)]
pub(crate) struct TroubledStore {
    inner: Arc<MemoryChannels>,
    troubles: watch::Sender<Troubles>,
    /// Every load that began.
    loads: Arc<Mutex<Vec<ChannelId>>>,
}

#[derive(Default)]
struct Troubles {
    /// Loads of these do not return.
    hanging: Vec<ChannelId>,
    /// Loads of these fail at once.
    failing: Vec<ChannelId>,
    /// No commit returns.
    commits_hang: bool,
}

impl TroubledStore {
    pub(crate) fn new() -> Self {
        let troubles = watch::Sender::new(Troubles::default());
        Self { inner: Arc::default(), troubles, loads: Arc::default() }
    }

    /// From now on these channels, and no others, are not loaded.
    pub(crate) fn hang(&self, channels: &[ChannelId]) {
        self.troubles.send_modify(|troubles| troubles.hanging = channels.to_vec());
    }

    /// From now on loads of these channels, and of no others, fail at once.
    pub(crate) fn fail(&self, channels: &[ChannelId]) {
        self.troubles.send_modify(|troubles| {
            (troubles.hanging, troubles.failing) = (Vec::new(), channels.to_vec());
        });
    }

    pub(crate) fn hang_commits(&self, hang: bool) {
        self.troubles.send_modify(|troubles| troubles.commits_hang = hang);
    }

    pub(crate) fn loads_of(&self, channel: ChannelId) -> usize {
        self.loads.lock().unwrap().iter().filter(|loaded| **loaded == channel).count()
    }

    /// Whether anything is stored of the channel.
    pub(crate) async fn holds(&self, channel: ChannelId) -> bool {
        self.inner.load(channel).await.unwrap().is_some()
    }
}

#[dirigent::async_trait]
impl ChannelStore for TroubledStore {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        self.inner.channels().await
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        self.loads.lock().unwrap().push(channel);
        let mut troubles = self.troubles.subscribe();
        let hang = troubles.wait_for(|troubles| !troubles.hanging.contains(&channel)).await;
        let fails = hang.unwrap().failing.contains(&channel);
        if fails {
            return Err(ApiError::new(ErrorKind::Store).into());
        }
        self.inner.load(channel).await
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        self.troubles.subscribe().wait_for(|troubles| !troubles.commits_hang).await.unwrap();
        self.inner.commit(commit).await
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        self.inner.delete(channel).await
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        self.inner.agents().await
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        self.inner.add_agent(agent).await
    }
}
