//! What is done with the files of a store. One thread at a time works on a channel; several work on different ones.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
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
use crate::disk::{Lock, ReadError, keep_aside, keep_copy, read, replace};
use crate::error::{Action, BadFile, OpenError, StoreError};
use crate::problems::Problems;
use crate::record::{Extras, LARGEST, ParsedChannel, file_text, parse_channel};

/// A folder that is open.
#[derive(Debug)]
pub(super) struct Store {
    folder: Folder,
    history_max: usize,
    /// The channels that have a file, each with what is known of it.
    known: Mutex<HashMap<ChannelId, Known>>,
    agents: RwLock<Agents>,
    /// Damaged records of which a copy was made, so that they may be replaced, each with its copy.
    copies: Mutex<HashMap<ChannelId, PathBuf>>,
    pub(super) problems: Arc<Problems<ChannelProblem>>,
    /// What could not be synced; from then on all is refused.
    broken: OnceLock<PathBuf>,
    /// No other store has the folder meanwhile.
    _lock: Lock,
}

/// What is known of a channel's files, so that they need not be read for each commit. By default nothing is.
#[derive(Debug, Default)]
struct Known {
    revision: Option<Revision>,
    /// What a newer version wrote into its record.
    extras: Extras,
    /// How many lines its history has.
    lines: Option<usize>,
}

/// How a commit ended that the files have nothing against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Committed {
    /// It was made.
    Done(Revision),
    /// It was made from another revision than the one that is stored.
    Conflict(Revision),
}

impl Store {
    /// Locks the folder, which is made where it is missing, and looks it through. No channel's file is read.
    pub(super) fn open(options: ChannelOptions) -> Result<Self, OpenError> {
        let ChannelOptions { path: root, history_max } = options;
        let folder = Folder::at(root)?;
        let lock = Lock::on_folder(folder.root())?;
        let channels = folder.open()?;
        let problems = Arc::new(Problems::default());
        let agents = read_agents(&folder, &channels, &problems)?;
        let known = channels.into_iter().map(|channel| (channel, Known::default())).collect();
        Ok(Self {
            folder,
            history_max,
            known: Mutex::new(known),
            agents: RwLock::new(agents),
            copies: Mutex::default(),
            problems,
            broken: OnceLock::new(),
            _lock: lock,
        })
    }

    /// Whether a sync failed. What the disk has is not known any more then.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            Some(path) => Err(StoreError::Broken { path: path.clone() }),
            None => Ok(()),
        }
    }

    /// Whether what was done counts. Where a sync failed meanwhile, on another thread, it may have been this one's change
    /// that the disk did not take: the system tells one of those who wait.
    pub(super) fn check_again(&self) -> Result<(), StoreError> {
        match self.broken.get() {
            Some(path) => Err(StoreError::unknown(Action::Sync, path, io::ErrorKind::Other.into())),
            None => Ok(()),
        }
    }

    /// Refuses everything from now on if this was a failed sync.
    fn note(&self, error: &StoreError) {
        if error.is_failed_sync() {
            let path = error.path();
            tracing::error!(path = %path.display(), "a sync failed: open the store again");
            let _ = self.broken.set(path.to_owned());
        }
    }

    /// The channels that have a record, in order.
    pub(super) fn channels(&self) -> Vec<ChannelId> {
        let mut channels: Vec<_> = lock(&self.known).keys().copied().collect();
        channels.sort_unstable();
        channels
    }

    /// A channel's record.
    pub(super) fn load(&self, channel: ChannelId) -> Result<Option<StoredChannel>, StoreError> {
        let found = self.read(channel)?;
        Ok(found.map(|ParsedChannel { revision, record, .. }| StoredChannel { revision, record }))
    }

    /// Replaces a channel's file, and waits until the disk has it.
    pub(super) fn commit(&self, commit: &Commit) -> Result<Committed, StoreError> {
        let channel = commit.channel;
        let (known, is_damaged) = match self.recall(channel) {
            Err(error) if commit.replaces_damaged && error.is_damaged_record() => (None, true),
            known => (known?, false),
        };
        let found = known.as_ref().and_then(|known| known.revision).unwrap_or_default();
        if found != commit.expected {
            if let Some(known) = known {
                self.learn(channel, known);
            }
            return Ok(Committed::Conflict(found));
        }
        let (mut known, revision) = (known.unwrap_or_default(), found.next());
        let content = self.content(commit, revision, &known.extras)?;
        if is_damaged {
            self.keep_damaged(channel)?;
        }
        self.put(channel, &content)?;
        known.revision = Some(revision);
        known.lines = self.append(commit, known.lines);
        self.learn(channel, known);
        if let Some(copy) = lock(&self.copies).remove(&channel) {
            problem::replaced(&self.problems, channel, &copy);
        }
        Ok(Committed::Done(revision))
    }

    /// What a commit writes.
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

    /// Puts content in the place of a channel's file.
    fn put(&self, channel: ChannelId, content: &[u8]) -> Result<(), StoreError> {
        // A panic must not make it one that was never seen.
        lock(&self.known).entry(channel).or_default();
        replace(&self.folder.file(channel), content).inspect_err(|error| {
            self.note(error);
            // It may be in its place all the same.
            let _ = self.read(channel);
        })
    }

    /// Tells the history what a commit changed. What cannot be written is missing, and nothing else is the worse for it.
    /// Returns how many lines the history has, if that is known.
    fn append(&self, commit: &Commit, lines: Option<usize>) -> Option<usize> {
        let Commit { channel, transitions, .. } = commit;
        if transitions.is_empty() || self.history_max == 0 {
            return lines;
        }
        let path = self.folder.history(*channel);
        history::append(&path, lines, transitions, self.history_max, &self.names())
            .inspect_err(
                |error| tracing::warn!(%channel, %error, "the history could not be written"),
            )
            .ok()
    }

    /// A channel's newest transitions, oldest first.
    pub(super) fn history(&self, channel: ChannelId) -> Result<Vec<Transition>, StoreError> {
        let path = self.folder.history(channel);
        history::newest(&path, self.history_max, &self.names())
            .map_err(|source| StoreError::not_done(Action::Read, &path, source))
    }

    /// Removes all files of a channel, and waits until the disk has that. Returns whether there were any.
    pub(super) fn delete(&self, channel: ChannelId) -> Result<bool, StoreError> {
        match self.read(channel) {
            // A newer version's record is not for this one to delete.
            Err(error) if !error.is_damaged_record() => return Err(error),
            Ok(_) | Err(_) => {}
        }
        let removed = self.folder.remove(channel).inspect_err(|error| self.note(error))?;
        lock(&self.known).remove(&channel);
        lock(&self.copies).remove(&channel);
        Ok(removed)
    }

    /// The agents in the order of their keys.
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

    /// What is known of a channel that has a record, its revision at least. From here until it is [learned](Self::learn)
    /// again nothing counts as known, so that what fails in between is read again.
    fn recall(&self, channel: ChannelId) -> Result<Option<Known>, StoreError> {
        let take = || lock(&self.known).get_mut(&channel).map(std::mem::take);
        match take() {
            Some(Known { revision: None, .. }) => {
                self.read(channel)?;
                Ok(take())
            }
            known => Ok(known),
        }
    }

    /// This is what is known of a channel now.
    fn learn(&self, channel: ChannelId, known: Known) {
        lock(&self.known).insert(channel, known);
    }

    /// Reads a channel's file. One that is damaged, or that another version wrote, stays in its place and bars the channel.
    fn read(&self, channel: ChannelId) -> Result<Option<ParsedChannel>, StoreError> {
        if !lock(&self.known).contains_key(&channel) {
            return Ok(None);
        }
        let path = self.folder.file(channel);
        let parsed = match read(&path, LARGEST) {
            Ok(Some(content)) => parse_own(channel, &content),
            Ok(None) => {
                // It was moved away.
                lock(&self.known).remove(&channel);
                lock(&self.copies).remove(&channel);
                return Ok(None);
            }
            Err(ReadError::Bad(reason)) => Err(reason),
            Err(ReadError::Io(source)) => {
                return Err(StoreError::not_done(Action::Read, &path, source));
            }
        };
        let parsed = parsed.map_err(|reason| self.bar(channel, &path, reason))?;
        lock(&self.copies).remove(&channel);
        let (revision, extras) = (Some(parsed.revision), parsed.extras.clone());
        self.learn(channel, Known { revision, extras, lines: None });
        Ok(Some(parsed))
    }

    /// The channel cannot be used: nothing of it is known any more, and its file stays.
    fn bar(&self, channel: ChannelId, path: &Path, reason: BadFile) -> StoreError {
        self.learn(channel, Known::default());
        let (source, kept) = (reason.clone(), path.to_owned());
        let error = StoreError::BadRecord { path: kept.clone(), channel, source };
        let (channel, bars) = (Some(channel), error.barred());
        self.problems.push(ChannelProblem { channel, kept, reason, bars });
        error
    }

    /// Copies a damaged record before it is replaced; one copy is enough, however often that fails.
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

/// A panic in a job leaves nothing half done: what counts is in the files.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What stands in a channel's file.
fn parse_own(channel: ChannelId, content: &[u8]) -> Result<ParsedChannel, BadFile> {
    let parsed = parse_channel(content)?;
    if parsed.channel == channel {
        Ok(parsed)
    } else {
        Err(BadFile::OtherChannel { found: parsed.channel })
    }
}

/// Who has which key. Lost, the file is put together again: what else the keys in the channels'
/// files meant would not be known.
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
        Err(ReadError::Bad(reason)) => Some(reason),
        Err(ReadError::Io(source)) => {
            return Err(StoreError::not_done(Action::Read, &path, source));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A panic may come before anything is noted of it.
    #[test]
    fn a_file_that_is_in_its_place_counts_from_there_on() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(home.path().into()).unwrap();
        let (channel, revision) = (ChannelId::new(7), Revision::new(1));
        let parsed =
            ParsedChannel::new(channel, revision, dirigent::store::ChannelRecord::default());
        store.put(channel, &parsed.to_json().unwrap()).unwrap();
        assert_eq!(store.channels(), [channel]);
        assert_eq!(store.load(channel).unwrap().unwrap().revision, revision);
    }
}
