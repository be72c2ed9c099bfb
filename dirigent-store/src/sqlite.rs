//! The store in one SQLite database. `open` locks and checks it, `work` is the thread that runs all work, and a `task`
//! is the work for one caller. `group` puts all waiting tasks into one transaction, and runs each by itself if that
//! fails. `sync` waits for the disk while the next transaction is made.

mod group;
mod open;
mod options;
mod problem;
mod refusal;
mod registry;
#[cfg(test)]
mod stage;
mod sync;
mod tables;
mod task;
mod work;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use dirigent::operate::Transition;
use dirigent::ports::{ApiError, ErrorKind, Identity, RegisterError};
use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelStore, Commit, CommitError, LoadError, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId, IdentityStore};

use self::open::Database;
pub use self::options::{FileDurability, SqliteOptions};
pub use self::problem::SqliteProblem;
use self::registry::identities;
use self::tables::{Tables, channels};
use self::task::{Asked, Task};
use self::work::Work;
use crate::error::{OpenError, StoreError};
use crate::json::identities::entry;
use crate::problems::Problems;
use crate::worker::{About, Worker};

/// A [`ChannelStore`] and an [`IdentityStore`] in one SQLite database, for example for a bot with thousands of channels
/// that talk at the same time. Clones share it.
///
/// * All waiting work is done in one transaction and answered after its commit. So any number of channels that commit
///   at the same time wait for the disk together.
/// * A commit is on the disk when it returns, even with [`Durability::Turn`](dirigent::store::Durability::Turn). One
///   sync is short compared with a post, and all commits that wait share it. A history is committed with its record.
/// * A record is the JSON text that [`JsonChannels`](crate::JsonChannels) writes, with the names, the unknown fields
///   and a checksum. An edited record counts as corrupt. The tables are `channels`, `corrupt`, `agents`, `identities`
///   and `history`.
/// * One process has the database open at a time, and no other program can open it in the meantime. It stays locked
///   until you [close](Self::close) it or every clone is dropped. A [`Dirigent`](dirigent::Dirigent) and its
///   [`Driver`](dirigent::Driver) have clones, too.
/// * If the file is not a complete database, the store does not open it and does not change it, because without it
///   every channel would count as new. SQLite's own tools (`.recover`) can save a part of it.
///   [`open_or_begin_anew`](Self::open_or_begin_anew) renames it to `<name>.corrupt-N`, renames the files beside it to
///   `<name>.corrupt-N-wal` and so on, and starts empty.
/// * A single damaged record makes its channel unusable, but no other channel. The channel loads as
///   [`Barred::Damaged`](dirigent::store::Barred) until a commit [replaces the record](Commit::replaces_damaged), which
///   moves it to the table `corrupt`. If a record is complete but this version cannot interpret it, the channel loads
///   as [`Barred::OtherVersion`](dirigent::store::Barred), and the record is never changed.
///   [`problems`](Self::problems) lists both kinds.
/// * A database of another version or of another program is not corrupt. It is not opened and not changed.
/// * A failed write changes nothing, and you may repeat it. After a failed sync the content of the disk is unknown, so
///   all further calls return [`StoreError::Broken`] until you open the store again. Damage that is found while the
///   database is open also ends it, with a [`StoreError::BadFile`].
/// * Deleted and replaced data is overwritten with zeros. But the write-ahead log has older states until it is emptied.
///   That happens a minute after a write to it, at a [`delete`](ChannelStore::delete), and when the store is closed.
/// * `register` refuses the same entries as [`JsonIdentities`](crate::JsonIdentities).
///
/// All work happens on two threads of the store, and one of them waits for the disk. They start when it is
/// opened, and they are joined when the last clone is dropped.
///
/// ```
/// use std::sync::Arc;
/// use dirigent::ChannelId;
/// use dirigent::store::{ChannelRecord, ChannelStore, Commit, Durability, Revision};
/// use dirigent_store::SqliteStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let store = SqliteStore::open(folder.path().join(SqliteStore::FILE_NAME))?;
/// let commit = Commit {
///     channel: ChannelId::new(123456789012345678),
///     expected: Revision::default(),
///     record: ChannelRecord::default().into(),
///     durability: Durability::Fact,
///     transitions: Vec::new().into(),
///     replaces_damaged: false,
/// };
/// assert_eq!(store.commit(commit).await?, Revision::new(1));
/// store.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqliteStore {
    shared: Arc<DatabaseWorker>,
}

#[derive(Debug)]
struct DatabaseWorker {
    history_max: usize,
    problems: Arc<Problems<SqliteProblem>>,
    worker: Worker<Box<dyn Task>>,
}

impl SqliteStore {
    /// The usual name of the file.
    pub const FILE_NAME: &str = "dirigent.sqlite";

    /// Opens the database and checks it. If the file or its folder is missing, it is created. This works on the calling
    /// thread, so open the store before the runtime has anything to do.
    ///
    /// # Errors
    ///
    /// Returns [`OpenError::InUse`] if the database is already open, and [`OpenError::Damaged`] if it is not a complete
    /// database. Returns [`BadFile::OtherVersion`](crate::BadFile::OtherVersion) if another version wrote it, and
    /// [`BadFile::WrongShape`](crate::BadFile::WrongShape) if another program did. Otherwise returns the error of the
    /// system.
    pub fn open(options: impl Into<SqliteOptions>) -> Result<Self, OpenError> {
        Self::open_as(options.into(), false)
    }

    /// Opens the database like [`open`](Self::open). But a damaged database gets another name, and the store starts
    /// empty. Every channel then counts as new, so every agent may speak in it. Every stop, hold, mode, discussion and
    /// registration is lost. Call this only if an operator has decided it. [`problems`](Self::problems) has the path of
    /// the damaged database.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open), except [`OpenError::Damaged`].
    pub fn open_or_begin_anew(options: impl Into<SqliteOptions>) -> Result<Self, OpenError> {
        Self::open_as(options.into(), true)
    }

    fn open_as(options: SqliteOptions, begins_anew: bool) -> Result<Self, OpenError> {
        let SqliteOptions { path, durability, history_max } = options;
        let (database, kept) = Database::open(&path, begins_anew)?;
        let path = database.path.clone();
        let problems = Arc::new(Problems::default());
        if let Some(problem) = kept {
            problems.push(problem);
        }
        let work = Work::new(database, durability, history_max, Arc::clone(&problems))?;
        let worker = Worker::start("dirigent-sqlite", path, move |jobs| work.run(jobs))?;
        Ok(Self { shared: Arc::new(DatabaseWorker { history_max, problems, worker }) })
    }

    /// Returns the path of the database, with links resolved.
    pub fn path(&self) -> &Path {
        self.shared.worker.path()
    }

    /// Returns the data that could not be read since the store was opened, but only the first 1,000 problems.
    pub fn problems(&self) -> Vec<SqliteProblem> {
        self.shared.problems.all()
    }

    /// Finishes the requested work and unlocks the database. All of it is then in one file, if the disk has room. All
    /// later calls return [`StoreError::Closed`].
    ///
    /// # Errors
    ///
    /// Returns an error if a panic ended the thread early. Every commit that was answered is on the disk.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.shared.worker.close().await
    }

    /// Sends work to the thread. It is done even if its caller stops waiting for the answer.
    async fn ask<T, F>(&self, about: About, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let job = |answer| -> Box<dyn Task> { Box::new(Asked::new(work, false, answer)) };
        self.shared.worker.call(about, job).await
    }
}

#[async_trait]
impl ChannelStore for SqliteStore {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        Ok(self.ask(About::Rest, channels).await?)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        Ok(self.ask(About::Read(channel), move |tables| tables.load(channel)).await?)
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let about = About::Change(commit.channel);
        let committed = self.ask(about, move |tables| tables.commit(&commit)).await;
        committed?.map_err(|found| CommitError::Conflict { found })
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let delete = move |tables: &mut Tables<'_>| tables.delete(channel);
        let job = |answer| -> Box<dyn Task> { Box::new(Asked::new(delete, true, answer)) };
        Ok(self.shared.worker.call(About::Change(channel), job).await?)
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(self.ask(About::Rest, |tables| Ok(tables.agents())).await?)
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        Ok(self.ask(About::Rest, move |tables| tables.add_agent(&agent)).await?)
    }

    fn history_max(&self) -> usize {
        self.shared.history_max
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        Ok(self.ask(About::Read(channel), move |tables| tables.history(channel)).await?)
    }
}

#[async_trait]
impl IdentityStore for SqliteStore {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        Ok(self.ask(About::Rest, identities).await?)
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        entry::check(&identity)
            .map_err(|bad| ApiError::new(ErrorKind::Invalid).with_source(bad))?;
        let registered = self.ask(About::Rest, move |tables| tables.register(&identity)).await;
        let owner = registered.map_err(ApiError::from)?;
        owner.map_or(Ok(()), |owner| Err(RegisterError::AccountTaken { owner }))
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        Ok(self.ask(About::Rest, move |tables| tables.unregister(&agent)).await?)
    }
}
