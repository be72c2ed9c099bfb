//! The work on the files of a store. At most one thread works on a channel at a time, and several threads work on
//! different channels.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use dirigent::operate::Transition;
use dirigent::snapshot::AgentKey;
use dirigent::store::{Commit, Revision, StoredChannel};
use dirigent::{AgentId, ChannelId};

use super::agents::{self, Agents};
use super::folder::Folder;
use super::history;
use super::options::ChannelOptions;
use super::problem::{self, ChannelProblem};
use crate::disk::{Lock, keep_aside, keep_copy, read, replace};
use crate::error::{Action, BadFile, OpenError, StoreError};
use crate::problems::Problems;
use crate::record::{Extras, LARGEST, ParsedChannel, file_text, parse_channel};

#[derive(Debug)]
pub(super) struct Store {
    folder: Folder,
    history_max: usize,
    agents: RwLock<Agents>,
    /// The damaged records that were copied, so that they may be replaced, each with the path of its copy.
    copies: Mutex<HashMap<ChannelId, PathBuf>>,
    pub(super) problems: Arc<Problems<ChannelProblem>>,
    /// The path that could not be synced. From then on all work is refused.
    broken: OnceLock<PathBuf>,
    /// While this is held, no other store has the folder.
    _lock: Lock,
}

impl Store {
    /// Locks the folder, creates it if it is missing, and checks it. Reads no file of a channel.
    pub(super) fn open(options: ChannelOptions) -> Result<Self, OpenError> {
        let ChannelOptions { path: root, history_max } = options;
        let folder = Folder::at(root)?;
        let lock = Lock::on_folder(folder.root())?;
        let channels = folder.open()?;
        let problems = Arc::new(Problems::default());
        let agents = read_agents(&folder, &channels, &problems)?;
        Ok(Self {
            folder,
            history_max,
            agents: RwLock::new(agents),
            copies: Mutex::default(),
            problems,
            broken: OnceLock::new(),
            _lock: lock,
        })
    }

    /// Returns an error if a sync failed before, because the content of the disk is unknown since then.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            Some(path) => Err(StoreError::Broken { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Returns an error if the finished work may not count. If a sync failed on another thread in the meantime, the
    /// disk may have lost the change of this thread, because the system reports the failure to only one of those who
    /// wait.
    pub(super) fn check_again(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            Some(path) => Err(StoreError::unknown(Action::Sync, path, io::ErrorKind::Other.into())),
            None => Ok(()),
        }
    }

    /// Refuses everything from now on if this error is a failed sync.
    fn note(&self, error: &StoreError) {
        if error.is_failed_sync() {
            let path = error.path();
            tracing::error!(path = %path.display(), "a sync failed: open the store again");
            let _ = self.broken.set(path.to_owned());
        }
    }

    pub(super) fn channels(&self) -> Result<Vec<ChannelId>, StoreError> {
        self.folder.channels()
    }

    pub(super) fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, StoreError> {
        let found = self.read(channel)?;
        Ok(found.map(|ParsedChannel { revision, record, .. }| StoredChannel { revision, record }))
    }

    /// Replaces the file of a channel, and waits until the disk has it. Returns the stored revision as an error if the
    /// commit was made from another one.
    pub(super) fn commit(&self, commit: &Commit) -> Result<Result<Revision, Revision>, StoreError> {
        let channel = commit.channel;
        let (known, is_damaged) = match self.read(channel) {
            Err(error) if commit.replaces_damaged && error.is_damaged_record() => (None, true),
            known => (known?, false),
        };
        let known = known.map(|known| (known.revision, known.extras));
        let (found, extras) = known.unwrap_or_default();
        if found != commit.expected {
            return Ok(Err(found));
        }
        let revision = found.next();
        let content = self.content(commit, revision, &extras)?;
        if is_damaged {
            self.keep_damaged(channel)?;
        }
        let file = self.folder.file(channel);
        replace(&file, &content).inspect_err(|error| self.note(error))?;
        self.append(commit);
        if let Some(copy) = lock(&self.copies).remove(&channel) {
            problem::replaced(&self.problems, channel, &copy);
        }
        Ok(Ok(revision))
    }

    fn content(
        &self,
        commit: &Commit,
        revision: Revision,
        extras: &Extras,
    ) -> Result<Vec<u8>, StoreError> {
        let Commit { channel, record, .. } = commit;
        let names = self.names().of(record);
        let content =
            file_text((*channel, revision), record, &names, extras).map_err(|source| {
                StoreError::Unwritable { path: self.folder.file(*channel), source }
            })?;
        if content.len() > LARGEST {
            return Err(StoreError::TooLarge { path: self.folder.file(*channel), limit: LARGEST });
        }
        Ok(content)
    }

    /// Adds the changes of a commit to the history. A change that cannot be written is missing, which has no other
    /// effect.
    fn append(&self, Commit { channel, transitions, .. }: &Commit) {
        if transitions.is_empty() || self.history_max == 0 {
            return;
        }
        let path = self.folder.history(*channel);
        let written = history::append(&path, transitions, self.history_max, &self.names());
        if let Err(error) = written {
            tracing::warn!(%channel, %error, "the history could not be written");
        }
    }

    /// Returns the newest transitions of a channel, the oldest one first.
    pub(super) fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, StoreError> {
        let path = self.folder.history(channel);
        history::newest(&path, self.history_max, &self.names())
    }

    /// Removes all files of a channel, and waits until the disk has done it. Returns true if there were any.
    pub(super) fn delete(&self, channel: ChannelId) -> Result<bool, StoreError> {
        match self.read(channel) {
            // This version may not delete the record of a newer version.
            Err(error) if !error.is_damaged_record() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let removed = self.folder.remove(channel).inspect_err(|error| self.note(error))?;
        lock(&self.copies).remove(&channel);
        Ok(removed)
    }

    pub(super) fn agents(&self) -> Vec<AgentId> {
        self.names().names().to_vec()
    }

    /// Gives an agent a key, and waits until the disk has it.
    pub(super) fn add_agent(&self, agent: AgentId) -> Result<AgentKey, StoreError> {
        let mut agents = self.agents.write().unwrap_or_else(PoisonError::into_inner);
        agents.register(agent, &self.folder.agents()).inspect_err(|error| self.note(error))
    }

    fn names(&self) -> RwLockReadGuard<'_, Agents> {
        self.agents.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the file of a channel. If it is damaged, or another version wrote it, it stays in its place and the
    /// channel cannot be used.
    fn read(&self, channel: ChannelId) -> Result<Option<ParsedChannel>, StoreError> {
        let path = self.folder.file(channel);
        let parsed = match read(&path, LARGEST) {
            Ok(content) => content.map(|content| parse_own(channel, &content)).transpose(),
            Err(StoreError::BadFile { source, .. }) => Err(source),
            Err(error) => return Err(error),
        };
        let parsed = parsed.map_err(|reason| self.bar(channel, path, reason))?;
        lock(&self.copies).remove(&channel);
        Ok(parsed)
    }

    fn bar(&self, channel: ChannelId, kept: PathBuf, reason: BadFile) -> StoreError {
        let source = reason.clone();
        let error = StoreError::BadRecord { path: kept.clone(), channel, source };
        let (channel, bars) = (Some(channel), error.barred());
        self.problems.push(ChannelProblem { channel, kept, reason, bars });
        error
    }

    /// Copies a damaged record before it is replaced. There is only one copy, even if the replacement fails several
    /// times.
    fn keep_damaged(&self, channel: ChannelId) -> Result<(), StoreError> {
        if lock(&self.copies).contains_key(&channel) {
            return Ok(());
        }
        let kept = keep_copy(&self.folder.file(channel)).inspect_err(|error| self.note(error))?;
        tracing::warn!(kept = %kept.display(), "a damaged record is replaced");
        lock(&self.copies).insert(channel, kept);
        Ok(())
    }
}

/// A panic in a job leaves no job half done, because only the files count.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn parse_own(channel: ChannelId, content: &[u8]) -> Result<ParsedChannel, BadFile> {
    let parsed = parse_channel(content)?;
    if parsed.channel == channel {
        Ok(parsed)
    } else {
        Err(BadFile::OtherChannel { found: parsed.channel })
    }
}

/// Reads the keys of the agents. If the file is lost, it is rebuilt, because otherwise the keys in the channels' files
/// would have no meaning.
fn read_agents(
    folder: &Folder,
    channels: &[ChannelId],
    problems: &Problems<ChannelProblem>,
) -> Result<Agents, StoreError> {
    let path = folder.agents();
    let reason = match read(&path, agents::LARGEST) {
        Ok(None) if channels.is_empty() => return Ok(Agents::default()),
        Ok(None) => None,
        Ok(Some(content)) => match Agents::parse(&content) {
            Ok(agents) => return Ok(agents),
            Err(source @ BadFile::OtherVersion { .. }) => {
                return Err(StoreError::BadFile { path, source });
            }
            Err(reason) => Some(reason),
        },
        Err(StoreError::BadFile { source, .. }) => Some(source),
        Err(error) => return Err(error),
    };
    if let Some(reason) = reason {
        let kept = keep_aside(&path)?;
        problems.push(ChannelProblem { channel: None, kept, reason, bars: None });
    }
    let mut names = BTreeMap::new();
    for channel in channels {
        let content = read(&folder.file(*channel), LARGEST).ok().flatten();
        let parsed = content.and_then(|content| parse_channel(&content).ok());
        names.extend(parsed.into_iter().flat_map(|parsed| parsed.agents));
    }
    Ok(agents::rebuild(&names))
}
