//! Channels and the registry in one SQLite database.

mod group;
mod open;
mod options;
mod problem;
mod refusal;
mod registry;
mod sync;
mod tables;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use dirigent::{
    AgentId, AgentKey, ApiError, ChannelId, ChannelStore, Commit, CommitError, ErrorKind, Identity,
    IdentityStore, LoadError, RegisterError, Revision, StoredChannel, Transition,
};
use tokio::sync::oneshot;

use self::group::{Asked, Groups, Task};
use self::open::Database;
pub use self::options::SqliteOptions;
use self::problem::Problems;
pub use self::problem::SqliteProblem;
use self::registry::{Registered, identities};
use self::sync::{Broken, Syncer};
use self::tables::{Committed, Tables, channels};
use crate::error::{OpenError, StoreError};
use crate::json::channels::FileDurability;
use crate::json::identities::entry;
use crate::worker::{About, Inbox, Next, Queued, now};
use crate::worker::{Answer, Life, Started};

/// How many callers one transaction answers at most.
const GROUP_MAX: usize = 1_024;

/// After so long the write-ahead log is emptied, so that what was erased is in no file any more.
const EMPTY_AFTER: Duration = Duration::from_secs(60);

/// A [`ChannelStore`] and an [`IdentityStore`] in one SQLite database, for hosts on which thousands
/// of channels talk at once. Clones share it.
///
/// * All that waits is done in one transaction and answered after its commit: however many channels
///   commit at once, they wait for the disk together.
/// * A commit is on the disk when it returns, that of a
///   [`Durability::Turn`](dirigent::Durability::Turn) as well: one sync is a short wait beside a post,
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
///   [`Barred::Damaged`](dirigent::Barred) until a commit [replaces it](Commit::replaces_damaged), which
///   moves it to the table `corrupt`. A record that is whole and not understood loads as
///   [`Barred::Newer`](dirigent::Barred) and is never changed. [`problems`](Self::problems) tells of both.
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
/// use dirigent::{ChannelId, ChannelRecord, ChannelStore, Commit, Durability, Revision};
/// use dirigent_store::SqliteStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let store = SqliteStore::open(folder.path().join(SqliteStore::FILE_NAME))?;
/// let commit = Commit {
///     channel: ChannelId::new(123456789012345678),
///     expected: Revision::default(),
///     record: ChannelRecord::default(),
///     durability: Durability::Fact,
///     transitions: Vec::new(),
///     replaces_damaged: false,
/// };
/// assert_eq!(store.commit(commit).await?, Revision::new(1));
/// store.close().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

struct Shared {
    durability: FileDurability,
    history_max: usize,
    problems: Arc<Problems>,
    life: Life<Database, Job>,
}

/// What the thread is told.
enum Job {
    /// Work of a caller, and what it is about.
    Ask(About, Box<dyn Task>),
    /// Finish, and end.
    Close(Answer<()>),
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
        let life = Life::new(path, database);
        Ok(Self { shared: Arc::new(Shared { durability, history_max, problems, life }) })
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
        self.give(about, |answer| Asked::new(work, answer)).await
    }

    async fn give<T, F>(
        &self,
        about: About,
        asked: impl FnOnce(Answer<T>) -> Asked<T, F>,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut Tables<'_>) -> Result<T, StoreError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let Shared { durability, history_max, problems, life } = &*self.shared;
        life.give(Job::Ask(about, Box::new(asked(answer))), |database| {
            start(database, *durability, *history_max, Arc::clone(problems))
        })?;
        answered.await.unwrap_or_else(|_| Err(life.no_answer()))
    }
}

impl crate::worker::Job for Job {
    fn close(answer: Answer<()>) -> Self {
        Self::Close(answer)
    }
}

fn start(
    database: Box<Database>,
    durability: FileDurability,
    history_max: usize,
    problems: Arc<Problems>,
) -> Started<Database, Job> {
    let broken = Broken::default();
    let syncer = match durability {
        FileDurability::Full => match Syncer::start(&database.path, Arc::clone(&broken)) {
            Ok(syncer) => Some(syncer),
            Err(source) => return Err((database, source)),
        },
        FileDurability::None => None,
    };
    let (jobs, given) = channel();
    // A thread that cannot be started must not take the database with it.
    let (databases, database_given) = channel::<Box<Database>>();
    let work = move || {
        if let Ok(database) = database_given.recv() {
            run(*database, history_max, &problems, &given, Syncs { syncer, broken });
        }
    };
    match thread::Builder::new().name("dirigent-sqlite".to_owned()).spawn(work) {
        Ok(thread) => {
            // The thread waits for it.
            let _ = databases.send(database);
            Ok((jobs, thread))
        }
        Err(source) => Err((database, source)),
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.shared.life.path())
            .finish_non_exhaustive()
    }
}

/// Who answers what was committed: the thread that syncs, or, where nothing is synced, the one that commits.
struct Syncs {
    syncer: Option<Syncer>,
    broken: Broken,
}

/// Works until it is told to end: takes all that waits, settles it, answers it.
fn run(
    database: Database,
    history_max: usize,
    problems: &Problems,
    jobs: &Receiver<Job>,
    syncs: Syncs,
) {
    let Syncs { syncer, broken } = syncs;
    let Database { path, conn, lock } = database;
    let mut closing = None;
    match Tables::new(&conn, &path, history_max) {
        Ok(tables) => {
            let mut groups = Groups::new(tables, problems, broken);
            let mut inbox = Inbox::new();
            let mut log = Log::new();
            while closing.is_none() {
                let next = next_group(&mut inbox, jobs, log.next_due());
                let Some(Group { mut tasks, kind, close }) = next else { break };
                closing = close;
                groups.settle(&mut tasks, &mut || match inbox.next_read(jobs) {
                    Some(Job::Ask(_, read)) => Some(read),
                    Some(Job::Close(_)) | None => None,
                });
                inbox.done();
                finish(&mut groups, &mut log, syncer.as_ref(), kind, tasks);
            }
        }
        // It was read when it was opened.
        Err(error) => tracing::error!(%error, "the database cannot be read any more"),
    }
    // All that was committed is answered before.
    drop(syncer);
    // A caller that is told that it is closed can open it again.
    drop(conn);
    drop(lock);
    if let Some(answer) = closing {
        let _ = answer.send(Ok(()));
    }
}

/// Empties the write-ahead log where it is time, and has the group answered.
fn finish(
    groups: &mut Groups<'_, '_>,
    log: &mut Log,
    syncer: Option<&Syncer>,
    kind: GroupKind,
    mut tasks: Vec<Box<dyn Task>>,
) {
    if kind != GroupKind::Reads {
        log.written();
    }
    if (kind == GroupKind::Erases || log.is_due()) && !groups.is_stopped() {
        log.tried(groups.empty_log(&mut tasks));
    }
    if groups.is_stopped() {
        log.left();
    }
    match syncer {
        Some(syncer) if kind != GroupKind::Reads => syncer.answer(tasks),
        _ => tasks.into_iter().for_each(Task::answer),
    }
}

/// What is done in one transaction.
struct Group {
    tasks: Vec<Box<dyn Task>>,
    kind: GroupKind,
    /// It is the last one.
    close: Option<Answer<()>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKind {
    /// It changes nothing.
    Reads,
    /// It may change something.
    Writes,
    /// Nothing of what it deletes may be left in the write-ahead log.
    Erases,
}

/// Waits for work, or until then, and takes all that is there: reads that wait for nothing first. `None` when there will
/// be no more work.
fn next_group(inbox: &mut Inbox<Job>, jobs: &Receiver<Job>, due: Option<Instant>) -> Option<Group> {
    let (mut tasks, mut kind, mut close) = (Vec::new(), GroupKind::Reads, None);
    let mut next = match inbox.next_until(jobs, due) {
        Next::Job(job) => Some(job),
        Next::Due => None,
        Next::End => return None,
    };
    let is_read = |job: &Job| matches!(job, Job::Ask(About::Read(_), _));
    let reads = next.as_ref().is_some_and(is_read);
    while let Some(job) = next {
        match job {
            Job::Ask(_, task) => {
                let writes = if task.erases() { GroupKind::Erases } else { GroupKind::Writes };
                kind = if reads { kind } else { kind.max(writes) };
                tasks.push(task);
            }
            Job::Close(answer) => {
                close = Some(answer);
                break;
            }
        }
        next = if tasks.len() == GROUP_MAX {
            None
        } else if reads {
            inbox.next_read(jobs)
        } else {
            inbox.next_of_rest()
        };
    }
    Some(Group { tasks, kind, close })
}

/// When the write-ahead log is emptied, which holds what was replaced since.
struct Log {
    /// When it was first written to, or when it could not be emptied last.
    since: Option<Instant>,
}

impl Log {
    const fn new() -> Self {
        Self { since: None }
    }

    fn written(&mut self) {
        self.since.get_or_insert_with(now);
    }

    /// It was to be emptied. Where it could not be, that is tried again as if it had been written to just now.
    fn tried(&mut self, is_empty: bool) {
        self.since = (!is_empty).then(now);
    }

    /// It stays as it is: the store has stopped, and the next opening empties it.
    fn left(&mut self) {
        self.since = None;
    }

    fn next_due(&self) -> Option<Instant> {
        self.since?.checked_add(EMPTY_AFTER)
    }

    fn is_due(&self) -> bool {
        self.next_due().is_some_and(|due| due <= now())
    }
}

impl Queued for Job {
    fn about(&self) -> About {
        match self {
            Self::Ask(about, _) => *about,
            Self::Close(_) => About::Rest,
        }
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
        let asked = |answer| Asked::erasing(delete, answer);
        Ok(self.give(About::Change(channel), asked).await?)
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

#[cfg(test)]
mod tests {
    use dirigent::{ChannelRecord, Durability};

    use crate::error::{Action, BadFile};

    use super::*;

    fn job(about: About) -> Job {
        Job::Ask(about, Box::new(Asked::new(|_: &mut Tables<'_>| Ok(()), oneshot::channel().0)))
    }

    #[test]
    fn all_that_waits_is_one_group_up_to_a_limit_and_up_to_the_end() {
        let (jobs, given) = channel();
        for _ in 0..GROUP_MAX + 3 {
            jobs.send(job(About::Rest)).unwrap();
        }
        jobs.send(Job::Close(oneshot::channel().0)).unwrap();
        let mut inbox = Inbox::new();
        let first = next_group(&mut inbox, &given, None).unwrap();
        assert_eq!((first.tasks.len(), first.close.is_some()), (GROUP_MAX, false));
        let last = next_group(&mut inbox, &given, None).unwrap();
        assert_eq!((last.tasks.len(), last.close.is_some()), (3, true));
        drop(jobs);
        assert!(next_group(&mut inbox, &given, None).is_none());
    }

    #[test]
    fn reads_that_wait_for_nothing_are_a_group_of_their_own() {
        let (jobs, given) = channel();
        let about = [ChannelId::new(1), ChannelId::new(2)].map(About::Change);
        let reads = [ChannelId::new(3), ChannelId::new(4), ChannelId::new(1)].map(About::Read);
        for about in about.into_iter().chain(reads) {
            jobs.send(job(about)).unwrap();
        }
        let mut inbox = Inbox::new();
        let kinds = [(2, GroupKind::Reads), (3, GroupKind::Writes)];
        for expected in kinds {
            let group = next_group(&mut inbox, &given, None).unwrap();
            assert_eq!((group.tasks.len(), group.kind), expected);
        }
        // Without work, the log is emptied in time.
        let group = next_group(&mut inbox, &given, Some(now())).unwrap();
        assert_eq!((group.tasks.len(), group.kind), (0, GroupKind::Reads));
    }

    /// What a sync that was left out would take: here, it fails.
    #[test]
    fn a_commit_is_synced_before_it_is_answered_also_where_the_store_stops_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.sqlite");
        let Database { path, conn, .. } = Database::open(&path, false).unwrap().0;
        let problems = Problems::default();
        let broken = Broken::default();
        let syncer = Syncer::start(&path, Arc::clone(&broken)).unwrap();
        let tables = Tables::new(&conn, &path, 0).unwrap();
        let mut groups = Groups::new(tables, &problems, Arc::clone(&broken));
        let (answer, mut made) = oneshot::channel();
        let commit = |tables: &mut Tables<'_>| tables.add_agent(&"zoe".into());
        let mut tasks: Vec<Box<dyn Task>> = vec![Box::new(Asked::new(commit, answer))];
        let (answer, mut damaged) = oneshot::channel();
        let find = |tables: &mut Tables<'_>| -> Result<(), _> {
            let path = tables.path.to_owned();
            Err(StoreError::BadFile { path, source: BadFile::BadDatabase })
        };
        tasks.push(Box::new(Asked::new(find, answer)));
        groups.settle(&mut tasks, &mut || None);
        assert!(groups.is_stopped());
        broken.set(()).unwrap();
        finish(&mut groups, &mut Log::new(), Some(&syncer), GroupKind::Writes, tasks);
        drop(syncer);
        let error = made.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::Io { action: Action::Sync, .. }), "{error}");
        let error = damaged.try_recv().unwrap().unwrap_err();
        assert!(matches!(error, StoreError::BadFile { .. }), "{error}");
    }

    fn group(expected: u64) -> Vec<Box<dyn Task>> {
        let commit = Commit {
            channel: ChannelId::new(7),
            expected: Revision::new(expected),
            record: ChannelRecord::default(),
            durability: Durability::Turn,
            transitions: Vec::new(),
            replaces_damaged: false,
        };
        let (answer, _) = oneshot::channel();
        let work = move |tables: &mut Tables<'_>| tables.commit(&commit);
        vec![Box::new(Asked::new(work, answer))]
    }

    #[test]
    fn a_log_is_emptied_in_time_also_where_nothing_is_synced_and_again_where_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.sqlite");
        let Database { path, conn, .. } = Database::open(&path, false).unwrap().0;
        let problems = Problems::default();
        let mut groups =
            Groups::new(Tables::new(&conn, &path, 0).unwrap(), &problems, Broken::default());
        let mut log = Log::new();
        let written = || folder.path().join("any.sqlite-wal").metadata().unwrap().len() > 0;
        let mut tasks = group(0);
        groups.settle(&mut tasks, &mut || None);
        finish(&mut groups, &mut log, None, GroupKind::Writes, tasks);
        assert!(log.next_due().is_some() && !log.is_due() && written());
        // The log is not emptied while it is read.
        let mut reader = conn.prepare("SELECT * FROM channels").unwrap();
        let mut rows = reader.query([]).unwrap();
        assert!(rows.next().unwrap().is_some());
        log.since = now().checked_sub(EMPTY_AFTER);
        finish(&mut groups, &mut log, None, GroupKind::Reads, Vec::new());
        assert!(log.next_due().is_some() && !log.is_due() && written());
        drop(rows);
        log.since = now().checked_sub(EMPTY_AFTER);
        finish(&mut groups, &mut log, None, GroupKind::Reads, Vec::new());
        assert!(log.next_due().is_none() && !written());
    }

    #[test]
    fn a_store_that_has_stopped_waits_for_nothing_but_work() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("any.sqlite");
        let Database { path, conn, .. } = Database::open(&path, false).unwrap().0;
        let problems = Problems::default();
        let broken = Broken::default();
        let tables = Tables::new(&conn, &path, 0).unwrap();
        let mut groups = Groups::new(tables, &problems, Arc::clone(&broken));
        let mut log = Log::new();
        let mut tasks = group(0);
        groups.settle(&mut tasks, &mut || None);
        finish(&mut groups, &mut log, None, GroupKind::Writes, tasks);
        assert!(log.next_due().is_some());
        // The thread that syncs has failed; this one learns of it when the log is to be emptied.
        broken.set(()).unwrap();
        log.since = now().checked_sub(EMPTY_AFTER);
        for (mut tasks, kind) in [
            (Vec::new(), GroupKind::Reads),
            (group(1), GroupKind::Writes),
            (group(1), GroupKind::Erases),
        ] {
            groups.settle(&mut tasks, &mut || None);
            finish(&mut groups, &mut log, None, kind, tasks);
            assert_eq!(log.next_due(), None, "{kind:?}");
        }
    }
}
