//! Channels in JSON files. A commit is answered when it is on the disk; a turn may be answered a moment before its
//! sync.
//!
//! `work` is the thread that does all of it, in the order of its `job`s. `records` knows the newest state of each
//! channel: its file or its turn in `turn_log`, whichever is newer. `catch_up` makes files of turns, `syncing` is
//! the thread that waits for the disk, and `folders` knows which file is where.

pub(crate) mod agents;
mod catch_up;
mod change;
mod folders;
pub(crate) mod history;
mod job;
mod open;
mod options;
mod problem;
mod records;
mod sync;
mod syncing;
mod turn_log;
mod work;

use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use async_trait::async_trait;
use dirigent::operate::Transition;
use dirigent::ports::ApiError;
use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelStore, Commit, CommitError, LoadError, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};

use self::job::{Ask, Committed, Job};
pub use self::options::{ChannelOptions, FileDurability};
pub use self::problem::ChannelProblem;
use self::syncing::Syncing;
pub(crate) use self::turn_log::newest_turn;
use self::work::Work;
use crate::error::{OpenError, StoreError};
use crate::problems::Problems;
use crate::worker::{Answer, Inbox, Life, Receiver, Start, queue, start};

/// A [`ChannelStore`] on JSON files in one folder, which is wholly its own. Clones share it.
///
/// * `channels/<xx>/<id>.json` is a channel as of its last fact, or of a later turn: its mode and discussion in
///   front, then the state of its turns, with a version and a checksum. It is there to be read by
///   people; one that was edited counts as corrupt. `<xx>` is a hash of the id.
/// * A [`Durability::Fact`](dirigent::store::Durability::Fact) is in that file, on the disk, when its
///   commit returns.
/// * A [`Durability::Turn`](dirigent::store::Durability::Turn) is appended to `turns-<n>.log`, which all channels share and
///   which the end of the process does not harm. One sync makes all durable that waited for it, by default within
///   a second after the first of them. Of a record of more than 16 KB, a long reply that is being posted, only what
///   changed is appended. Once that file has 8 MB or is a minute old a new one is begun, each
///   channel's newest state becomes its `<id>.json`, and the old file goes. A load returns the newer one of the
///   two.
/// * `<id>.history.jsonl` holds the channel's newest transitions, a line each; `agents.json` the
///   agents in the order of their keys.
/// * One process has the folder open at a time.
///   It stays locked until it is [closed](Self::close) or every clone is gone, those that a
///   [`Dirigent`](dirigent::Dirigent) and its [`Driver`](dirigent::Driver) hold included.
/// * A damaged file costs nothing where the channel's newest commit is a turn that is sound: it is kept as
///   `<id>.json.corrupt-N`. A damaged turn costs only itself where it may never have been synced, as after a power cut; a
///   copy of its log is kept as `turns-<n>.log.corrupt-N`. Where the text of a turn is damaged that is known to have been
///   synced, or that this store has written or read, and where a channel has nothing that is sound, what is damaged stays
///   and bars the channel, across restarts: it loads as [`Barred::Damaged`](dirigent::store::Barred) until a commit
///   [replaces it](Commit::replaces_damaged), which gives it the name `<name>.corrupt-N`. To mend it by
///   hand, restore the file from a backup that is as new; moving it away makes the channel one that was never seen, in which
///   every agent may speak.
/// * A turn's first line in the log names its channel. Where that line is damaged, as a bad sector does, which mostly takes
///   whole turns, no channel is barred: the one that it was of goes on from the commit before, or as one that was never
///   seen, and only the copy of the log, which [`problems`](Self::problems) tells of, has what is left of the turn. Facts
///   are not in the log.
/// * A file that is whole and not understood, because another version wrote it, is left alone and loads
///   as [`Barred::OtherVersion`](dirigent::store::Barred). Fields that are not known are kept.
/// * [`problems`](Self::problems) tells of all these. Without `agents.json`, the names that the
///   channels' files hold are used.
/// * A failed write changes nothing and may be repeated. After a failed sync it is not known what
///   the disk has: all further calls answer [`StoreError::Broken`] until the store is opened again.
///
/// All work happens on two threads of the store's own, which start with the first call and end,
/// joined, when the last clone is dropped; that waits until everything is synced, so call
/// [`close`](Self::close) first where nothing may block.
///
/// ```
/// use dirigent::ChannelId;
/// use dirigent::store::{ChannelRecord, ChannelStore, Commit, Durability, Revision};
/// use dirigent_store::JsonChannels;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let store = JsonChannels::open(folder.path())?;
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
pub struct JsonChannels {
    shared: Arc<FileWorkers>,
}

struct FileWorkers {
    history_max: usize,
    problems: Arc<Problems<ChannelProblem>>,
    life: Life<Threads, Inbox<Job>>,
}

impl JsonChannels {
    /// Opens the folder, which is made where it is missing. Works on the calling thread: open it
    /// before the runtime has anything to do.
    ///
    /// # Errors
    ///
    /// [`OpenError::InUse`] when it is open already, [`BadFile::OtherVersion`](crate::BadFile::OtherVersion) when the agents were
    /// written by another version, else what the system refused.
    pub fn open(options: impl Into<ChannelOptions>) -> Result<Self, OpenError> {
        let options = options.into();
        let (root, history_max) = (options.path.clone(), options.history_max);
        let (work, given) = Work::open(options)?;
        let problems = Arc::clone(&work.records.problems);
        let (jobs, jobs_given) = queue(Inbox::default());
        let threads = Threads {
            syncing: Syncing {
                queue: Arc::clone(&work.records.queue),
                folders: Arc::clone(&work.records.folders),
                given,
                jobs: jobs.clone(),
                durable: BTreeSet::new(),
            },
            jobs: jobs_given,
            work,
        };
        let life = Life::new(root, jobs, threads);
        Ok(Self { shared: Arc::new(FileWorkers { history_max, problems, life }) })
    }

    /// The files that could not be read since the store was opened, the first thousand of them.
    pub fn problems(&self) -> Vec<ChannelProblem> {
        self.shared.problems.all()
    }

    /// Syncs everything and gives the folder free. All later calls answer [`StoreError::Closed`].
    ///
    /// # Errors
    ///
    /// The state of a turn could not be synced; it is written, and survives the end of the process.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.shared.life.close().await
    }

    async fn call<T: Send>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        self.shared.life.call(job).await
    }
}

/// What the two threads work on: that which everything passes, and that which waits for the disk.
struct Threads {
    work: Work,
    jobs: Receiver<Inbox<Job>>,
    syncing: Syncing,
}

impl Start for Threads {
    fn start(self) -> Result<JoinHandle<()>, (Self, io::Error)> {
        let run = start("dirigent-store", |(work, jobs, syncing): (Work, _, _)| {
            work.run(&jobs, syncing);
        });
        let sync = || match self.work.records.durability {
            FileDurability::Full => start("dirigent-sync", Syncing::run).map(Some),
            FileDurability::None => Ok(None),
        };
        match run.and_then(|run| Ok((run, sync()?))) {
            Ok((run, sync)) => {
                let Self { work, jobs, syncing } = self;
                Ok(run((work, jobs, sync.map(|sync| sync(syncing)))))
            }
            Err(source) => Err((self, source)),
        }
    }
}

impl fmt::Debug for JsonChannels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonChannels")
            .field("root", &self.shared.life.path())
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ChannelStore for JsonChannels {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        Ok(self.call(Job::Channels).await?)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        Ok(self.call(|answer| Job::Ask(channel, Ask::Load(answer))).await?)
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        let channel = commit.channel;
        let commit = Box::new(commit);
        let ask = |answer| Job::Ask(channel, Ask::Commit(commit, answer));
        match self.call(ask).await? {
            Committed::Done(revision) => Ok(revision),
            Committed::Conflict(found) => Err(CommitError::Conflict { found }),
        }
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        Ok(self.call(|answer| Job::Ask(channel, Ask::Delete(answer))).await?)
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(self.call(Job::Agents).await?)
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        Ok(self.call(|answer| Job::AddAgent(agent, answer)).await?)
    }

    fn history_max(&self) -> usize {
        self.shared.history_max
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        Ok(self.call(|answer| Job::Ask(channel, Ask::History(answer))).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use dirigent::store::{ChannelRecord, Durability};

    use super::folders::Folders;
    use super::*;
    use crate::disk::steps::{self, Step};

    /// What a power cut would take where one of these were left out, on any disk.
    #[tokio::test]
    async fn a_fact_is_answered_after_its_file_was_synced_put_in_its_place_and_the_folder_synced() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let store = JsonChannels::open(&*root).unwrap();
        let channel = ChannelId::new(7);
        let folders = Folders::below(root.clone()).unwrap();
        let file = folders.file(channel);
        let folder = file.parent().unwrap().to_owned();
        steps::take(&root);
        for expected in 0..3 {
            let commit = Commit {
                channel,
                expected: Revision::new(expected),
                record: ChannelRecord::default().into(),
                durability: Durability::Fact,
                transitions: Vec::new().into(),
                replaces_damaged: false,
            };
            store.commit(commit).await.unwrap();
            let above = Step::SyncFolder(folders.channels().to_owned());
            let mut wanted = vec![Step::SyncFile(file.clone()), Step::Put(file.clone())];
            // The folder is new with its first file.
            wanted.extend((expected == 0).then_some(above));
            wanted.push(Step::SyncFolder(folder.clone()));
            assert_eq!(steps::take(&root), wanted, "commit {expected}");
        }
        store.close().await.unwrap();
    }

    fn turn(channel: u64) -> Commit {
        Commit {
            channel: ChannelId::new(channel),
            expected: Revision::default(),
            record: ChannelRecord::default().into(),
            durability: Durability::Turn,
            transitions: Vec::new().into(),
            replaces_damaged: false,
        }
    }

    #[tokio::test]
    async fn turns_of_many_channels_are_synced_together_and_without_being_asked() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        for (sync_after, is_early) in [(Duration::ZERO, true), (Duration::from_secs(3_600), false)]
        {
            let options = ChannelOptions::new(root.join(format!("{is_early}")));
            let store = JsonChannels::open(options.sync_after(sync_after)).unwrap();
            let log = root.join(format!("{is_early}/turns-1.log"));
            steps::take(&root);
            for channel in 0..100 {
                store.commit(turn(channel)).await.unwrap();
            }
            let mut seen = steps::take(&root);
            while is_early && !seen.contains(&Step::SyncFile(log.clone())) {
                // How long it takes is the disk's affair.
                thread::yield_now();
                seen.extend(steps::take(&root));
            }
            let count = seen.iter().filter(|step| **step == Step::SyncFile(log.clone())).count();
            assert!(is_early || count == 0, "{count} syncs before their time");
            assert!(!seen.iter().any(|step| matches!(step, Step::Put(_))), "a file for each turn");
            store.close().await.unwrap();
        }
    }

    /// A power cut must not leave a channel without its file and without its turn.
    #[tokio::test]
    async fn a_damaged_file_goes_after_its_turn_and_the_name_of_the_log_were_synced() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let options = ChannelOptions::new(root.clone()).sync_after(Duration::from_secs(3_600));
        let store = JsonChannels::open(options).unwrap();
        store.commit(turn(7)).await.unwrap();
        let file = Folders::below(root.clone()).unwrap().file(ChannelId::new(7));
        std::fs::write(&file, "no JSON").unwrap();
        steps::take(&root);
        assert!(store.load(ChannelId::new(7)).await.unwrap().is_some());
        let log = Step::SyncFile(root.join("turns-1.log"));
        let folder = Step::SyncFolder(file.parent().unwrap().to_owned());
        assert_eq!(steps::take(&root), [log, Step::SyncFolder(root.clone()), folder]);
        store.close().await.unwrap();
    }

    /// A process before may have ended between the file and the sync of its folder.
    #[tokio::test]
    async fn folders_that_were_there_are_synced() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let folder = Folders::below(root.clone()).unwrap().folder(7);
        std::fs::create_dir(&folder).unwrap();
        let store = JsonChannels::open(&*root).unwrap();
        steps::take(&root);
        store.channels().await.unwrap();
        store.close().await.unwrap();
        assert!(steps::take(&root).contains(&Step::SyncFolder(folder)));
    }
}
