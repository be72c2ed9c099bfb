//! Moves another store's channels, agents and registry into a PostgreSQL database.

use std::collections::HashSet;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use dirigent::ports::{ApiError, Ownership, RegisterError, Standing};
use dirigent::store::{ChannelStore, Commit, CommitError, Durability, LoadError, Revision};
use dirigent::{ChannelId, Clock, IdentityStore, SystemClock};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::PostgresStore;

/// The number of channels that are moved at once, because the database commits them together.
const AT_ONCE: usize = 64;
/// The longest wait for the leases of all channels. Those of a killed process must expire first.
const LEASES_WITHIN: Duration = Duration::from_secs(60);

/// The counts of what [`PostgresStore::move_from`] moved, or found already moved.
///
/// ```
/// let nothing = dirigent_cluster::Moved::default();
/// assert_eq!((nothing.channels, nothing.agents, nothing.transitions), (0, 0, 0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The channels of the other store.
    pub channels: usize,
    /// The agents of the other store that have a key.
    pub agents: usize,
    /// The agents of the other registry.
    pub registered: usize,
    /// The transitions in histories that this call moved.
    pub transitions: usize,
}

/// The reason why a store was not moved. No data is overwritten in any case: fix the cause, then move again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MoveError {
    /// Other processes use the database. End them first.
    #[error("{0} other processes use this database: end them first")]
    InUse(u16),
    /// The other store has no channel and no agent, for example because its path is wrong.
    #[error("there is no channel and no agent: is it the right file, or the right folder?")]
    Nothing,
    /// The database has data that the other store lacks or has in another form. Move into an empty database.
    #[error("the database is in use already: it has {0}. Move into an empty one")]
    NotEmpty(String),
    /// The database gave no leases within a minute, because a killed process holds channels or the database is away.
    #[error(
        "the database gave this process no lease within a minute: is one of its processes still running?"
    )]
    NoLease,
    /// A channel's record cannot be read, in the other store or in the database. All are read before any is moved.
    #[error("channel {channel} cannot be read: {source}")]
    Load {
        /// The channel.
        channel: ChannelId,
        /// The error in the record.
        source: LoadError,
    },
    /// The database did not store a channel's record.
    #[error("channel {channel} was not stored: {source}")]
    Commit {
        /// The channel.
        channel: ChannelId,
        /// The refusal of the database.
        source: CommitError,
    },
    /// An agent of the other registry cannot be registered.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// One of the two stores failed.
    #[error(transparent)]
    Store(#[from] ApiError),
}

impl PostgresStore {
    /// Moves all channels, histories and agents' keys of another store into this database, and a registry if you pass
    /// one. The other store is only read.
    ///
    /// Run the link of this store, but no driver, and let no other process use the database. You may repeat a move that
    /// was interrupted, because data that is already there is compared and never overwritten. `progress` gets the
    /// number of finished channels, and the number of all.
    ///
    /// ```no_run
    /// use dirigent_cluster::PostgresStore;
    /// use dirigent_store::JsonChannels;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let from = JsonChannels::open("state")?;
    /// let (store, link) = PostgresStore::open("postgresql://bot@localhost/bot").await?;
    /// let link = tokio::spawn(link.run());
    /// let moved = store.move_from(&from, None, |done, of| eprintln!("{done} of {of} channels")).await?;
    /// println!("{} channels are in PostgreSQL", moved.channels);
    /// store.close().await;
    /// link.await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`MoveError`] says what to do. No channel is moved if one cannot be read, or if the database has other data.
    pub async fn move_from(
        &self,
        from: &dyn ChannelStore,
        registry: Option<&dyn IdentityStore>,
        mut progress: impl FnMut(usize, usize) + Send,
    ) -> Result<Moved, MoveError> {
        let channels = from.channels().await?;
        if channels.is_empty() && from.agents().await?.is_empty() {
            return Err(MoveError::Nothing);
        }
        self.hold(&channels).await?;
        let missing = self.missing(from, &channels).await?;
        let mut moved = Moved { channels: channels.len(), ..Moved::default() };
        moved.agents = self.move_agents(from).await?;
        if let Some(registry) = registry {
            moved.registered = self.move_registry(registry).await?;
        }
        let mut done = channels.len() - missing.len();
        progress(done, channels.len());
        let under_way = missing.into_iter().map(|channel| self.move_channel(from, channel));
        let mut under_way = stream::iter(under_way).buffer_unordered(AT_ONCE);
        while let Some(transitions) = under_way.try_next().await? {
            moved.transitions += transitions;
            done += 1;
            progress(done, channels.len());
        }
        Ok(moved)
    }

    /// Waits until this process owns all these channels.
    async fn hold(&self, channels: &[ChannelId]) -> Result<(), MoveError> {
        let clock = SystemClock::new();
        let mut late = pin!(clock.sleep_until(clock.now() + LEASES_WITHIN));
        // The row of a killed move counts as a process until it expires.
        let mut expired = pin!(clock.sleep_until(clock.now() + self.ttl() * 2));
        let mut is_expired = false;
        loop {
            let (shards, processes) = self.share();
            if processes > 1 && is_expired {
                return Err(MoveError::InUse(processes - 1));
            }
            let is_held = |channel: &ChannelId| self.standing(*channel) == Standing::Held;
            if shards > 0 && processes == 1 && channels.iter().all(is_held) {
                return Ok(());
            }
            // `standing` counts a shard only after `changed` returned its channels.
            tokio::select! {
                _ = self.changed() => {}
                () = &mut expired, if !is_expired => is_expired = true,
                () = &mut late => return Err(MoveError::NoLease),
            }
        }
    }

    /// Returns the channels that are not in the database yet. All must be readable, and those in the database equal.
    async fn missing(
        &self,
        from: &dyn ChannelStore,
        channels: &[ChannelId],
    ) -> Result<Vec<ChannelId>, MoveError> {
        let not_empty = |what: String| Err(MoveError::NotEmpty(what));
        let here: HashSet<ChannelId> = self.channels().await?.into_iter().collect();
        let there: HashSet<ChannelId> = channels.iter().copied().collect();
        if let Some(other) = here.difference(&there).next() {
            return not_empty(format!("channel {other}, which the other store does not have"));
        }
        let agents = self.agents().await?;
        if !from.agents().await?.starts_with(&agents) {
            return not_empty("agents that the other store does not have".to_owned());
        }
        let mut missing = Vec::new();
        for channel in channels.iter().copied() {
            let unreadable = |source| MoveError::Load { channel, source };
            let there = from.load(channel).await.map_err(unreadable)?;
            if !here.contains(&channel) {
                missing.push(channel);
            } else if self.load(channel).await.map_err(unreadable)?.map(|it| it.record)
                != there.map(|it| it.record)
            {
                return not_empty(format!("another record of channel {channel}"));
            }
        }
        Ok(missing)
    }

    /// Gives each agent its key from the other store, because records name agents by key.
    async fn move_agents(&self, from: &dyn ChannelStore) -> Result<usize, MoveError> {
        let (agents, known) = (from.agents().await?, self.agents().await?.len());
        for agent in agents.iter().skip(known) {
            self.add_agent(agent.clone()).await?;
        }
        if self.agents().await? != agents {
            return Err(MoveError::NotEmpty("other keys of agents".to_owned()));
        }
        Ok(agents.len())
    }

    async fn move_registry(&self, registry: &dyn IdentityStore) -> Result<usize, MoveError> {
        let (there, here) = (registry.all().await?, IdentityStore::all(self).await?);
        if let Some(other) = here.iter().find(|identity| !there.contains(identity)) {
            let what = format!("agent {} in its registry, which differs", other.agent_id);
            return Err(MoveError::NotEmpty(what));
        }
        for identity in there.iter().filter(|identity| !here.contains(identity)) {
            self.register(identity.clone()).await?;
        }
        Ok(there.len())
    }

    /// Moves a channel. Returns the number of lines in its history.
    async fn move_channel(
        &self,
        from: &dyn ChannelStore,
        channel: ChannelId,
    ) -> Result<usize, MoveError> {
        let stored =
            from.load(channel).await.map_err(|source| MoveError::Load { channel, source })?;
        let Some(stored) = stored else { return Ok(0) };
        let transitions = from.history(channel).await?;
        let lines = transitions.len();
        let commit = Commit {
            channel,
            expected: Revision::default(),
            record: Arc::new(stored.record),
            durability: Durability::Fact,
            transitions: Arc::new(transitions),
            replaces_damaged: false,
        };
        let committed = self.commit(commit).await;
        committed.map_err(|source| MoveError::Commit { channel, source })?;
        Ok(lines)
    }
}
