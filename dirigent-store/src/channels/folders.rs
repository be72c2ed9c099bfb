//! Where which file lies.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;

use crate::channel_file::whole;
use crate::error::{Action, StoreError};
use crate::replace::{create_folder, is_stray};

/// The folder of a store. Channels lie in up to 256 folders in it, so that none becomes very large.
#[derive(Debug)]
pub(super) struct Folders {
    root: PathBuf,
    channels: PathBuf,
}

/// What a channel's file tells by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileKind {
    /// The channel as of its last synced commit.
    Main,
    /// The channel as of a later commit, not synced.
    Turn,
}

/// A channel's file that is there.
pub(super) struct Found {
    pub(super) channel: ChannelId,
    pub(super) kind: FileKind,
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
    pub(super) fn file(&self, channel: ChannelId, kind: FileKind) -> PathBuf {
        let name = match kind {
            FileKind::Main => format!("{channel}.json"),
            FileKind::Turn => format!("{channel}.turn.json"),
        };
        self.folder(number_of(channel)).join(name)
    }

    /// Where a channel's history lies.
    pub(super) fn history(&self, channel: ChannelId) -> PathBuf {
        self.folder(number_of(channel)).join(format!("{channel}.history.jsonl"))
    }

    /// Looks through one folder: names its channels' files, and removes what an interrupted write
    /// left. `false` when there is no such folder.
    pub(super) fn scan(
        &self,
        number: u8,
        mut found: impl FnMut(Found),
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
            } else if let Some(file) = parse_name(&name)
                && number_of(file.channel) == number
            {
                found(file);
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

fn parse_name(name: &OsStr) -> Option<Found> {
    let stem = name.to_str()?.strip_suffix(".json")?;
    let (digits, kind) = match stem.strip_suffix(".turn") {
        Some(digits) => (digits, FileKind::Turn),
        None => (stem, FileKind::Main),
    };
    if digits.is_empty() {
        return None;
    }
    Some(Found { channel: ChannelId::new(whole(digits)?), kind })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn names_that_are_none_of_ours_are_left_alone() {
        let ours = parse_name(OsStr::new("17.turn.json")).unwrap();
        assert_eq!((ours.channel.get(), ours.kind), (17, FileKind::Turn));
        assert_eq!(parse_name(OsStr::new("17.json")).unwrap().kind, FileKind::Main);
        for name in [
            ".json",
            "017.json",
            "17",
            "17.json.corrupt-1",
            "17.history.jsonl",
            "x.json",
            "+1.json",
            "17.turn.turn.json",
            ".turn.json",
            "99999999999999999999.json",
        ] {
            assert!(parse_name(OsStr::new(name)).is_none(), "{name}");
        }
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
