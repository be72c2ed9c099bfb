//! How turns become their channels' files, so that old files of the log can go.

use std::collections::VecDeque;

use dirigent::ChannelId;

use super::options::FileDurability;
use super::records::Records;
use super::sync::Write;
use crate::error::StoreError;

/// How many turns wait at a time to become their channels' files.
const CATCHING_UP_MAX: usize = 32;

/// The channels whose files are to be made as new as their turns.
#[derive(Debug, Default)]
pub(super) struct CatchUp {
    behind: VecDeque<ChannelId>,
}

impl CatchUp {
    /// Closes the newest file of the log: the channels whose turns are in it get files that are as new.
    pub(super) fn roll(&mut self, records: &mut Records) {
        records.log.seal();
        self.behind = records.log.channels().into();
    }

    /// A channel's turn may have waited to become its file, and did not.
    pub(super) fn put_back(&mut self, channel: ChannelId) {
        self.behind.push_back(channel);
    }

    /// Lets the next channels' files become as new as their turns, but for those that are busy: what is on its way there is
    /// newer. Returns whether none is left.
    pub(super) fn go_on(
        &mut self,
        records: &mut Records,
        is_busy: impl Fn(ChannelId) -> bool,
    ) -> bool {
        while records.queue.turns_waiting() < CATCHING_UP_MAX {
            let Some(channel) = self.behind.pop_front() else { return true };
            if !is_busy(channel) {
                become_file(records, channel);
            }
        }
        self.behind.is_empty()
    }
}

/// Makes a channel's file as new as its turn, unless it is.
fn become_file(records: &mut Records, channel: ChannelId) {
    let write = match newer_than_file(records, channel) {
        Ok(Some(write)) => write,
        Ok(None) => return,
        Err(error) => return keep_in_log(records, channel, &error),
    };
    match records.durability {
        FileDurability::Full => records.queue.push_turn(write),
        FileDurability::None => {
            if records.put(channel, &write.content).is_ok() {
                records.log.forget(channel, write.revision);
            }
        }
    }
}

/// A channel's turn as its file is to be; `None` where the file is as new.
fn newer_than_file(records: &mut Records, channel: ChannelId) -> Result<Option<Write>, StoreError> {
    let Some(parsed) = records.read(channel)? else { return Ok(None) };
    let revision = parsed.revision;
    if records.log.revision(channel) != Some(revision) {
        return Ok(None);
    }
    let path = || records.folders.file(channel);
    let content =
        parsed.to_json().map_err(|source| StoreError::Unwritable { path: path(), source })?;
    // A power cut may have taken the folder that was made before the turn was written.
    records.make_folder(channel)?;
    Ok(Some(Write { channel, revision, content }))
}

/// A turn that cannot become its channel's file stays in the log, but keeps no older turns there: those that stand
/// beside it go with their file. The caller that asks for the channel gets the reason.
fn keep_in_log(records: &mut Records, channel: ChannelId, error: &StoreError) {
    if records.durability == FileDurability::None {
        return;
    }
    let carried = records.log.carry_over(channel);
    let is_for_good = error.barred().is_some() && carried.is_ok();
    match carried {
        Ok(grown) => grown.into_iter().for_each(|grown| records.queue.grew(grown)),
        Err(error) => {
            tracing::warn!(%channel, %error, "older turns of a channel could not be removed from the log");
        }
    }
    if !is_for_good {
        records.queue.roll_again();
    }
}
