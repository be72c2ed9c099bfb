//! The registry's file on the disk.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use dirigent::ports::Certainty;

use super::parsed::{FILE_MAX, ParsedIdentities, parse_identities};
use crate::disk::{self, Lock};
use crate::error::{Action, BadFile, OpenError, StoreError};

#[derive(Debug)]
pub(super) struct RegistryFile {
    /// Its path, with links resolved.
    path: PathBuf,
    is_broken: bool,
    /// Keeps other stores out.
    _lock: Lock,
}

impl RegistryFile {
    /// Takes the lock and removes the files that an interrupted write left. If the file cannot be read,
    /// it is refused and not changed. If the caller wants to begin anew, it gets another name instead.
    pub(super) fn open(
        path: &Path,
        begins_anew: bool,
    ) -> Result<(Self, Option<(PathBuf, BadFile)>), OpenError> {
        disk::create_folder(disk::place_of(path)?.0)?;
        let path = disk::resolve(path)?;
        let (folder, name) = disk::place_of(&path)?;
        let file = Self { path: path.clone(), is_broken: false, _lock: Lock::on_file(&path)? };
        disk::remove_strays(folder, Some(name))?;
        match file.read() {
            Ok(_) => {
                // All that is read from now on must be durable. Otherwise a process that ended between
                // the replacement and its sync would leave it to chance.
                file.sync()?;
                Ok((file, None))
            }
            Err(StoreError::BadFile { source, .. }) if begins_anew => {
                Ok((file, Some((disk::keep_aside(&path)?, source))))
            }
            Err(StoreError::BadFile { source, .. }) => Err(OpenError::Damaged { path, source }),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the present content. A missing file is an empty registry. A file that cannot be read now
    /// stays in its place, because another program may be writing it.
    pub(super) fn read(&self) -> Result<ParsedIdentities, StoreError> {
        let content = disk::read(&self.path, FILE_MAX)?;
        let parsed = content.map(|content| parse_identities(&content)).transpose();
        parsed
            .map(Option::unwrap_or_default)
            .map_err(|source| StoreError::BadFile { path: self.path.clone(), source })
    }

    /// Returns the present content, so that it can be changed.
    pub(super) fn read_to_change(&self) -> Result<ParsedIdentities, StoreError> {
        if self.is_broken {
            return Err(StoreError::Broken { path: self.path.clone() });
        }
        self.read()
    }

    /// Replaces the content. It survives a power cut when this returns.
    pub(super) fn write(&mut self, registry: &ParsedIdentities) -> Result<(), StoreError> {
        let content = registry.encode();
        if content.len() > FILE_MAX {
            return Err(StoreError::TooLarge { path: self.path.clone(), limit: FILE_MAX });
        }
        let written = disk::replace_shared(&self.path, content.as_bytes());
        self.note_sync(&written);
        written
    }

    fn note_sync(&mut self, written: &Result<(), StoreError>) {
        self.is_broken |= written.as_ref().is_err_and(StoreError::is_failed_sync);
    }

    fn sync(&self) -> Result<(), StoreError> {
        let refused = |source| StoreError::Io {
            action: Action::Sync,
            path: self.path.clone(),
            certainty: Certainty::NotDone,
            source,
        };
        match File::open(&self.path) {
            // Windows syncs only a file that was opened for writing.
            Ok(file) if cfg!(unix) => file.sync_all().map_err(refused)?,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(refused(error)),
        }
        disk::place_of(&self.path).and_then(|(folder, _)| disk::sync_folder(folder))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn after_a_failed_sync_the_file_is_read_but_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agents.json");
        fs::write(&path, "[]").unwrap();
        let (mut file, _) = RegistryFile::open(&path, false).unwrap();
        file.note_sync(&Ok(()));
        let refused = || io::Error::from(io::ErrorKind::StorageFull);
        let early = StoreError::not_done(Action::Write, &path, refused());
        file.note_sync(&Err(early));
        assert!(!file.is_broken, "a disk that is full is no reason to give up");
        let late = StoreError::unknown(Action::Sync, folder.path(), refused());
        assert_eq!(late.certainty(), Certainty::Unknown);
        file.note_sync(&Err(late));
        let error = file.read_to_change().unwrap_err();
        assert!(matches!(error, StoreError::Broken { .. }));
        assert_eq!(error.certainty(), Certainty::NotDone);
        file.read().unwrap();
        drop(file);
        RegistryFile::open(&path, false).unwrap().0.read_to_change().unwrap();
    }
}
