//! Finds the folder of a file, creates folders, and makes sure that the disk has their entries.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Action, StoreError};

/// Creates a folder and the missing folders above it, for the owner alone. Syncs each into the one
/// above.
pub(crate) fn create_folder(folder: &Path) -> Result<(), StoreError> {
    let missing: Vec<_> = folder
        .ancestors()
        .take_while(|path| !path.as_os_str().is_empty() && !path.exists())
        .collect();
    for path in missing.into_iter().rev() {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(StoreError::not_done(Action::CreateFolder, path, error));
            }
            Ok(()) | Err(_) => {}
        }
        if let Some(above) = path.parent() {
            sync_folder(if above.as_os_str().is_empty() { Path::new(".") } else { above })?;
        }
    }
    Ok(())
}

/// Waits until the disk has the folder's entries. Otherwise a file that was synced and renamed can
/// be gone after a power cut.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    let failed = |source| StoreError::unknown(Action::Sync, folder, source);
    #[cfg(test)]
    super::steps::note(super::steps::Step::SyncFolder(folder.to_owned())).map_err(failed)?;
    // Windows does not open folders as files. Its renames are in the journal.
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
    }
    Ok(())
}

/// Returns the folder of a file and the file's name in it.
pub(crate) fn place_of(path: &Path) -> Result<(&Path, &OsStr), StoreError> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if folder.as_os_str().is_empty() => Ok((Path::new("."), name)),
        (Some(folder), Some(name)) => Ok((folder, name)),
        _ => {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "the path names no file");
            Err(StoreError::not_done(Action::Find, path, source))
        }
    }
}

/// Resolves a path, so that two paths to one file find the same lock, and so that a link stays a
/// link.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    let (folder, name) = place_of(path)?;
    let lost = |source| StoreError::not_done(Action::Find, path, source);
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            fs::canonicalize(folder).map(|folder| folder.join(name)).map_err(lost)
        }
        found => found.map_err(lost),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_for_their_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_folder(&deep).unwrap();
        create_folder(&deep).unwrap();
        #[cfg(unix)]
        for path in ["a", "a/b", "a/b/c"] {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(folder.path().join(path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o700, "{path}");
        }
        fs::write(folder.path().join("file"), "").unwrap();
        create_folder(&folder.path().join("file/below")).unwrap_err();
    }
}
