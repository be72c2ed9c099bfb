//! What the store knows of each channel, and its files: read, kept aside, and put in their places where
//! that need not be synced at once.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use dirigent::{AgentId, AgentKey, ChannelId, Commit, Durability, Revision, Transition};

use super::agents::Agents;
use super::folders::{FileKind, Folders, number_of};
use super::history::{self, Lines};
use super::options::FileDurability;
use super::problem::{ChannelProblem, Problems};
use super::sync::{SyncQueue, Write};
use crate::channel_file::{Extras, LARGEST, ParsedChannel, parse_channel};
use crate::error::{Action, BadFile, StoreError};
use crate::lock::Lock;
use crate::replace::{ReadError, keep_aside, keep_copy, read, replace};

/// What is known of a channel that has a file.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Its revision, once it was read or written.
    revision: Option<Revision>,
    /// There is a file of a turn.
    pub(super) has_turn: bool,
    /// What is known of its history's file.
    lines: Option<Lines>,
}

/// What the thread that everything passes works on.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) folders: Arc<Folders>,
    pub(super) durability: FileDurability,
    pub(super) history_max: usize,
    pub(super) queue: Arc<SyncQueue>,
    pub(super) problems: Arc<Mutex<Problems>>,
    pub(super) agents: Agents,
    pub(super) channels: HashMap<ChannelId, Known>,
    /// The folders that are there.
    pub(super) made: BTreeSet<u8>,
    /// What newer versions wrote into a channel's file.
    pub(super) extras: HashMap<ChannelId, Box<Extras>>,
    /// The files of damaged records, each with the name of its copy, so that they may be replaced.
    pub(super) copies: HashMap<ChannelId, Vec<(PathBuf, PathBuf)>>,
    /// No other store has the folder while the desk lives.
    pub(super) _lock: Lock,
}

/// A file that was looked for.
enum Found {
    Nothing,
    Good(Box<ParsedChannel>),
    Bad(Bad),
}

/// A file that cannot be read.
struct Bad {
    path: PathBuf,
    reason: BadFile,
}

impl Desk {
    /// Turns of a process that ended before they were synced are synced now.
    pub(super) fn take_up_turns(&mut self) {
        let with_turn = self.channels.iter().filter(|(_, known)| known.has_turn);
        let channels: Vec<_> = with_turn.map(|(channel, _)| *channel).collect();
        for channel in channels {
            self.take_up_turn(channel);
        }
    }

    /// A turn that has a file is synced, unless it was.
    pub(super) fn take_up_turn(&mut self, channel: ChannelId) {
        // What cannot be read now is told to the caller that asks for it.
        let Ok(Some(parsed)) = self.read(channel) else {
            return;
        };
        let has_turn = self.channels.get(&channel).is_some_and(|known| known.has_turn);
        if let (true, FileDurability::Full, Ok(content)) =
            (has_turn, self.durability, parsed.to_json())
        {
            self.queue.push_turn(Write { channel, revision: parsed.revision, content });
        }
    }

    pub(super) fn known_channels(&self) -> Result<Vec<ChannelId>, StoreError> {
        self.queue.check()?;
        let mut channels: Vec<_> = self.channels.keys().copied().collect();
        channels.sort_unstable();
        Ok(channels)
    }

    pub(super) fn add_agent(&mut self, agent: AgentId) -> Result<AgentKey, StoreError> {
        if let Some(key) = self.agents.key(&agent) {
            return Ok(key);
        }
        let path = self.folders.agents();
        let no_more = || io::Error::other("no more agent keys");
        let key = self
            .agents
            .add(agent)
            .ok_or_else(|| StoreError::not_done(Action::Write, &path, no_more()))?;
        let content = self.agents.to_json();
        if let Err(error) = replace(&path, &content, self.durability.of(Durability::Fact)) {
            self.queue.note(&error, &path);
            self.agents.take_back();
            return Err(error);
        }
        Ok(key)
    }

    /// Reads a channel: the newer of its two files. A damaged file is kept aside where the other one
    /// speaks for the channel; where none does, and where a newer version wrote one, all stays in its
    /// place and bars the channel.
    pub(super) fn read(&mut self, channel: ChannelId) -> Result<Option<ParsedChannel>, StoreError> {
        let Some(has_turn) = self.channels.get(&channel).map(|known| known.has_turn) else {
            return Ok(None);
        };
        let turn = if has_turn { self.read_file(channel, FileKind::Turn)? } else { Found::Nothing };
        let main = self.read_file(channel, FileKind::Main)?;
        let (has_turn, newer) = match (turn, main) {
            // Only that version knows which of the two is the newer.
            (Found::Bad(bad), _) | (_, Found::Bad(bad)) if bad.reason.is_newer() => {
                return Err(self.bar(channel, bad));
            }
            (Found::Good(turn), Found::Good(main)) if turn.revision <= main.revision => {
                self.remove_turn(channel, main.revision);
                (false, main)
            }
            (Found::Good(turn), Found::Good(_) | Found::Nothing) => (true, turn),
            (Found::Good(turn), Found::Bad(main)) => {
                // A power cut must not leave the channel without either.
                self.sync_turn(channel)?;
                self.set_aside(channel, FileKind::Main, main)?;
                (true, turn)
            }
            (Found::Bad(turn), Found::Good(main)) => {
                self.set_aside(channel, FileKind::Turn, turn)?;
                (false, main)
            }
            (Found::Nothing, Found::Good(main)) => (false, main),
            (Found::Bad(_) | Found::Nothing, Found::Bad(bad))
            | (Found::Bad(bad), Found::Nothing) => return Err(self.bar(channel, bad)),
            (Found::Nothing, Found::Nothing) => {
                self.queue.forget(channel);
                self.channels.remove(&channel);
                self.copies.remove(&channel);
                return Ok(None);
            }
        };
        let known = self.channels.entry(channel).or_default();
        known.revision = Some(newer.revision);
        known.has_turn = has_turn;
        self.copies.remove(&channel);
        if newer.extras.is_empty() {
            self.extras.remove(&channel);
        } else {
            self.extras.insert(channel, Box::new(newer.extras.clone()));
        }
        Ok(Some(*newer))
    }

    /// The channel cannot be used: nothing of it is known any more, and its files stay.
    fn bar(&mut self, channel: ChannelId, Bad { path, reason }: Bad) -> StoreError {
        self.extras.remove(&channel);
        if let Some(known) = self.channels.get_mut(&channel) {
            known.revision = None;
        }
        let source = reason.clone();
        let error = StoreError::BadRecord { path: path.clone(), channel, source };
        self.tell(ChannelProblem {
            channel: Some(channel),
            kept: path,
            reason,
            bars: error.barred(),
        });
        error
    }

    /// Keeps a damaged file aside that the other one speaks for.
    fn set_aside(&self, channel: ChannelId, kind: FileKind, bad: Bad) -> Result<(), StoreError> {
        let Bad { path, reason } = bad;
        // The thread that syncs may have replaced it since it was read; not so any more.
        let _hold = self.queue.hold();
        if !matches!(self.parse_file(channel, kind)?, Found::Bad(_)) {
            return Ok(());
        }
        let kept = keep_aside(&path)?;
        self.tell(ChannelProblem { channel: Some(channel), kept, reason, bars: None });
        Ok(())
    }

    fn tell(&self, problem: ChannelProblem) {
        self.problems.lock().unwrap_or_else(PoisonError::into_inner).push(problem);
    }

    fn sync_turn(&self, channel: ChannelId) -> Result<(), StoreError> {
        let path = self.folders.file(channel, FileKind::Turn);
        let synced = File::open(&path).and_then(|file| file.sync_all());
        synced.map_err(|source| StoreError::not_done(Action::Sync, &path, source))
    }

    /// Gives what is left of a damaged record a second name, before it is replaced.
    pub(super) fn keep_damaged(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        if !self.channels.contains_key(&channel) || self.copies.contains_key(&channel) {
            return Ok(());
        }
        let mut copies = Vec::new();
        for kind in [FileKind::Main, FileKind::Turn] {
            let path = self.folders.file(channel, kind);
            if path.exists() {
                let kept = keep_copy(&path)?;
                tracing::warn!(kept = %kept.display(), "a damaged file is replaced");
                copies.push((path, kept));
            }
        }
        self.copies.insert(channel, copies);
        Ok(())
    }

    fn read_file(&self, channel: ChannelId, kind: FileKind) -> Result<Found, StoreError> {
        match self.parse_file(channel, kind) {
            Ok(Found::Bad(_)) => {
                // It may have been replaced while it was read; not so any more.
                let _hold = self.queue.hold();
                self.parse_file(channel, kind)
            }
            other => other,
        }
    }

    fn parse_file(&self, channel: ChannelId, kind: FileKind) -> Result<Found, StoreError> {
        let path = self.folders.file(channel, kind);
        let bad = |reason| Ok(Found::Bad(Bad { path: path.clone(), reason }));
        let content = match read(&path, LARGEST) {
            Ok(Some(content)) => content,
            Ok(None) => return Ok(Found::Nothing),
            Err(ReadError::Io(source)) => {
                return Err(StoreError::not_done(Action::Read, &path, source));
            }
            Err(ReadError::Bad(reason)) => return bad(reason),
        };
        match parse_channel(&content) {
            Ok(parsed) if parsed.channel == channel => Ok(Found::Good(Box::new(parsed))),
            Ok(parsed) => bad(BadFile::OtherChannel { found: parsed.channel }),
            Err(reason) => bad(reason),
        }
    }

    /// The revision that is stored.
    pub(super) fn revision(&mut self, channel: ChannelId) -> Result<Revision, StoreError> {
        match self.channels.get(&channel) {
            None => Ok(Revision::default()),
            Some(Known { revision: Some(revision), .. }) => Ok(*revision),
            Some(Known { revision: None, .. }) => {
                Ok(self.read(channel)?.map_or_else(Revision::default, |found| found.revision))
            }
        }
    }

    /// What a commit writes.
    pub(super) fn content(
        &self,
        commit: Commit,
        revision: Revision,
    ) -> Result<Vec<u8>, StoreError> {
        let Commit { channel, record, .. } = commit;
        let agents = self.agents.of(&record);
        let extras = self.extras.get(&channel).map(|extras| Extras::clone(extras));
        let extras = extras.unwrap_or_default();
        let file = ParsedChannel { channel, revision, record, agents, extras };
        let path = || self.folders.file(channel, FileKind::Main);
        let content =
            file.to_json().map_err(|source| StoreError::Unwritable { path: path(), source })?;
        if content.len() > LARGEST {
            let source = BadFile::TooLarge { limit: LARGEST };
            return Err(StoreError::BadFile { path: path(), source });
        }
        Ok(content)
    }

    /// Makes the channel's folder. The disk learns of it before it learns of a file in it.
    pub(super) fn make_folder(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        let number = number_of(channel);
        if !self.made.contains(&number) {
            let folder = self.folders.folder(number);
            let mut builder = std::fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.recursive(true).create(&folder) {
                Ok(()) => self.made.insert(number),
                Err(error) => {
                    return Err(StoreError::not_done(Action::CreateFolder, &folder, error));
                }
            };
        }
        Ok(())
    }

    /// Puts content in the place of a channel's file, without a sync.
    pub(super) fn put(
        &mut self,
        channel: ChannelId,
        kind: FileKind,
        content: &[u8],
    ) -> Result<(), StoreError> {
        replace(&self.folders.file(channel, kind), content, Durability::Turn)
    }

    /// A commit was made.
    pub(super) fn made(
        &mut self,
        channel: ChannelId,
        revision: Revision,
        transitions: &[Transition],
    ) {
        let known = self.channels.entry(channel).or_default();
        known.revision = Some(revision);
        for (damaged, copy) in self.copies.remove(&channel).into_iter().flatten() {
            self.problems.lock().unwrap_or_else(PoisonError::into_inner).replaced(&damaged, &copy);
        }
        if transitions.is_empty() || self.history_max == 0 {
            return;
        }
        let path = self.folders.history(channel);
        let written =
            history::append(&path, known.lines, transitions, self.history_max, &self.agents);
        if let Err(error) = &written {
            tracing::warn!(%channel, %error, "the history could not be written");
        }
        known.lines = written.ok();
    }

    /// Removes a turn's file if it is no newer than what was synced. The disk may forget that: an
    /// older file loses against a newer one.
    pub(super) fn remove_turn(&mut self, channel: ChannelId, synced: Revision) {
        let Some(known) = self.channels.get_mut(&channel) else {
            return;
        };
        if known.has_turn && known.revision.is_none_or(|revision| revision <= synced) {
            known.has_turn = false;
            if let Err(error) = std::fs::remove_file(self.folders.file(channel, FileKind::Turn)) {
                tracing::debug!(%channel, %error, "the file of a synced turn stays");
            }
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.queue.close();
    }
}
