//! The paths of the files.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use dirigent::ChannelId;

use crate::disk::{create_folder, remove_strays, sync_folder};
use crate::error::{Action, BadFile, StoreError};
use crate::record::form::whole;

/// The version of the folder's layout. Version 2 had 256 folders in `channels`, and a log of turns beside them.
const VERSION: u64 = 3;

/// The folder of a store: `agents.json`, and the files of all channels in `channels`. They are in one folder, so that
/// one sync of the folder covers many new files.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    channels: PathBuf,
}

impl Folder {
    /// Opens this folder, and creates it if it is missing.
    pub(super) fn at(root: PathBuf) -> Result<Self, StoreError> {
        let channels = root.join("channels");
        create_folder(&channels)?;
        Ok(Self { root, channels })
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn agents(&self) -> PathBuf {
        self.root.join("agents.json")
    }

    pub(super) fn file(&self, channel: ChannelId) -> PathBuf {
        self.channels.join(format!("{channel}.json"))
    }

    pub(super) fn history(&self, channel: ChannelId) -> PathBuf {
        self.channels.join(format!("{channel}.history.jsonl"))
    }

    /// Removes the files that interrupted writes left, and returns the channels that have a file. All of these files
    /// are on the disk when this returns. Otherwise a process that was killed between a rename and its sync would leave
    /// a file that a power cut could still remove.
    pub(super) fn open(&self) -> Result<Vec<ChannelId>, StoreError> {
        for entry in self.entries()? {
            self.refuse_older(&entry)?;
        }
        remove_strays(&self.root, None)?;
        remove_strays(&self.channels, None)?;
        sync_folder(&self.channels)?;
        sync_folder(&self.root)?;
        self.channels()
    }

    /// Returns the channels that have a record, in order.
    pub(super) fn channels(&self) -> Result<Vec<ChannelId>, StoreError> {
        let entries = self.entries()?.into_iter();
        let mut channels: Vec<_> =
            entries.filter_map(|entry| parse_name(&entry.file_name())).collect();
        channels.sort_unstable();
        Ok(channels)
    }

    /// Refuses a folder of an older version, because its channels would look as if they had never been seen.
    fn refuse_older(&self, entry: &DirEntry) -> Result<(), StoreError> {
        let name = entry.file_name();
        let is_number =
            |name: &str| name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if name.to_str().is_some_and(is_number) && entry.path().is_dir() {
            let source = BadFile::OtherVersion { found: 2, reads: VERSION };
            return Err(StoreError::BadFile { path: self.root.clone(), source });
        }
        Ok(())
    }

    /// Removes all files of a channel, also copies of damaged ones, and waits until the disk has done it. Returns true
    /// if there were any. The record is removed last, so a channel whose deletion fails halfway does not look like a
    /// new one.
    pub(super) fn remove(&self, channel: ChannelId) -> Result<bool, StoreError> {
        let entries = self.entries()?.into_iter();
        let own = entries.filter(|entry| is_of(channel, &entry.file_name()));
        let mut paths: Vec<_> = own.map(|entry| entry.path()).collect();
        let record = self.file(channel);
        paths.sort_by_key(|path| *path == record);
        for path in &paths {
            fs::remove_file(path)
                .map_err(|source| StoreError::unknown(Action::Remove, path, source))?;
        }
        if !paths.is_empty() {
            sync_folder(&self.channels)?;
        }
        Ok(!paths.is_empty())
    }

    fn entries(&self) -> Result<Vec<DirEntry>, StoreError> {
        let entries = fs::read_dir(&self.channels).and_then(Iterator::collect::<io::Result<_>>);
        entries.map_err(|source| StoreError::not_done(Action::Read, &self.channels, source))
    }
}

/// Returns true if a file with this name belongs to a channel: it is the record, the history, or a copy of a damaged
/// file.
fn is_of(channel: ChannelId, name: &OsStr) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(&channel.to_string()));
    let kinds = [".json", ".history.jsonl"];
    rest.is_some_and(|rest| {
        kinds
            .iter()
            .filter_map(|kind| rest.strip_prefix(kind))
            .any(|end| end.is_empty() || end.strip_prefix(".corrupt-").and_then(whole).is_some())
    })
}

fn parse_name(name: &OsStr) -> Option<ChannelId> {
    whole(name.to_str()?.strip_suffix(".json")?).map(ChannelId::new)
}

#[cfg(test)]
mod tests {
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
            "99999999999999999999.json",
        ] {
            assert!(parse_name(OsStr::new(name)).is_none(), "{name}");
        }
    }

    #[test]
    fn a_channels_files_are_told_from_those_of_others() {
        let channel = ChannelId::new(17);
        let ours = ["17.json", "17.history.jsonl", "17.json.corrupt-3"];
        assert!(ours.iter().all(|name| is_of(channel, OsStr::new(name))));
        let others = ["171.json", "17", "17.jsonl", "17.json.bak", "17.json.corrupt-x", "1.7.json"];
        assert!(!others.iter().any(|name| is_of(channel, OsStr::new(name))));
    }
}
