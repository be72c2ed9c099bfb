//! Where which file lies.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;

use crate::disk::{create_folder, is_stray, sync_folder};
use crate::error::{Action, StoreError};
use crate::record::form::whole;

/// The folder of a store. Channels lie in up to 256 folders in it, so that none becomes very large.
#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    channels: PathBuf,
}

impl Folders {
    /// The folders below this one, which is made where it is missing.
    pub(super) fn below(root: PathBuf) -> Result<Self, StoreError> {
        let channels = root.join("channels");
        create_folder(&channels)?;
        Ok(Self { root, channels })
    }

    /// The folder of it all.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the folders of channels.
    pub(super) fn channels(&self) -> &Path {
        &self.channels
    }

    /// Where the names of agents are kept.
    pub(super) fn agents(&self) -> PathBuf {
        self.root.join("agents.json")
    }

    /// One of the folders of channels.
    pub(super) fn folder(&self, number: u8) -> PathBuf {
        self.channels.join(format!("{number:02x}"))
    }

    /// Where a channel's file lies.
    pub(super) fn file(&self, channel: ChannelId) -> PathBuf {
        self.folder(number_of(channel)).join(format!("{channel}.json"))
    }

    /// After which a copy of a channel's damaged turn is named.
    pub(super) fn turn(&self, channel: ChannelId) -> PathBuf {
        self.folder(number_of(channel)).join(format!("{channel}.turn.json"))
    }

    /// Where a channel's history lies.
    pub(super) fn history(&self, channel: ChannelId) -> PathBuf {
        self.folder(number_of(channel)).join(format!("{channel}.history.jsonl"))
    }

    /// Removes all files of a channel, copies of damaged ones as well, and waits until the disk has that. Returns whether
    /// there were any.
    pub(super) fn remove(&self, channel: ChannelId) -> Result<bool, StoreError> {
        let folder = self.folder(number_of(channel));
        let refused = |source| StoreError::not_done(Action::Read, &folder, source);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(refused(error)),
        };
        let mut is_any = false;
        for entry in entries {
            let entry = entry.map_err(refused)?;
            if is_of(channel, &entry.file_name()) {
                let path = entry.path();
                fs::remove_file(&path)
                    .map_err(|source| StoreError::unknown(Action::Remove, &path, source))?;
                is_any = true;
            }
        }
        if is_any {
            sync_folder(&folder)?;
        }
        Ok(is_any)
    }

    /// Looks through one folder: names its channels' files, and removes what an interrupted write
    /// left. `false` when there is no such folder.
    pub(super) fn scan(
        &self,
        number: u8,
        mut found: impl FnMut(ChannelId),
    ) -> Result<bool, StoreError> {
        let folder = self.folder(number);
        let refused = |source| StoreError::not_done(Action::Read, &folder, source);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(refused(error)),
        };
        for entry in entries {
            let entry = entry.map_err(refused)?;
            let name = entry.file_name();
            if is_stray(&name) {
                let stray = entry.path();
                fs::remove_file(&stray)
                    .map_err(|source| StoreError::not_done(Action::RemoveStray, &stray, source))?;
            } else if let Some(channel) = parse_name(&name)
                && number_of(channel) == number
            {
                found(channel);
            }
        }
        Ok(true)
    }
}

/// In which folder a channel lies: by a hash, since the ids of one guild may be much alike.
pub(super) const fn number_of(channel: ChannelId) -> u8 {
    let [first, ..] = channel.get().wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    first
}

/// Whether a file of this name is a channel's: its record, its history, or a copy of a damaged one.
fn is_of(channel: ChannelId, name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(&channel.to_string()));
    let kinds = [".json", ".turn.json", ".history.jsonl"];
    rest.is_some_and(|rest| {
        kinds
            .iter()
            .filter_map(|kind| rest.strip_prefix(kind))
            .any(|end| end.is_empty() || end.strip_prefix(".corrupt-").and_then(whole).is_some())
    })
}

/// The channel whose file has this name.
fn parse_name(name: &OsStr) -> Option<ChannelId> {
    whole(name.to_str()?.strip_suffix(".json")?).map(ChannelId::new)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_that_are_none_of_ours_are_left_alone() {
        assert_eq!(parse_name(OsStr::new("17.json")), Some(ChannelId::new(17)));
        for name in [
            ".json",
            "017.json",
            "17",
            "17.json.corrupt-1",
            "17.history.jsonl",
            "x.json",
            "+1.json",
            "17.turn.json",
            "99999999999999999999.json",
        ] {
            assert!(parse_name(OsStr::new(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn a_channels_files_are_told_from_those_of_others() {
        let channel = ChannelId::new(17);
        let ours = ["17.json", "17.history.jsonl", "17.json.corrupt-3", "17.turn.json.corrupt-1"];
        assert!(ours.iter().all(|name| is_of(channel, OsStr::new(name))));
        let others = ["171.json", "17", "17.jsonl", "17.json.bak", "17.json.corrupt-x", "1.7.json"];
        assert!(!others.iter().any(|name| is_of(channel, OsStr::new(name))));
    }

    #[test]
    fn channels_made_one_after_the_other_spread_over_the_folders() {
        let mut counts = BTreeMap::new();
        for number in 0..25_600_u64 {
            // As Discord numbers them: milliseconds in the upper bits.
            let channel = ChannelId::new((1_000_000_000_000 + number * 137) << 22);
            *counts.entry(number_of(channel)).or_insert(0_u32) += 1;
        }
        assert_eq!(counts.len(), 256);
        assert!(counts.values().all(|count| (50..200).contains(count)), "{counts:?}");
    }
}
