//! A lock, so that only one store has a file or a folder open at a time.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::folder::place_of;
use super::replace::private;
use crate::error::{Action, OpenError, StoreError};

/// A lock on a file that stands for the guarded file or folder. It ends when it is dropped, or when
/// the process ends in any way. The lock file stays, because without it two stores could open the
/// same data.
#[derive(Debug)]
pub(crate) struct Lock {
    /// The open file holds the lock.
    file: File,
}

impl Lock {
    /// Takes the lock for a file. The lock file is `.<name>.lock` beside it.
    pub(crate) fn on_file(path: &Path) -> Result<Self, OpenError> {
        let (folder, name) = place_of(path)?;
        let mut lock_name = OsString::from(".");
        lock_name.push(name);
        lock_name.push(".lock");
        Self::take(&folder.join(lock_name), path)
    }

    /// Takes the lock for a folder that belongs to the store alone. The lock file is
    /// `.dirigent.lock` in it.
    pub(crate) fn on_folder(folder: &Path) -> Result<Self, OpenError> {
        Self::take(&folder.join(".dirigent.lock"), folder)
    }

    fn take(lock_file: &Path, guarded: &Path) -> Result<Self, OpenError> {
        let refused = |source| StoreError::not_done(Action::Lock, lock_file, source);
        let file = private(OpenOptions::new().write(true).create(true).truncate(false))
            .open(lock_file)
            .map_err(refused)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(OpenError::InUse { path: guarded.to_owned() }),
            Err(TryLockError::Error(source)) => Err(refused(source).into()),
        }
    }
}

impl Drop for Lock {
    /// Closing the file would be enough, except while another thread starts a process: until that
    /// process runs its program, it has every open file, and so it has the lock, too.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_lets_one_in_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.json");
        let lock = Lock::on_file(&file).unwrap();
        let error = Lock::on_file(&file).unwrap_err();
        assert!(matches!(&error, OpenError::InUse { path } if *path == file));
        let text = error.to_string();
        assert!(text.contains("a.json is open already") && text.contains("another path"), "{text}");
        // Neighbours and the folder as a whole have locks of their own.
        let _neighbour = Lock::on_file(&folder.path().join("b.json")).unwrap();
        let _folder = Lock::on_folder(folder.path()).unwrap();
        assert!(Lock::on_folder(folder.path()).is_err());
        drop(lock);
        Lock::on_file(&file).unwrap();
    }

    #[test]
    fn a_lock_ends_although_a_process_that_is_being_started_has_its_file_still() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::on_folder(folder.path()).unwrap();
        let inherited = lock.file.try_clone().unwrap();
        drop(lock);
        Lock::on_folder(folder.path()).unwrap();
        drop(inherited);
    }

    #[test]
    fn where_nothing_can_be_locked_the_system_is_quoted() {
        let error = Lock::on_file(Path::new("/dev/null/a.json")).unwrap_err();
        assert!(matches!(error, OpenError::Store(StoreError::Io { action: Action::Lock, .. })));
    }
}
