//! Stores channels in JSON files, one file for each channel. A commit is answered once it is on the disk.
//!
//! `store` contains the work on the files, and `folder` knows their paths. At most one thread works on a channel at a
//! time, and several threads work on different channels. `agents` and `history` are the other files.

pub(crate) mod agents;
mod folder;
pub(crate) mod history;
mod options;
mod problem;
mod store;

use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use dirigent::operate::Transition;
use dirigent::ports::ApiError;
use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelStore, Commit, CommitError, LoadError, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};

pub use self::options::ChannelOptions;
pub use self::problem::ChannelProblem;
use self::store::Store;
use crate::error::{OpenError, StoreError};
use crate::problems::Problems;
use crate::worker::{About, Answer, Jobs, Worker};

/// A [`ChannelStore`] on JSON files in one folder, for bots with some hundred channels. The folder belongs to the store
/// alone. Clones share it.
///
/// * `channels/<id>.json` is a channel. Its mode and its discussion come first, then the state of its turns, with a
///   version and a checksum. You may read the file, but an edited file counts as corrupt. `<id>.history.jsonl` beside
///   it has the channel's newest transitions, one on each line. `agents.json` lists the agents in the order of their
///   keys.
/// * A commit is on the disk when it returns, even with [`Durability::Turn`](dirigent::store::Durability::Turn). The new
///   content is written beside the old and synced, it replaces the old, and the folder is synced. So a power cut leaves
///   the last commit that was acknowledged, and never half a file. Each commit waits for the disk by itself.
///   `SqliteStore` is faster for that reason, and it is the better choice from about 100 channels that talk at the same
///   time.
/// * One process has the folder open at a time. The folder stays locked until you [close](Self::close) the store or
///   every clone is dropped. A [`Dirigent`](dirigent::Dirigent) and its [`Driver`](dirigent::Driver) have clones, too.
/// * A damaged file makes its channel unusable, but no other channel, and this lasts across restarts. The channel loads
///   as [`Barred::Damaged`](dirigent::store::Barred) until a commit [replaces it](Commit::replaces_damaged), which
///   keeps a copy as `<id>.json.corrupt-N`. If you want to repair the file by hand, restore it from a backup that is as
///   new. If you move it away, the channel counts as new, so every agent may speak in it.
/// * If another version wrote a file and this one cannot interpret it, the store does not change it, and the channel
///   loads as [`Barred::OtherVersion`](dirigent::store::Barred). Unknown fields are kept.
/// * [`problems`](Self::problems) lists the files of both kinds. If `agents.json` is missing, the store uses the names
///   in the channels' files.
/// * A failed write changes nothing, and you may repeat it. After a failed sync the content of the disk is unknown, so
///   all further calls return [`StoreError::Broken`] until you open the store again.
///
/// All work happens on the store's own threads. They start when it is opened, and they are joined when the last clone
/// is dropped. That waits for the work that was requested, so call [`close`](Self::close) first if the thread must not
/// block.
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
#[derive(Clone, Debug)]
pub struct JsonChannels {
    shared: Arc<FileWorkers>,
}

#[derive(Debug)]
struct FileWorkers {
    history_max: usize,
    problems: Arc<Problems<ChannelProblem>>,
    worker: Worker<Job>,
}

type Job = Box<dyn FnOnce(&Store) + Send>;

/// The most files that are written at the same time. A commit waits twice for the disk, and the file system lets
/// commits that wait together wait once. So 16 threads make more than ten times as many commits as one.
const WRITERS: usize = 16;

const NAME: &str = "dirigent-store";

impl JsonChannels {
    /// Opens the folder, and creates it if it is missing. This works on the calling thread, so open the store before
    /// the runtime has anything to do.
    ///
    /// # Errors
    ///
    /// Returns [`OpenError::InUse`] if the folder is already open, and
    /// [`BadFile::OtherVersion`](crate::BadFile::OtherVersion) if another version wrote the folder or its agents.
    /// Otherwise returns the error of the system.
    pub fn open(options: impl Into<ChannelOptions>) -> Result<Self, OpenError> {
        let options = options.into();
        let (root, history_max) = (options.path.clone(), options.history_max);
        let store = Store::open(options)?;
        let problems = Arc::clone(&store.problems);
        let worker = Worker::start(NAME, root, move |jobs| run(&store, jobs))?;
        Ok(Self { shared: Arc::new(FileWorkers { history_max, problems, worker }) })
    }

    /// Returns the files that could not be read since the store was opened, but only the first 1,000.
    pub fn problems(&self) -> Vec<ChannelProblem> {
        self.shared.problems.all()
    }

    /// Finishes the requested work and unlocks the folder. All later calls return [`StoreError::Closed`].
    ///
    /// # Errors
    ///
    /// Returns an error if a panic ended the threads early. Every commit that was answered is on the disk.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.shared.worker.close().await
    }

    /// Sends work to the threads. It is done even if its caller stops waiting for the answer.
    async fn ask<T, F>(&self, about: About, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Store) -> Result<T, StoreError> + Send + 'static,
    {
        let job = |answer: Answer<T>| -> Job {
            Box::new(move |store| {
                let done = store.check().and_then(|()| work(store));
                // A caller that has stopped waiting sees the result with its next load.
                let _ = answer.send(done.and_then(|done| store.check_again().map(|()| done)));
            })
        };
        self.shared.worker.call(about, job).await
    }
}

/// Works until the store is closed. One thread is always free for reads. If the system starts fewer threads, less work
/// is done at the same time.
fn run(store: &Store, jobs: &Jobs<Job>) {
    let work = || jobs.work(WRITERS, |job| job(store));
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            if thread::Builder::new().name(NAME.to_owned()).spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
}

#[async_trait]
impl ChannelStore for JsonChannels {
    async fn channels(&self) -> Result<Vec<ChannelId>, ApiError> {
        Ok(self.ask(About::Rest, Store::channels).await?)
    }

    async fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, LoadError> {
        Ok(self.ask(About::Read(channel), move |store| store.load(channel)).await?)
    }

    async fn commit(&self, commit: Commit) -> Result<Revision, CommitError> {
        // The commit is dropped before its answer, because the caller reuses its memory.
        let committed = self.ask(About::Change(commit.channel), move |store| store.commit(&commit));
        committed.await?.map_err(|found| CommitError::Conflict { found })
    }

    async fn delete(&self, channel: ChannelId) -> Result<bool, LoadError> {
        Ok(self.ask(About::Change(channel), move |store| store.delete(channel)).await?)
    }

    async fn agents(&self) -> Result<Vec<AgentId>, ApiError> {
        Ok(self.ask(About::Rest, |store| Ok(store.agents())).await?)
    }

    async fn add_agent(&self, agent: AgentId) -> Result<AgentKey, ApiError> {
        Ok(self.ask(About::Rest, move |store| store.add_agent(agent)).await?)
    }

    fn history_max(&self) -> usize {
        self.shared.history_max
    }

    async fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, ApiError> {
        Ok(self.ask(About::Read(channel), move |store| store.history(channel)).await?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use dirigent::ports::Certainty;
    use dirigent::store::{Barred, ChannelRecord, Durability};

    use super::*;
    use crate::disk::steps::{self, Step, fail};

    const HERE: ChannelId = ChannelId::new(7);

    fn commit(channel: ChannelId, expected: u64, durability: Durability) -> Commit {
        Commit {
            channel,
            expected: Revision::new(expected),
            record: ChannelRecord::default().into(),
            durability,
            transitions: Vec::new().into(),
            replaces_damaged: false,
        }
    }

    /// A store in a folder of its own, and the folder of its channels.
    fn opened() -> (tempfile::TempDir, PathBuf, JsonChannels) {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let store = JsonChannels::open(&*root).unwrap();
        steps::take(&root);
        (home, root.join("channels"), store)
    }

    /// M5: what a power cut would take where one of these were left out, on any disk.
    #[tokio::test]
    async fn a_commit_is_answered_after_its_file_was_synced_put_in_its_place_and_the_folder_synced()
    {
        let (_home, folder, store) = opened();
        let file = folder.join("7.json");
        for (expected, durability) in
            (0..).zip([Durability::Fact, Durability::Turn, Durability::Turn, Durability::Fact])
        {
            store.commit(commit(HERE, expected, durability)).await.unwrap();
            let wanted = [
                Step::SyncFile(file.clone()),
                Step::Put(file.clone()),
                Step::SyncFolder(folder.clone()),
            ];
            assert_eq!(steps::take(&folder), wanted, "commit {expected}");
        }
        assert!(store.delete(HERE).await.unwrap());
        assert_eq!(steps::take(&folder), [Step::SyncFolder(folder.clone())]);
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_key_is_answered_after_the_agents_were_synced() {
        let (_home, folder, store) = opened();
        let root = folder.parent().unwrap().to_owned();
        store.add_agent("zoe".into()).await.unwrap();
        let file = root.join("agents.json");
        let wanted =
            [Step::SyncFile(file.clone()), Step::Put(file), Step::SyncFolder(root.clone())];
        assert_eq!(steps::take(&root), wanted);
        store.add_agent("zoe".into()).await.unwrap();
        assert_eq!(steps::take(&root), []);
        store.close().await.unwrap();
    }

    /// A process before may have been killed between a rename and its sync: what is built on such a file must last.
    #[tokio::test]
    async fn what_was_there_is_synced_before_it_is_read() {
        let (_home, folder, store) = opened();
        store.close().await.unwrap();
        let root = folder.parent().unwrap().to_owned();
        JsonChannels::open(&root).unwrap();
        let wanted = [Step::SyncFolder(folder), Step::SyncFolder(root.clone())];
        assert_eq!(steps::take(&root), wanted);
    }

    /// After a failed sync it is not known what the disk has, and asking again would not tell.
    #[tokio::test]
    async fn a_sync_that_fails_ends_the_store_whatever_it_was_for() {
        for number in 0..4 {
            let (_home, folder, store) = opened();
            let root = folder.parent().unwrap().to_owned();
            store.commit(commit(HERE, 0, Durability::Turn)).await.unwrap();
            let certainty = match number {
                0 => {
                    fail(Step::SyncFile(folder.join("7.json")));
                    let error = store.commit(commit(HERE, 1, Durability::Turn)).await.unwrap_err();
                    let CommitError::Store(error) = error else { panic!("{error}") };
                    error.certainty()
                }
                1 => {
                    fail(Step::SyncFolder(folder.clone()));
                    let error = store.commit(commit(HERE, 1, Durability::Turn)).await.unwrap_err();
                    let CommitError::Store(error) = error else { panic!("{error}") };
                    error.certainty()
                }
                2 => {
                    fail(Step::SyncFolder(folder.clone()));
                    let error = store.delete(HERE).await.unwrap_err();
                    let LoadError::Store(error) = error else { panic!("{error}") };
                    error.certainty()
                }
                _ => {
                    fail(Step::SyncFile(root.join("agents.json")));
                    store.add_agent("zoe".into()).await.unwrap_err().certainty()
                }
            };
            let expected =
                if matches!(number, 1 | 2) { Certainty::Unknown } else { Certainty::NotDone };
            assert_eq!(certainty, expected, "{number}");
            let error = store.commit(commit(ChannelId::new(8), 0, Durability::Turn)).await;
            let error = error.unwrap_err().to_string();
            assert!(store.load(HERE).await.is_err(), "{number}: {error}");
            assert!(!folder.join("8.json").exists(), "{number}");
            store.close().await.unwrap();
        }
    }

    /// If another thread's sync fails, the disk may have lost the work that is still running.
    #[tokio::test]
    async fn a_change_beside_which_a_sync_failed_is_in_doubt() {
        let (_home, folder, store) = opened();
        fail(Step::SyncFile(folder.join("8.json")));
        let doubtful = store.ask(About::Change(HERE), |store| {
            let failed = store.commit(&commit(ChannelId::new(8), 0, Durability::Turn));
            assert!(failed.is_err());
            Ok(())
        });
        assert_eq!(doubtful.await.unwrap_err().certainty(), Certainty::Unknown);
        store.close().await.unwrap();
    }

    /// F26
    #[tokio::test]
    async fn of_a_damaged_record_one_copy_is_kept_however_often_its_replacement_fails() {
        let (_home, folder, store) = opened();
        store.commit(commit(HERE, 0, Durability::Fact)).await.unwrap();
        let file = folder.join("7.json");
        fs::write(&file, "no JSON").unwrap();
        store.load(HERE).await.unwrap_err();
        fail(Step::Put(file.clone()));
        for _ in 0..3 {
            let replacement =
                Commit { replaces_damaged: true, ..commit(HERE, 0, Durability::Turn) };
            store.commit(replacement).await.unwrap_err();
            assert_eq!(fs::read_to_string(&file).unwrap(), "no JSON");
            let [problem] = &store.problems()[..] else { panic!() };
            assert_eq!((&problem.kept, problem.bars), (&file, Some(Barred::Damaged)));
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_channel_whose_first_commit_failed_is_not_listed() {
        let (_home, folder, store) = opened();
        fail(Step::Put(folder.join("7.json")));
        store.commit(commit(HERE, 0, Durability::Fact)).await.unwrap_err();
        assert_eq!(store.channels().await.unwrap(), []);
        assert!(store.load(HERE).await.unwrap().is_none());
        store.commit(commit(ChannelId::new(8), 0, Durability::Fact)).await.unwrap();
        assert_eq!(store.channels().await.unwrap(), [ChannelId::new(8)]);
        store.close().await.unwrap();
    }

    #[tokio::test]
    async fn a_panic_costs_one_call_and_what_it_was_about_is_read_again() {
        let (_home, folder, store) = opened();
        store.commit(commit(HERE, 0, Durability::Turn)).await.unwrap();
        let broken = store.ask(About::Change(HERE), |_| -> Result<(), _> { panic!("on purpose") });
        assert!(matches!(broken.await, Err(StoreError::Interrupted { .. })));
        assert_eq!(store.load(HERE).await.unwrap().unwrap().revision, Revision::new(1));
        store.commit(commit(HERE, 1, Durability::Turn)).await.unwrap();
        assert!(fs::exists(folder.join("7.json")).unwrap());
        store.close().await.unwrap();
    }
}
