//! The record of each channel, which is the newer of its file and its turn: read, kept aside, and put in its place where
//! that need not be synced at once.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::store::{Commit, Durability, Revision};

use super::agents::Agents;
use super::folders::{Folders, number_of};
use super::options::FileDurability;
use super::problem::{self, ChannelProblem};
use super::sync::SyncQueue;
use super::turn_log::{self, TurnLog};
use crate::disk::{ReadError, keep_aside, keep_bytes, keep_copy, read, replace};
use crate::error::{Action, BadFile, StoreError};
use crate::problems::Problems;
use crate::record::{Extras, LARGEST, ParsedChannel, file_text, parse_channel};

/// The records of all channels, each in its file, in its turn, or in both.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) folders: Arc<Folders>,
    pub(super) durability: FileDurability,
    pub(super) queue: Arc<SyncQueue>,
    pub(super) problems: Arc<Problems<ChannelProblem>>,
    /// The channels that have a record, each with its revision, once that was read or written.
    pub(super) revisions: HashMap<ChannelId, Option<Revision>>,
    /// Turns that are in no channel's file.
    pub(super) log: TurnLog,
    /// The folders that are there.
    pub(super) made: BTreeSet<u8>,
    /// What newer versions wrote into a channel's file.
    pub(super) extras: HashMap<ChannelId, Box<Extras>>,
    /// Where damaged records stand, each with the name of its copy, so that they may be replaced.
    pub(super) copies: HashMap<ChannelId, Vec<(PathBuf, PathBuf)>>,
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

impl Records {
    /// Removes the files of the log that hold no turn any more.
    pub(super) fn remove_empty(&mut self) {
        let emptied = self.log.take_empty();
        match self.durability {
            FileDurability::Full => self.queue.remove(emptied),
            FileDurability::None => turn_log::remove(emptied),
        }
    }

    /// A turn of this revision, in the log.
    pub(super) fn put_turn(
        &mut self,
        channel: ChannelId,
        revision: Revision,
        content: &[u8],
    ) -> Result<(), StoreError> {
        self.queue.grew(self.log.append(channel, revision, content)?);
        Ok(())
    }

    /// Reads a channel: the newer of its file and its turn. A damaged one is kept aside where the other one
    /// speaks for the channel; where none does, where the disk or this store had a newer turn that is damaged, and where
    /// another version wrote one, all stays in its place and bars the channel.
    pub(super) fn read(&mut self, channel: ChannelId) -> Result<Option<ParsedChannel>, StoreError> {
        if !self.revisions.contains_key(&channel) {
            return Ok(None);
        }
        let (turn, main) = (self.read_turn(channel)?, self.read_file(channel)?);
        self.lose_damaged_turn(channel, &turn, &main);
        let newer = match (turn, main) {
            // Only that version knows which of the two is the newer.
            (Found::Bad(bad), _) | (_, Found::Bad(bad)) if bad.reason.is_other_version() => {
                return Err(self.bar(channel, bad));
            }
            (Found::Good(turn), Found::Good(main)) if turn.revision <= main.revision => {
                self.log.forget(channel, main.revision);
                main
            }
            (Found::Good(turn), Found::Good(_) | Found::Nothing) => turn,
            (Found::Good(turn), Found::Bad(main)) => {
                // A power cut must not leave the channel without either.
                let synced = self.log.file_of(channel).map_or(Ok(()), |file| file.sync());
                synced.inspect_err(|error| self.queue.note(error, error.path()))?;
                self.set_aside(channel, main)?;
                turn
            }
            (Found::Bad(turn), Found::Good(main)) if self.is_lost_after(channel, main.revision) => {
                return Err(self.bar(channel, turn));
            }
            (Found::Bad(turn), Found::Good(main)) => {
                self.set_turn_aside(channel, turn)?;
                main
            }
            (Found::Nothing, Found::Good(main)) => main,
            (Found::Bad(_) | Found::Nothing, Found::Bad(bad))
            | (Found::Bad(bad), Found::Nothing) => return Err(self.bar(channel, bad)),
            (Found::Nothing, Found::Nothing) => {
                self.queue.forget(channel);
                self.revisions.remove(&channel);
                self.copies.remove(&channel);
                return Ok(None);
            }
        };
        self.revisions.insert(channel, Some(newer.revision));
        self.copies.remove(&channel);
        if newer.extras.is_empty() {
            self.extras.remove(&channel);
        } else {
            self.extras.insert(channel, Box::new(newer.extras.clone()));
        }
        Ok(Some(*newer))
    }

    /// A turn that cannot be read any more is lost where the store knows that it was newer than the channel's file.
    fn lose_damaged_turn(&mut self, channel: ChannelId, turn: &Found, main: &Found) {
        let Found::Bad(bad) = turn else { return };
        let known = self.revisions.get(&channel).copied().flatten();
        let in_file = if let Found::Good(main) = main { Some(main.revision) } else { None };
        if bad.reason.is_other_version() || known <= in_file {
            return;
        }
        match self.log.lose(channel) {
            Ok(grown) => grown.into_iter().for_each(|grown| self.queue.grew(grown)),
            Err(error) => {
                tracing::warn!(%channel, %error, "the log could not note that a turn is damaged: after a restart the damage is unknown");
            }
        }
    }

    /// Whether the disk had a turn of a channel that is newer than this and was damaged since.
    fn is_lost_after(&self, channel: ChannelId, revision: Revision) -> bool {
        self.log.is_lost(channel) && self.log.revision(channel) > Some(revision)
    }

    /// The channel cannot be used: nothing of it is known any more, and its files stay.
    fn bar(&mut self, channel: ChannelId, Bad { path, reason }: Bad) -> StoreError {
        self.extras.remove(&channel);
        self.unlearn(channel);
        let source = reason.clone();
        let error = StoreError::BadRecord { path: path.clone(), channel, source };
        self.problems.push(ChannelProblem {
            channel: Some(channel),
            kept: path,
            reason,
            bars: error.barred(),
        });
        error
    }

    /// Keeps a damaged file aside that the channel's turn speaks for.
    fn set_aside(&self, channel: ChannelId, bad: Bad) -> Result<(), StoreError> {
        let Bad { path, reason } = bad;
        // The thread that syncs may have replaced it since it was read; not so any more.
        let _hold = self.queue.hold();
        if !matches!(self.parse_file(channel)?, Found::Bad(_)) {
            return Ok(());
        }
        let kept = keep_aside(&path)?;
        self.problems.push(ChannelProblem { channel: Some(channel), kept, reason, bars: None });
        Ok(())
    }

    /// Keeps a damaged turn aside that the channel's file speaks for.
    fn set_turn_aside(&mut self, channel: ChannelId, bad: Bad) -> Result<(), StoreError> {
        if let Some((_, kept)) = self.keep_turn(channel)? {
            let reason = bad.reason;
            self.problems.push(ChannelProblem { channel: Some(channel), kept, reason, bars: None });
        }
        self.erase_turns(channel)
    }

    /// Erases what the log has of a channel. A failure leaves open what was done: files were changed before.
    fn erase_turns(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        let erased = self.log.erase(channel).map_err(StoreError::in_doubt);
        erased.inspect_err(|error| self.queue.note(error, error.path()))
    }

    /// Copies a channel's turn to a file of its own. Returns where it stands, and where the copy is.
    fn keep_turn(&self, channel: ChannelId) -> Result<Option<(PathBuf, PathBuf)>, StoreError> {
        let Some((path, content)) = self.log.read(channel) else {
            return Ok(None);
        };
        let content =
            content.map_err(|source| StoreError::not_done(Action::Read, &path, source))?;
        Ok(Some((path, keep_bytes(&self.folders.turn(channel), &content)?)))
    }

    /// Copies what is left of a damaged record, before it is replaced.
    pub(super) fn keep_damaged(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        if !self.revisions.contains_key(&channel) || self.copies.contains_key(&channel) {
            return Ok(());
        }
        let path = self.folders.file(channel);
        let file = if path.exists() { Some((keep_copy(&path)?, path)) } else { None };
        let file = file.map(|(kept, path)| (path, kept));
        let copies: Vec<_> = file.into_iter().chain(self.keep_turn(channel)?).collect();
        for (_, kept) in &copies {
            tracing::warn!(kept = %kept.display(), "a damaged record is replaced");
        }
        self.copies.insert(channel, copies);
        Ok(())
    }

    fn read_file(&self, channel: ChannelId) -> Result<Found, StoreError> {
        match self.parse_file(channel) {
            Ok(Found::Bad(_)) => {
                // It may have been replaced while it was read; not so any more.
                let _hold = self.queue.hold();
                self.parse_file(channel)
            }
            other => other,
        }
    }

    fn parse_file(&self, channel: ChannelId) -> Result<Found, StoreError> {
        let path = self.folders.file(channel);
        match read(&path, LARGEST) {
            Ok(Some(content)) => Ok(parse_own(channel, path, &content)),
            Ok(None) => Ok(Found::Nothing),
            Err(ReadError::Io(source)) => Err(StoreError::not_done(Action::Read, &path, source)),
            Err(ReadError::Bad(reason)) => Ok(Found::Bad(Bad { path, reason })),
        }
    }

    fn read_turn(&self, channel: ChannelId) -> Result<Found, StoreError> {
        let Some((path, content)) = self.log.read(channel) else {
            return Ok(Found::Nothing);
        };
        let content =
            content.map_err(|source| StoreError::not_done(Action::Read, &path, source))?;
        Ok(parse_own(channel, path, &content))
    }

    /// The revision that is stored.
    pub(super) fn revision(&mut self, channel: ChannelId) -> Result<Revision, StoreError> {
        match self.revisions.get(&channel) {
            None => Ok(Revision::default()),
            Some(Some(revision)) => Ok(*revision),
            Some(None) => {
                Ok(self.read(channel)?.map_or_else(Revision::default, |found| found.revision))
            }
        }
    }

    /// What a commit writes.
    pub(super) fn content(
        &self,
        commit: &Commit,
        revision: Revision,
        agents: &Agents,
    ) -> Result<Vec<u8>, StoreError> {
        let Commit { channel, record, .. } = commit;
        let none = Extras::default();
        let extras = self.extras.get(channel).map_or(&none, |extras| extras);
        let path = || self.folders.file(*channel);
        let content = file_text((*channel, revision), record, &agents.of(record), extras)
            .map_err(|source| StoreError::Unwritable { path: path(), source })?;
        if content.len() > LARGEST {
            return Err(StoreError::TooLarge { path: path(), limit: LARGEST });
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
    pub(super) fn put(&self, channel: ChannelId, content: &[u8]) -> Result<(), StoreError> {
        replace(&self.folders.file(channel), content, Durability::Turn)
    }

    /// The channels that have a record, in order.
    pub(super) fn channels(&self) -> Vec<ChannelId> {
        let mut channels: Vec<_> = self.revisions.keys().copied().collect();
        channels.sort_unstable();
        channels
    }

    /// A channel's files are gone: nothing else of it stays.
    pub(super) fn forget(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        self.erase_turns(channel)?;
        self.revisions.remove(&channel);
        self.extras.remove(&channel);
        self.copies.remove(&channel);
        Ok(())
    }

    /// A commit was made.
    pub(super) fn committed(&mut self, channel: ChannelId, revision: Revision) {
        self.revisions.insert(channel, Some(revision));
    }

    /// What is stored of a channel is to be read again.
    pub(super) fn unlearn(&mut self, channel: ChannelId) {
        if let Some(revision) = self.revisions.get_mut(&channel) {
            *revision = None;
        }
    }

    /// A channel's file has this and is synced: what the log has of it counts no more, also for the next process.
    pub(super) fn put_fact(
        &mut self,
        channel: ChannelId,
        revision: Revision,
    ) -> Result<(), StoreError> {
        self.replaced(channel)?;
        match self.log.supersede(channel, revision) {
            Ok(grown) => grown.into_iter().for_each(|grown| self.queue.grew(grown)),
            // The fact stands all the same.
            Err(error) => {
                tracing::warn!(%channel, %error, "an older turn of a channel could not be removed from the log; the newer fact counts");
            }
        }
        Ok(())
    }

    /// What took the place of a damaged record is in the channel's file. It is not acknowledged as long as an older turn
    /// is left, which may have a higher revision and would count again.
    pub(super) fn replaced(&mut self, channel: ChannelId) -> Result<(), StoreError> {
        if !self.copies.contains_key(&channel) {
            return Ok(());
        }
        self.erase_turns(channel)?;
        for (damaged, copy) in self.copies.remove(&channel).into_iter().flatten() {
            problem::replaced(&self.problems, channel, &damaged, &copy);
        }
        Ok(())
    }
}

/// What stands in a channel's file, or in its turn.
fn parse_own(channel: ChannelId, path: PathBuf, content: &[u8]) -> Found {
    match parse_channel(content) {
        Ok(parsed) if parsed.channel == channel => Found::Good(Box::new(parsed)),
        Ok(parsed) => {
            let reason = BadFile::OtherChannel { found: parsed.channel };
            Found::Bad(Bad { path, reason })
        }
        Err(reason) => Found::Bad(Bad { path, reason }),
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        self.queue.close();
    }
}
