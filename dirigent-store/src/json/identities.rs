//! The registry in a file that people can edit.

pub(crate) mod entry;
mod file;
mod parsed;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use dirigent::ports::{ApiError, ErrorKind, Identity, RegisterError};
use dirigent::{AgentId, IdentityStore};

pub use self::entry::BadEntry;
use self::file::RegistryFile;
pub use self::parsed::{ParsedIdentities, parse_identities};
use crate::error::{BadFile, OpenError, StoreError};
use crate::worker::{About, Answer, Worker};

/// An [`IdentityStore`] on one JSON file. The file is an array of objects with the fields `discordUserId`, `agentId`
/// and `agentName`, which are all strings. Clones share the store.
///
/// * One process has the file open at a time. The file stays locked until every clone is dropped, and a
///   [`Dirigent`](dirigent::Dirigent) and its [`Driver`](dirigent::Driver) have clones, too. You may edit the file in
///   the meantime, because every call reads it again. If you save the file at the same moment as a `register`, your
///   change is lost, as with any two editors.
/// * A change is on the disk and synced when its call returns. The file is replaced, so a reader finds the old or the
///   new content. It keeps its mode and its group. A file that the store creates is for its owner alone.
/// * An entry that cannot be read does not count and stays as it is. Unknown fields stay, too. If an object with a
///   field `entries` is around the array, the store reads it and keeps it.
/// * If the whole file cannot be read, the store does not open it and does not change it, because all agents would be
///   strangers without it. [`open_or_begin_anew`](Self::open_or_begin_anew) renames it to `<name>.corrupt-N` and starts
///   empty, and [`problems`](Self::problems) tells you. If the file becomes unreadable later, calls fail and do not
///   change it, because another program may be writing it.
/// * `register` refuses an account that is not a Discord id, an agent's id that cannot be shown in a line, and a name
///   of more than 100 characters. The error is an [`ErrorKind::Invalid`] with a [`BadEntry`] as its source. A name is
///   for people, so it may contain any character.
///
/// All work on the file happens on its own thread, which starts when it is opened. Requested work is done even if its
/// caller stops waiting for the answer. When you drop the last handle, the drop waits for the work.
///
/// ```
/// use dirigent::ports::Identity;
/// use dirigent::{IdentityStore, UserId};
/// use dirigent_store::JsonIdentities;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let identities = JsonIdentities::open(folder.path().join(JsonIdentities::FILE_NAME))?;
/// identities
///     .register(Identity {
///         discord_user_id: UserId::new(123456789012345678),
///         agent_id: "home-developer".into(),
///         agent_name: "Developer".to_owned(),
///     })
///     .await?;
/// assert_eq!(identities.all().await?.len(), 1);
/// assert!(identities.problems().is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct JsonIdentities {
    shared: Arc<RegistryWriter>,
}

#[derive(Debug)]
struct RegistryWriter {
    worker: Worker<Job>,
    problems: Arc<Mutex<Problems>>,
}

type Job = Box<dyn FnOnce(&mut Registry) + Send>;

#[derive(Debug)]
struct Registry {
    file: RegistryFile,
    problems: Arc<Mutex<Problems>>,
}

/// The problems at the time of opening, and the problems now.
#[derive(Debug, Default)]
struct Problems {
    opening: Option<RegistryProblem>,
    entries: Vec<RegistryProblem>,
}

/// A problem of the registry's file that an operator should look at.
///
/// ```
/// use dirigent_store::{JsonIdentities, RegistryProblem};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("agents.json");
/// std::fs::write(&path, "no JSON")?;
/// assert!(JsonIdentities::open(&path).is_err());
/// let identities = JsonIdentities::open_or_begin_anew(&path)?;
/// let [RegistryProblem::KeptAside { kept, .. }] = &identities.problems()[..] else { panic!() };
/// assert_eq!(std::fs::read_to_string(kept)?, "no JSON");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryProblem {
    /// The whole file could not be read at the time of opening, so the registry started empty, as you had asked.
    KeptAside {
        /// The path of the file now.
        kept: PathBuf,
        /// What is wrong with it.
        reason: BadFile,
    },
    /// An entry does not count.
    BadEntry {
        /// The place of the entry in the file, counted from 1.
        number: usize,
        /// What is wrong with it.
        reason: BadEntry,
    },
}

impl fmt::Display for RegistryProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeptAside { kept, reason } => {
                write!(f, "the file is kept as {}: {reason}", kept.display())
            }
            Self::BadEntry { number, reason } => {
                write!(f, "entry {number} does not count: {reason}")
            }
        }
    }
}

impl JsonIdentities {
    /// The usual name of the file.
    pub const FILE_NAME: &str = "dirigent-identity.json";

    /// Opens the registry. The file need not exist yet, and its folder is created if it is missing. This works on the
    /// calling thread, so open the registry before the runtime has anything to do.
    ///
    /// # Errors
    ///
    /// Returns [`OpenError::InUse`] if the registry is already open, and [`OpenError::Damaged`] if the whole file
    /// cannot be read. Otherwise returns the error of the system.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_as(path.as_ref(), false)
    }

    /// Opens the registry like [`open`](Self::open). But a file that cannot be read as a whole gets another name, and
    /// the registry starts empty, so every registration in that file is lost. Call this only if an operator has decided
    /// it. [`problems`](Self::problems) has the path of the old file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`open`](Self::open), except [`OpenError::Damaged`].
    pub fn open_or_begin_anew(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::open_as(path.as_ref(), true)
    }

    fn open_as(path: &Path, begins_anew: bool) -> Result<Self, OpenError> {
        let (file, aside) = RegistryFile::open(path, begins_anew)?;
        let path = file.path().to_owned();
        let opening = aside.map(|(kept, reason)| RegistryProblem::KeptAside { kept, reason });
        if let Some(problem) = &opening {
            tracing::warn!(path = %path.display(), %problem, "the registry starts empty");
        }
        let problems = Arc::new(Mutex::new(Problems { opening, entries: Vec::new() }));
        let mut registry = Registry { file, problems: Arc::clone(&problems) };
        registry.read(RegistryFile::read)?;
        let worker = Worker::start("dirigent-identities", path, move |jobs| {
            jobs.work(1, |job: Job| job(&mut registry));
        })?;
        Ok(Self { shared: Arc::new(RegistryWriter { worker, problems }) })
    }

    /// Returns the path of the file, with links resolved.
    pub fn path(&self) -> &Path {
        self.shared.worker.path()
    }

    /// Returns the problems of the file: the one at the time of opening, if the file was renamed, and the entries that
    /// did not count in the last read.
    pub fn problems(&self) -> Vec<RegistryProblem> {
        let problems = lock(&self.shared.problems);
        problems.opening.iter().chain(&problems.entries).cloned().collect()
    }

    async fn on_thread<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut Registry) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let job = |answer: Answer<T>| -> Job {
            // A caller may have stopped waiting, but the job is done all the same.
            Box::new(move |registry| drop(answer.send(job(registry))))
        };
        self.shared.worker.call(About::Rest, job).await
    }
}

#[async_trait]
impl IdentityStore for JsonIdentities {
    async fn all(&self) -> Result<Vec<Identity>, ApiError> {
        Ok(self.on_thread(|registry| registry.all()).await?)
    }

    async fn register(&self, identity: Identity) -> Result<(), RegisterError> {
        let done = self.on_thread(move |registry| Ok(registry.register(&identity))).await;
        done.map_err(ApiError::from)?
    }

    async fn remove(&self, agent: AgentId) -> Result<bool, ApiError> {
        Ok(self.on_thread(move |registry| registry.remove(&agent)).await?)
    }
}

impl Registry {
    fn all(&self) -> Result<Vec<Identity>, StoreError> {
        Ok(self.read(RegistryFile::read)?.identities().cloned().collect())
    }

    fn register(&mut self, identity: &Identity) -> Result<(), RegisterError> {
        entry::check(identity).map_err(|bad| ApiError::new(ErrorKind::Invalid).with_source(bad))?;
        let mut registry = self.read(RegistryFile::read_to_change).map_err(ApiError::from)?;
        match registry.put(identity) {
            Err(owner) => Err(RegisterError::AccountTaken { owner }),
            Ok(false) => Ok(()),
            Ok(true) => Ok(self.file.write(&registry).map_err(ApiError::from)?),
        }
    }

    fn remove(&mut self, agent: &AgentId) -> Result<bool, StoreError> {
        let mut registry = self.read(RegistryFile::read_to_change)?;
        let is_known = registry.remove(agent);
        if is_known {
            self.file.write(&registry)?;
        }
        Ok(is_known)
    }

    /// Reads the file, and notes its problems.
    fn read(
        &self,
        read: impl FnOnce(&RegistryFile) -> Result<ParsedIdentities, StoreError>,
    ) -> Result<ParsedIdentities, StoreError> {
        let registry = read(&self.file)?;
        let bad = registry.bad_entries().into_iter();
        let bad: Vec<_> =
            bad.map(|(number, reason)| RegistryProblem::BadEntry { number, reason }).collect();
        let mut problems = lock(&self.problems);
        if problems.entries != bad {
            for problem in &bad {
                tracing::warn!(path = %self.file.path().display(), %problem);
            }
            problems.entries = bad;
        }
        Ok(registry)
    }
}

fn lock(problems: &Mutex<Problems>) -> MutexGuard<'_, Problems> {
    problems.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_in_the_work_is_told_and_the_next_call_works() {
        let folder = tempfile::tempdir().unwrap();
        let store = JsonIdentities::open(folder.path().join("agents.json")).unwrap();
        let broken =
            store.on_thread(|_| -> Result<u32, _> { panic!("on purpose") }).await.unwrap_err();
        assert!(matches!(broken, StoreError::Interrupted { .. }));
        assert_eq!(broken.certainty(), dirigent::ports::Certainty::Unknown);
        assert!(store.all().await.unwrap().is_empty());
    }
}
