//! A store in a PostgreSQL database that several processes share, with the leases that say which process owns which
//! channels.
//!
//! `lines` keeps three connections, and makes lost ones again. The `writer` sends the heartbeats of leases first, then
//! all waiting `commits` as one statement. The `reader` loads all waiting records with one. The `listener` only makes
//! the next look come earlier, because a pooler may hold notifications back. `schema` has the tables and their
//! migrations.

mod address;
mod beat;
mod commits;
mod connect;
mod known;
mod lines;
mod listener;
mod options;
mod owners;
mod ownership;
mod problem;
mod queue;
mod reader;
mod refusal;
mod registry;
mod repeated;
mod schema;
mod writer;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use dirigent::operate::Transition;
use dirigent::ports::{ApiError, ErrorKind, Identity, Ownership, RegisterError, Standing};
use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelStore, Commit, CommitError, LoadError, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId, IdentityStore};
use dirigent_store::parts::{Problems, check_identity};
use dirigent_store::{OpenError, StoreError};

use self::connect::Server;
use self::known::TableCache;
use self::lines::Lines;
pub use self::options::PostgresOptions;
use self::ownership::LeaseDesk;
pub use self::problem::PostgresProblem;
use self::queue::{Committed, Fenced, Jobs, Read, Registered, Write};
use self::registry::RegistryNews;
use crate::lease::shard_of;

/// A [`ChannelStore`], an [`IdentityStore`] and an [`Ownership`] in one PostgreSQL database (13 or newer), for a bot
/// that needs more than one process. Each process acts for its share of the channels, and takes over what another
/// leaves. Clones share it.
///
/// * It does no work until you poll [`PostgresLink::run`], which keeps three connections: one writes, one reads, one
///   listens. Lost ones are made again. It spawns no task and has no pool.
/// * One statement makes all commits that wait: however many channels commit at once, they wait for the disk together.
///   A commit is as durable as the server makes it, even with [`Durability::Turn`](dirigent::store::Durability::Turn).
/// * A commit names the revision that it was made from, and the epoch in which this process holds the channel's shard.
///   If either is out of date, the commit has no effect.
/// * No statement needs a session, so a pooler may stand in between, in any mode (with `pool_mode = statement`, open
///   the store once without it). If the pooler holds notifications back, each process finds changes by looking, up to a
///   tenth of the TTL later, and [`problems`](Self::problems) says so.
/// * A record is the JSON text that [`JsonChannels`](dirigent_store::JsonChannels) writes, names and unknown fields
///   included, with a checksum. The tables stand in the schema `dirigent`: `channels`, `corrupt`, `agents`,
///   `identities`, `history`, `shards`, `members`, `cluster` and `version`. The first `open` makes them. A database of
///   another version is refused and left alone.
/// * While the database is away, every call fails with an error that allows a retry, and rooms wait. Once the leases
///   are no longer trusted, no turn is granted and no message posted until they are renewed.
/// * `register` refuses what [`JsonIdentities`](dirigent_store::JsonIdentities) refuses. Every running process learns
///   of a change of the registry, whatever made it: at once by a notification, or by looking every tenth of the TTL.
///   The driver then reads the registry again.
///
/// Give the opened store to the library three times, and run its link beside the driver:
///
/// ```no_run
/// use dirigent::{Dirigent, DiscordApi};
/// use dirigent_cluster::PostgresStore;
///
/// # async fn example(discord: std::sync::Arc<dyn DiscordApi>) -> Result<(), Box<dyn std::error::Error>> {
/// let (store, link) = PostgresStore::open("postgresql://bot@db.internal/bot").await?;
/// let (dirigent, driver) = Dirigent::builder(discord)
///     .channels(store.clone())
///     .identities(store.clone())
///     .ownership(store.clone())
///     .build()?;
/// let link = tokio::spawn(link.run());
/// let driver = tokio::spawn(driver.run());
/// # let signal = async {};
/// signal.await;
/// // Resign, drain, stop: the others learn of it first; what is under way ends; then all shards are free at once.
/// store.resign();
/// dirigent.shutdown(std::time::Duration::from_secs(5)).await;
/// store.close().await;
/// # let _ = (link, driver);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct PostgresStore {
    shared: Arc<TableAccess>,
}

/// The state that the store and its link share.
struct TableAccess {
    server: Server,
    history_max: usize,
    shards: u16,
    problems: Problems<PostgresProblem>,
    known: TableCache,
    jobs: Jobs,
    desk: LeaseDesk,
    registry: RegistryNews,
}

/// Keeps the connections of a [`PostgresStore`]. Run it once, beside the driver.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let (store, link) = dirigent_cluster::PostgresStore::open("postgresql://bot@localhost/bot").await?;
/// let link = tokio::spawn(link.run());
/// store.close().await;
/// link.await?;
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is read or written until the link runs"]
pub struct PostgresLink {
    shared: Arc<TableAccess>,
}

impl TableAccess {
    /// Remembers a refusal of the server as a problem, unless it ends by itself.
    fn heed(&self, error: &StoreError) {
        if let StoreError::Server { code: Some(code), why, .. } = error
            && refusal::is_lasting(code)
        {
            self.problems.push(PostgresProblem::Refused { code: code.clone(), why: why.clone() });
        }
    }
}

impl PostgresStore {
    /// Opens the database: makes the tables if there are none, and checks that they belong to this version and this
    /// cluster. You can pass the address alone, in libpq's form. If another process makes the tables at the same time,
    /// it waits for up to three TTLs.
    ///
    /// # Errors
    ///
    /// * [`BadFile::OtherVersion`](dirigent_store::BadFile::OtherVersion): another version made the tables.
    /// * [`OpenError::OtherCluster`]: the tables are another cluster's, or were made with another number of shards or
    ///   another TTL.
    /// * [`StoreError::Server`]: the server or the network refused, for example because the server is older than
    ///   PostgreSQL 13, the role lacks a right, or the database does not exist.
    /// * [`StoreError::Io`]: the address cannot be used.
    pub async fn open(
        options: impl Into<PostgresOptions>,
    ) -> Result<(Self, PostgresLink), OpenError> {
        let options = options.into();
        let (history_max, shards, terms) = (options.history_max, options.shards, options.terms);
        let server = Server::new(options)?;
        let fitness = schema::prepare(&server).await?;
        let desk = LeaseDesk::new(terms, shards, Arc::clone(&server.clock));
        let shared = Arc::new(TableAccess {
            server,
            history_max,
            shards,
            problems: Problems::default(),
            known: TableCache::default(),
            jobs: Jobs::default(),
            desk,
            registry: RegistryNews::default(),
        });
        if let Some(problem) = fitness {
            shared.problems.push(problem);
        }
        Ok((Self { shared: Arc::clone(&shared) }, PostgresLink { shared }))
    }

    /// Returns the database's first address as `postgresql://host:port/database`, without user and password.
    pub fn address(&self) -> &Path {
        &self.shared.server.address
    }

    /// Returns what an operator should look at, for example records that could not be read: the first thousand problems
    /// since the store was opened.
    pub fn problems(&self) -> Vec<PostgresProblem> {
        self.shared.problems.all()
    }

    /// Returns how many shards this process holds, trusted or not, and how many processes there were at its last look.
    ///
    /// ```no_run
    /// # fn example(store: &dirigent_cluster::PostgresStore) {
    /// let (shards, processes) = store.share();
    /// println!("{shards} shards of 256, as one of {processes}");
    /// # }
    /// ```
    pub fn share(&self) -> (usize, u16) {
        self.shared.desk.share()
    }

    pub(crate) fn ttl(&self) -> Duration {
        self.shared.server.terms.ttl
    }

    /// Returns how many shards this process has taken since its start. If the number rises while you start and end no
    /// process, one was lost, or renews too late.
    pub fn taken(&self) -> u64 {
        self.shared.desk.taken()
    }

    /// Tells the other processes that this one will end. It takes no more shards, and starts no new turn in its own.
    /// The others learn of it within a tenth of the TTL. Call [`Dirigent::shutdown`](dirigent::Dirigent::shutdown) and
    /// [`close`](Self::close) next.
    pub fn resign(&self) {
        self.shared.desk.resign();
    }

    /// Gives all shards back, so that other processes take them at once, finishes waiting work, and ends the link.
    /// Later calls fail with [`StoreError::Closed`]. If the database is away, the shards expire within a TTL.
    pub async fn close(&self) {
        self.shared.desk.end();
        self.shared.jobs.closed().await;
    }

    fn fence(&self, channel: ChannelId) -> Option<Fenced> {
        let shard = shard_of(channel, self.shared.shards);
        self.shared.desk.epoch(shard).map(|epoch| Fenced { shard, epoch })
    }

    async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(queue::LeaseAnswer<T>) -> Read + Send,
    ) -> Result<T, StoreError> {
        self.shared.jobs.read(&self.shared.server.address, read).await
    }

    async fn write<T: Send + 'static>(
        &self,
        write: impl FnOnce(queue::LeaseAnswer<T>) -> Write + Send,
    ) -> Result<T, StoreError> {
        self.shared.jobs.write(&self.shared.server.address, write).await
    }
}

impl PostgresLink {
    /// Keeps the connections until the store is [closed](PostgresStore::close).
    ///
    /// # Cancellation
    ///
    /// If you drop the future, the shards expire, as if the process had ended.
    pub async fn run(self) {
        let shared = &*self.shared;
        let lines = Lines::new(shared);
        tokio::select! {
            () = lines.write() => {}
            () = lines.read() => {}
            () = lines.listen() => {}
        }
        shared.jobs.close(&shared.server.address);
    }
}

impl Drop for PostgresLink {
    fn drop(&mut self) {
        self.shared.desk.drop_all();
        self.shared.jobs.close(&self.shared.server.address);
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("address", &self.address()).finish_non_exhaustive()
    }
}

impl fmt::Debug for PostgresLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.shared.server.address;
        f.debug_struct("PostgresLink").field("address", address).finish_non_exhaustive()
    }
}

#[async_trait]
impl ChannelStore for PostgresStore {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        Ok(self.read(Read::Channels).await?)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        Ok(self.read(|answer| Read::Load(channel, answer)).await?)
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let Some(fence) = self.fence(commit.channel) else {
            return Err(CommitError::Elsewhere);
        };
        match self.write(|answer| Write::Commit(Box::new(commit), fence, answer)).await? {
            Committed::Done(revision) => Ok(revision),
            Committed::Conflict(found) => Err(CommitError::Conflict { found }),
            Committed::Elsewhere => Err(CommitError::Elsewhere),
        }
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let Some(fence) = self.fence(channel) else {
            return Err(elsewhere().into());
        };
        let deleted = self.write(|answer| Write::Delete(channel, fence, answer)).await?;
        deleted.ok_or_else(|| elsewhere().into())
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(self.read(Read::Agents).await?)
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        Ok(self.write(|answer| Write::AddAgent(agent, answer)).await?)
    }

    fn history_max(&self) -> usize {
        self.shared.history_max
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        Ok(self.read(|answer| Read::History(channel, answer)).await?)
    }
}

/// The error for a channel that another process owns.
fn elsewhere() -> ApiError {
    ApiError::new(ErrorKind::Store).with_source(CommitError::Elsewhere)
}

#[async_trait]
impl IdentityStore for PostgresStore {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        Ok(self.read(Read::Identities).await?)
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        check_identity(&identity)
            .map_err(|bad| ApiError::new(ErrorKind::Invalid).with_source(bad))?;
        let registered = self.write(|answer| Write::Register(identity, answer)).await;
        match registered.map_err(ApiError::from)? {
            Registered::Done => Ok(()),
            Registered::Taken(owner) => Err(RegisterError::AccountTaken { owner }),
        }
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        Ok(self.write(|answer| Write::Unregister(agent, answer)).await?)
    }

    async fn changed_elsewhere(&self) {
        self.shared.registry.changed().await;
    }
}

#[async_trait]
impl Ownership for PostgresStore {
    fn standing(&self, channel: ChannelId) -> Standing {
        self.shared.desk.standing(shard_of(channel, self.shared.shards))
    }

    fn owner(&self, channel: ChannelId) -> Option<Arc<str>> {
        self.shared.desk.owner(shard_of(channel, self.shared.shards))
    }

    fn processes(&self) -> Vec<Arc<str>> {
        self.shared.desk.processes()
    }

    async fn changed(&self) -> Vec<ChannelId> {
        self.shared
            .desk
            .changed(|shards| self.read(|answer| Read::ChannelsOf(shards, answer)))
            .await
    }
}
