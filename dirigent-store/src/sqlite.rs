//! A store in one SQLite database. `open` locks and checks it, `work` is the thread that does all, and a `task` is
//! one caller's work. `group` puts all that waits into one transaction, and each by itself if that fails. `sync`
//! waits for the disk while the next transaction is made.

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

use std::fmt;
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
use self::registry::{Registered, identities};
use self::tables::{Committed, Tables, channels};
use self::task::Asked;
use self::work::{Job, Waiting, Work};
use crate::error::{OpenError, StoreError};
use crate::json::identities::entry;
use crate::problems::Problems;
use crate::worker::{About, Life, queue};

/// A [`ChannelStore`] and an [`IdentityStore`] in one SQLite database, for hosts on which thousands
/// of channels talk at once. Clones share it.
///
/// * All that waits is done in one transaction and answered after its commit: however many channels
///   commit at once, they wait for the disk together.
/// * A commit is on the disk when it returns, that of a
///   [`Durability::Turn`](dirigent::store::Durability::Turn) as well: one sync is a short wait beside a post,
///   and the more commit at once the less of it falls to each. A history is committed with its record.
/// * A record is the JSON text that [`JsonChannels`](crate::JsonChannels) writes, names and unknown
///   fields included, with a checksum; one that was edited counts as corrupt. The tables are
///   `channels`, `corrupt`, `agents`, `identities` and `history`.
/// * One process has the database open at a time, and no other program meanwhile.
///   It stays locked until it is [closed](Self::close) or every clone is gone, those that a
///   [`Dirigent`](dirigent::Dirigent) and its [`Driver`](dirigent::Driver) hold included.
/// * A file that is no whole database is not opened and left alone: starting without it would take every
///   channel for one that was never seen. SQLite's own tools (`.recover`) can save what is left of it.
///   [`open_or_begin_anew`](Self::open_or_begin_anew) keeps it as `<name>.corrupt-N`, and what stands
///   beside it as `<name>.corrupt-N-wal` and so on, and starts empty.
/// * A single record that is damaged bars its channel and no other: it loads as
///   [`Barred::Damaged`](dirigent::store::Barred) until a commit [replaces it](Commit::replaces_damaged), which
///   moves it to the table `corrupt`. A record that is whole and not understood loads as
///   [`Barred::OtherVersion`](dirigent::store::Barred) and is never changed. [`problems`](Self::problems) tells of both.
/// * A database of another version, or of another program, is no corrupt one: it is not opened, and
///   left alone.
/// * A failed write changes nothing and may be repeated. After a failed sync it is not known what
///   the disk has: all further calls answer [`StoreError::Broken`] until the store is opened again. A
///   damage that is found while it is open ends it likewise, with a [`StoreError::BadFile`].
/// * What is deleted or replaced is overwritten with zeros. The write-ahead log holds older states until it is emptied:
///   a minute after it was written to, by [`delete`](ChannelStore::delete), and when the store is closed.
/// * `register` refuses what [`JsonIdentities`](crate::JsonIdentities) refuses.
///
/// All work happens on two threads of the store's own, one of which waits for the disk. They start with the first call
/// and end, joined, when the last clone is dropped.
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
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<DatabaseWorker>,
}

struct DatabaseWorker {
    history_max: usize,
    problems: Arc<Problems<SqliteProblem>>,
    life: Life<Work, Waiting>,
}

impl SqliteStore {
    /// What the file is called where a host has no other wish.
    pub const FILE_NAME: &str = "dirigent.sqlite";

    /// Opens the database, which is made where it is missing, its folder as well, and looks it
    /// through. Works on the calling thread: open it before the runtime has anything to do.
    ///
    /// # Errors
    ///
    /// [`OpenError::InUse`] when it is open already; [`OpenError::Damaged`] when it is no whole database;
    /// [`BadFile::OtherVersion`](crate::BadFile::OtherVersion) when another version wrote it, and
    /// [`BadFile::WrongShape`](crate::BadFile::WrongShape) when another program did; else what the
    /// system refused.
    pub fn open(options: impl Into<SqliteOptions>) -> Result<Self, OpenError> {
        Self::open_as(options.into(), false)
    }

    /// As [`open`](Self::open), but keeps a damaged database aside and starts empty: every channel is
    /// then one that was never seen, in which every agent may speak, and every stop, hold, mode,
    /// discussion and registration is lost. For an operator who decided so; [`problems`](Self::problems)
    /// says where the damaged database is.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), but for [`OpenError::Damaged`].
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
        let (jobs, given) = queue(Waiting::default());
        let kept_problems = Arc::clone(&problems);
        let work = Work { database, durability, history_max, problems: kept_problems, given };
        let life = Life::new(path, jobs, work);
        Ok(Self { shared: Arc::new(DatabaseWorker { history_max, problems, life }) })
    }

    /// Where the database is, links resolved.
    pub fn path(&self) -> &Path {
        self.shared.life.path()
    }

    /// What could not be read since the store was opened, the first thousand of it.
    pub fn problems(&self) -> Vec<SqliteProblem> {
        self.shared.problems.all()
    }

    /// Finishes what was asked for and gives the database free, in one file where the disk has room.
    /// All later calls answer [`StoreError::Closed`].
    ///
    /// # Errors
    ///
    /// The thread was cut short by a panic; what was answered is on the disk.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.shared.life.close().await
    }

    /// Has work done, even if its caller no longer waits for the answer.
    async fn ask<T, F>(&self, about: About, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let job = |answer| Job(about, Box::new(Asked::new(work, answer)));
        self.shared.life.call(job).await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.shared.life.path())
            .finish_non_exhaustive()
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
        match committed? {
            Committed::Done(revision) => Ok(revision),
            Committed::Conflict(found) => Err(CommitError::Conflict { found }),
        }
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        let delete = move |tables: &mut Tables<'_>| tables.delete(channel);
        let about = About::Change(channel);
        let job = |answer| Job(about, Box::new(Asked::erasing(delete, answer)));
        Ok(self.shared.life.call(job).await?)
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
        match registered.map_err(ApiError::from)? {
            Registered::Done => Ok(()),
            Registered::Taken(owner) => Err(RegisterError::AccountTaken { owner }),
        }
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        Ok(self.ask(About::Rest, move |tables| tables.unregister(&agent)).await?)
    }
}
